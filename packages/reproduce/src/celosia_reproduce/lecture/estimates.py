"""How far counts that are estimated from a release lie from the truth: generalisation against anatomy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import celosia
from celosia.hierarchy.level_table import LevelTable
from celosia.methods import Anatomise, Mondrian
from celosia.views.estimates import estimated_count
from celosia_reproduce.statements import Grid, Section, derived

if TYPE_CHECKING:
    from celosia.table import Table
    from celosia_reproduce.lecture.people import People

QUASI = ["age", "workclass", "education", "sex", "race"]
SENSITIVE = "occupation"
L = 5
QUERIES = 200
SELECTIVITY = 0.05
"""Share of the table that a question about all its columns selects, as in the paper on anatomy."""
LIMITS = (0.05, 0.1, 0.2, 0.5, 1.0)
Question = tuple[dict[str, list[Any]], dict[str, Any]]


def releases(table: Table) -> dict[str, Table]:
    """Return three releases with the same guarantee: no occupation has more than 1/l of a class or group."""
    require = [f"alpha-k(alpha={1 / L}, k={L}, column={SENSITIVE})"]
    coarse = celosia.protect(table, Mondrian(require=require), seed=1).polars()
    # the recipient knows which values there are: a star stands for all of them
    values = {name: table.column(name).unique() for name in QUASI if name != "age"}
    trees = {name: LevelTable(rows=tuple((value, "*") for value in own)) for name, own in values.items()}
    ages = (float(table.column("age").min()), float(table.column("age").max()))  # type: ignore[arg-type]
    given: dict[str, Any] = {"quasi": QUASI, "sensitive": [SENSITIVE], "kinds": {"age": "numeric"}}
    # "?" is one of the occupations, as in the paper
    warnings.filterwarnings("ignore", message=f"column '{SENSITIVE}'.*code for a missing value")
    return {
        "generalisation": celosia.read(coarse, celosia.Schema.of(**given, hierarchies=trees, bounds={"age": ages})),
        "anatomy, near groups": celosia.protect(table, Anatomise(l=L), seed=1),
        "anatomy, buckets": celosia.protect(table, Anatomise(l=L, groups="buckets"), seed=1),
    }


def questions(table: Table, number: int, seed: int = 2006) -> list[tuple[Question, int]]:
    """Random questions about one to five columns and an occupation, with their true counts, none of them zero."""
    rng = np.random.default_rng(seed)
    frame = table.polars()
    values = {name: frame[name].unique().sort().to_list() for name in QUASI}
    drawn: list[tuple[Question, int]] = []
    while len(drawn) < number:
        asked = rng.permutation(QUASI)[: rng.integers(1, len(QUASI) + 1)]
        share = SELECTIVITY ** (1 / (len(asked) + 1))
        where = {str(name): _some(values[name], share, rng, together=name == "age") for name in asked}
        value = frame[SENSITIVE][int(rng.integers(len(frame)))]
        own = np.logical_and.reduce([frame[name].is_in(some).to_numpy() for name, some in where.items()])
        truth = int((own & (frame[SENSITIVE] == value).to_numpy()).sum())
        if truth:
            drawn.append(((where, {SENSITIVE: value}), truth))
    return drawn


def _some(values: list[Any], share: float, rng: np.random.Generator, *, together: bool) -> list[Any]:
    """Return a random share of the values of a column, neighbours for numbers."""
    size = int(np.ceil(share * len(values)))
    if together:
        first = int(rng.integers(len(values) - size + 1))
        return values[first : first + size]
    return [values[i] for i in sorted(rng.choice(len(values), size, replace=False))]


def errors(published: Mapping[str, Table], asked: list[tuple[Question, int]]) -> dict[str, NDArray[np.float64]]:
    """Return the relative error of each estimate, by release."""
    truth = np.array([count for _, count in asked])
    estimates = {
        name: np.array([estimated_count(release, *question) for question, _ in asked])
        for name, release in published.items()
    }
    return {name: np.abs(values - truth) / truth for name, values in estimates.items()}


def compared(person: People, rows: int = 6000, queries: int = QUERIES) -> Section:
    """Errors over random questions about the lecture's table ``person``."""
    import polars as pl

    frame = pl.read_parquet(person.path, columns=[*QUASI, SENSITIVE], glob=False).sample(rows, seed=1)
    table = celosia.read(frame, celosia.Schema.of(quasi=QUASI, sensitive=[SENSITIVE]))
    asked = questions(table, queries)
    relative = errors(releases(table), asked)
    width = np.array([len(question[0]) for question, _ in asked])
    return Section(
        "Estimated counts: generalisation against anatomy",
        f"{queries} random questions about {rows} of the persons: one to five quasi-identifiers and an occupation. "
        f"Each release promises that no occupation has more than 1/{L} of a class or group. Xiao & Tao (2006) claim "
        "that anatomy answers such counts with a far smaller error than generalisation.",
        _figures(relative, width),
        statements=(
            derived(
                "Estimated counts",
                "anatomy errs less than generalisation (median of the relative errors)",
                True,
                bool(np.median(relative["anatomy, near groups"]) < np.median(relative["generalisation"])),
                why=", ".join(f"{name}: {np.median(values):.1%}" for name, values in relative.items()),
            ),
        ),
        grids=(_grid(relative),),
    )


def _grid(relative: Mapping[str, NDArray[np.float64]]) -> Grid:
    head = ("release", "median", "mean", "90 % are below", *(f"share below {limit:.0%}" for limit in LIMITS))
    rows = [
        (
            name,
            100 * float(np.median(values)),
            100 * float(values.mean()),
            100 * float(np.quantile(values, 0.9)),
            *(100 * float((values <= limit).mean()) for limit in LIMITS),
        )
        for name, values in relative.items()
    ]
    return Grid("relative errors in per cent", head, rows, digits=1)


def _figures(relative: Mapping[str, NDArray[np.float64]], width: NDArray[np.int64]) -> tuple[str, ...]:
    from celosia.show.charts import bars

    below = [(name, [float((values <= limit).mean()) for limit in LIMITS]) for name, values in relative.items()]
    present = np.unique(width)
    medians = [(name, [float(np.median(values[width == n])) for n in present]) for name, values in relative.items()]
    return (
        bars("Median relative error", [f"{n} column{'s' if n > 1 else ''} asked" for n in present], _open(medians)),
        bars("Share of questions by error", [f"at most {limit:.0%} off" for limit in LIMITS], _open(below)),
    )


def _open(series: list[tuple[str, list[float]]]) -> list[tuple[str, list[float | None]]]:
    return [(name, list(values)) for name, values in series]
