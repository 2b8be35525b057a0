"""What every measure brings into memory: all rows of a column exactly when it says so. Methods: test_every_method."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.reference.examples import SETS
from tests.reference.people import EXAMPLES, ROLES, people

import celosia
from celosia.data.engines import engine_named
from celosia.data.engines.polars import Polars
from celosia.errors import DataError
from celosia.parts import Formal, build, find, parts
from celosia.release.evidence.plain_data import plain
from celosia.streams import Stream
from celosia.table.derive import with_record_ids
from celosia.table.edit import map_values

ROWS = 1200
SCHEMA = celosia.Schema.of()
SIZE = {"size": 9000}
GIVEN: dict[str, dict[str, Any]] = {
    "alpha-k": {"alpha": 0.9, "k": 2},
    "attacker-knows": {"known": {"q": "a"}},
    "average-risk": {"risk": 0.5},
    "beta-likeness": {"beta": 9.0},
    "coefficient-overlap": {"target": "y", "predictors": ["x"]},
    "delta-disclosure": {"delta": 9.0},
    "delta-presence": {"highest": 1.0, "population": "people"},
    "fuzzy-l-diversity": {"l": 1, "column": "s", "sets": SETS},
    "fuzzy-t-closeness": {"t": 0.9, "column": "s", "sets": SETS},
    "journalist": SIZE,
    "k-anonymity": {"k": 2},
    "k-map": {"k": 2, "population": "people"},
    "l-diversity": {"l": 2},
    "log-linear-risk": SIZE,
    "model-disagreement": {"target": "s"},
    "population-uniqueness": {"share": 0.9, **SIZE},
    "population-uniques": SIZE,
    "q-anonymity": {"q": 2},
    "sample-uniqueness": {"share": 0.9},
    "t-closeness": {"t": 0.9},
    "tree-difference": {"target": "s"},
}
UNTRIED = {
    "scoreboard": "reads another shape of table",
}


def watched(name: str = "polars") -> Any:
    """An engine that notes the number of rows of every frame that it brings into memory."""
    engine = engine_named(name)

    class Watched(type(engine)):
        collected: list[int] = []  # noqa: RUF012

        def collect(self, frame: Any) -> pl.DataFrame:
            rows = super().collect(frame)
            self.collected.append(len(rows))
            return rows

    engine.__class__ = Watched
    return engine


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("memory") / "people.parquet"
    people("rows", rows=ROWS).write_parquet(place)
    return place


def tables(path, engine):
    """The people in a file, and with their quasi-identifiers coarser."""
    read = with_record_ids(celosia.read(path, celosia.Schema.of(**{**ROLES, "weight": None}), engine=engine.name))
    table = replace(read, rows=replace(read.rows, engine=engine), _cache={})
    return table, map_values(table, "q", list("abcd"), ["ab", "ab", "cd", "cd"])


MEASURES = [(kind, name) for kind in ("model", "risk", "loss") for name in parts(kind) if name not in UNTRIED]


def part_of(kind, name, path):
    given = {k: pl.read_parquet(path) if v == "people" else v for k, v in GIVEN.get(name, {}).items()}
    required = [field for field, info in find(kind, name).model_fields.items() if info.is_required()]
    return build(kind, {"use": name, **dict.fromkeys(required, 1), **given})


def measured(part, original, protected):
    """All that a measure says about a table."""
    if part.kind == "model":
        return part.verdict(protected)
    if part.kind == "risk":
        return part.evidence(protected)
    return part.value(original, protected), part.parts(original, protected)


@pytest.mark.parametrize(("kind", "name"), MEASURES)
def test_a_measure_brings_all_rows_into_memory_exactly_when_it_says_so(kind, name, path):
    part, engine = part_of(kind, name, path), watched()
    measured(part, *tables(path, engine))
    most = max(engine.collected, default=0)
    assert most >= ROWS if part.needs_memory(SCHEMA) else most <= 100, f"{part} brought {most} rows into memory"


@pytest.mark.xdist_group("spark")
def test_what_needs_no_memory_measures_the_same_on_spark(spark, path):
    """Nothing but combinations comes to the driver."""
    engine, here = watched("spark"), tables(path, Polars())
    there = tables(path, engine)
    for kind, name in MEASURES:
        part = part_of(kind, name, path)
        if not part.needs_memory(SCHEMA):
            assert plain(measured(part, *there)) == plain(measured(part, *here)), part
    assert 0 < max(engine.collected) <= 100


@pytest.mark.xdist_group("spark")
@pytest.mark.long
def test_what_needs_no_memory_protects_the_same_on_spark(spark, path):
    """Nothing but combinations and numbers comes to the driver; blocks have a test of their own, for their time."""
    for name, examples in EXAMPLES.items():
        if name == "in-blocks":
            continue
        method, engine = build("method", {"use": name, **examples[0]}), watched("spark")
        here, there = (tables(path, e)[0] for e in (Polars(), engine))
        if not method.needs_memory(there.schema) and not isinstance(method, Formal):
            done = method.apply(there, Stream(1)).table
            assert max(engine.collected, default=0) <= 100, (
                f"{method} brought {max(engine.collected)} rows to the driver"
            )
            assert done.polars().equals(method.apply(here, Stream(1)).table.polars()), method


def test_every_attack_pairs_records_in_memory():
    assert all(cls.memory == "columns" for cls in parts("attack").values())


class Narrow(Polars):
    """An engine that brings hardly anything into memory."""

    _column_limit = 1000


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (
            "rank-swap(columns=[x])",
            r"rank-swap needs whole columns in memory: 1200 rows, .* 1000 .*\. Apply it to blocks: in-blocks\(.*use the engine",
        ),
        ("sequential-trees", "sequential-trees needs whole columns .* Use the engine duckdb; or work on a sample"),
    ],
)
def test_a_method_that_does_not_fit_is_refused_before_the_work_with_what_would(path, what, told):
    table = tables(path, Narrow())[0]
    with pytest.raises(DataError, match=told):
        celosia.protect(table, "round(columns=[x], base=5)", what)


def test_a_measure_that_does_not_fit_is_refused_with_those_that_do(path):
    original, protected = tables(path, Narrow())
    with pytest.raises(DataError, match=r"hellinger needs .* needs no more than combinations: .*discernibility"):
        celosia.compare(original, protected, ["discernibility", "hellinger"])
    with pytest.raises(DataError, match=r"journalist needs .* combinations: .*prosecutor"):
        celosia.assess(original, risks=["prosecutor", "journalist(size=9000)"])
    assert celosia.compare(original, protected, ["discernibility"]).losses[0].value > 0


def test_the_table_of_the_documentation_says_the_same():
    methods = parts("method")
    support = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "build.py"))["support"]
    assert support(methods["top-code"], Narrow) == "any size"
    assert support(methods["sequential-trees"], Narrow) == "up to 0.001 million rows"
    assert support(methods["rank-swap"], Narrow) == "up to 0.001 million rows; any size in blocks"
