"""Whether a record is there cannot be told from the time that an answer takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.trust.tried import Tried, tried

from celosia.gateway.gateway import GRID, Gateway
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts

DATABASES = ("duckdb", "sqlite", "postgresql")
QUESTIONS = 1000
RECORDS = 300
QUESTION = "SELECT COUNT(*) AS n FROM person WHERE note LIKE '%e%' AND age > 40"
LONG_NOTE = "e~" * 100
"""What makes a record slow to search; the longest text that a question reads."""


def opened(database: str, records: int, place: Path, fresh: Callable[[], str], grid: float) -> Gateway:
    """A gateway over some ordinary records, and as many more with a long note as are asked for."""
    rng = np.random.default_rng(5)
    ages, notes = rng.integers(18, 90, RECORDS).tolist(), [f"note {i % 7}" for i in range(RECORDS)]
    rows = pl.DataFrame({"age": ages + [50] * records, "note": notes + [LONG_NOTE] * records})
    columns = {"age": {"type": "integer", "bounds": [18, 90]}, "note": {"type": "text"}}
    declared = {"name": "d", "epsilon": 1e6, "tables": {"person": {"columns": columns}}}
    place.mkdir(parents=True)
    if database == "duckdb":
        rows.write_csv(place / "person.csv")
        declared["tables"]["person"]["source"] = str(place / "person.csv")
    else:
        url = f"sqlite:///{place / 'd.db'}" if database == "sqlite" else fresh()
        rows.write_database("person", url.replace("postgresql://", "postgresql+psycopg://"), engine="sqlalchemy")
        declared["database"] = url
    return Gateway(DatasetFacts.of(declared), Ledger.create(place / "ledger.db"), grid=grid)


def times(first: Gateway, second: Gateway, questions: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of each answer of both, asked in turns in random order."""
    order = np.random.default_rng(7).permutation(np.repeat([0, 1], questions))
    taken: tuple[list[float], list[float]] = ([], [])
    for which in order:
        start = time.perf_counter()
        (first, second)[which].ask(QUESTION, epsilon=1.0, fresh=True)
        taken[which].append(time.perf_counter() - start)
    return np.array(taken[0]), np.array(taken[1])


def told_apart(first: np.ndarray, second: np.ndarray) -> float:
    """How many standard errors the chance that an answer of the second took longer is from a half (Mann-Whitney)."""
    from scipy.stats import rankdata

    n, m = len(first), len(second)
    ranks = rankdata(np.concatenate([first, second]))[n:].sum() - m * (m + 1) / 2
    return float((ranks / (n * m) - 0.5) / np.sqrt((n + m + 1) / (12 * n * m)))


def test_the_statistic_tells_a_delay() -> None:
    rng = np.random.default_rng(3)
    quiet, slower = rng.exponential(1.0, 1000), rng.exponential(1.0, 1000) + 0.2
    assert abs(told_apart(quiet, rng.exponential(1.0, 1000))) < 3.5
    assert told_apart(quiet, slower) > 5


@pytest.mark.long
@pytest.mark.xdist_group("times")
@pytest.mark.parametrize("database", DATABASES)
def test_no_record_shows_in_the_time(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    fresh = request.getfixturevalue("databases") if database == "postgresql" else str
    with (
        closing(opened(database, 0, tmp_path / "without", fresh, GRID)) as without,
        closing(opened(database, 1, tmp_path / "with", fresh, GRID)) as present,
    ):
        apart = told_apart(*times(without, present, QUESTIONS))
    print(f"{database}: {apart:.2f} standard errors over 2 × {QUESTIONS} answers on a grid of {GRID} s")
    what = f"asked {database} with and without one record, and compared the times"
    tried(
        f"times-{database}",
        [Tried(what, 2 * QUESTIONS, int(abs(apart) >= 4), "the times tell them apart by four standard errors")],
    )
    assert abs(apart) < 4


@pytest.mark.long
@pytest.mark.xdist_group("times")
def test_without_the_grid_many_records_show(tmp_path: Path) -> None:
    """That the comparison can see something: no grid, and a thousand times the records."""
    with (
        closing(opened("sqlite", 0, tmp_path / "without", str, 0)) as without,
        closing(opened("sqlite", 1000 * RECORDS, tmp_path / "with", str, 0)) as present,
    ):
        assert told_apart(*times(without, present, 50)) > 5
