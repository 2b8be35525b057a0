"""What the page of the hierarchies shows: how values are distributed, and how many records each label of a level has.

All counts are over the full data; a column is looked at through its distinct values, so that a change is shown at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.hierarchy import Hierarchy, Levels, texts
from celosia.hierarchy.intervals import Intervals
from celosia.proposals.hierarchies import nice_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

BINS = 48
LABELS = 12
"""Labels of a level that are listed, the most frequent first."""
MOST_BREAKS = 60
"""Breaks that can be drawn and dragged."""
SMALL = 5
"""A label with fewer records is marked."""
GRIPS = 100
"""Places between the least and the greatest value where a break can be dropped."""


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column as texts, with their numbers of records; a missing value apart."""

    name: str
    texts: tuple[str, ...]
    counts: NDArray[np.int64]
    missing: int

    @classmethod
    def of(cls, table: Table, name: str) -> Values:
        """The values of a column, counted once per table."""
        return table.cached(("values", name), lambda: cls._of(table, name))

    @classmethod
    def _of(cls, table: Table, name: str) -> Values:
        table.schema[name]
        column = table.count([name])
        named = texts(column.cells[name])
        kept = [value is not None for value in named]
        rows = np.asarray(column.rows, dtype=np.int64)
        here = np.array(kept, dtype=np.bool_)
        return cls(name, tuple(v for v in named if v is not None), rows[here], int(rows[~here].sum()))

    @property
    def records(self) -> int:
        """Records with a value."""
        return int(self.counts.sum())

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The values that are finite numbers, in order, with their records."""
        x = np.array([_float(text) for text in self.texts], dtype=np.float64)
        usable = np.isfinite(x)
        order = np.argsort(x[usable], kind="stable")
        return x[usable][order], self.counts[usable][order]


@dataclass(frozen=True)
class Histogram:
    """Records by ranges of equal width, and where breaks can be dropped."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    step: float
    others: int
    """Records whose value is no number."""

    @property
    def low(self) -> float:
        """Where the picture begins."""
        return self.edges[0]

    @property
    def high(self) -> float:
        """Where it ends."""
        return self.edges[-1]


@dataclass(frozen=True)
class LabelCount:
    """One label of a level."""

    label: str
    records: int
    share: float
    small: bool


@dataclass(frozen=True)
class LevelRow:
    """One level: how many labels it has, how many records the rarest and the commonest have, and the commonest."""

    level: int
    labels: int
    smallest: int
    largest: int
    small: int
    """Labels with fewer than five records."""
    shown: tuple[LabelCount, ...]


@dataclass(frozen=True)
class LevelsView:
    """All levels of a hierarchy over the values of a column."""

    rows: tuple[LevelRow, ...]
    records: int
    missing: int
    built: str
    """The name of the builder."""


def histogram(values: Values, bins: int = BINS) -> Histogram | None:
    """The numbers of a column in bins; None where it has fewer than two different ones.

    >>> import polars as pl, celosia
    >>> found = histogram(Values.of(celosia.read(pl.DataFrame({"x": [0, 1, 1, 10]})), "x"), bins=5)
    >>> found.edges, found.counts, found.step
    ((0.0, 3.0, 6.0, 9.0, 12.0), (3, 0, 0, 1), 1.0)
    """
    x, counts = values.numbers()
    if len(x) < 2:
        return None
    whole = bool((x == np.floor(x)).all())
    low, high = float(x[0]), float(x[-1])
    if whole:  # as many whole numbers in each bin
        width = math.ceil((high - low + 1) / bins)
        bins = math.ceil((high - low + 1) / width)
        high = low + bins * width
    edges = np.linspace(low, high, bins + 1)
    heights, _ = np.histogram(x, bins=edges, weights=counts)
    step = nice_width(high - low, GRIPS)
    return Histogram(
        tuple(edges.tolist()),
        tuple(int(n) for n in heights),
        float(max(1, step) if whole else step),
        values.records - int(counts.sum()),
    )


def levels_view(values: Values, hierarchy: Hierarchy) -> LevelsView:
    """The labels of every level with their records, on the full data.

    >>> import polars as pl, celosia
    >>> column = Values.of(celosia.read(pl.DataFrame({"age": [31, 34, 38, 38]})), "age")
    >>> [(row.labels, row.smallest) for row in levels_view(column, Intervals(width=5)).rows]
    [(3, 1), (2, 2), (1, 4)]
    """
    levels = hierarchy.levels(values.texts, values.counts.tolist(), values.name)
    rows = tuple(_level(levels, values.counts, level) for level in range(levels.height + 1))
    return LevelsView(rows, values.records, values.missing, hierarchy.name)


def breaks_of(values: Values, hierarchy: Intervals) -> tuple[float, ...]:
    """Where the ranges of the first level meet, within the values that occur.

    >>> import polars as pl, celosia
    >>> column = Values.of(celosia.read(pl.DataFrame({"age": [28, 31, 44]})), "age")
    >>> breaks_of(column, Intervals(width=10)), breaks_of(column, Intervals(breaks=[35, 90]))
    ((30.0, 40.0), (35.0, 90.0))
    """
    if hierarchy.breaks:
        return hierarchy.breaks
    x, counts = values.numbers()
    if not len(x):
        return ()
    if hierarchy.width is None:
        settled = hierarchy.settled([str(v) for v in x.tolist()], counts.tolist())
        return settled.breaks[:MOST_BREAKS] if isinstance(settled, Intervals) else ()
    low = float(x[0]) if hierarchy.bottom is None else hierarchy.bottom
    high = float(x[-1]) if hierarchy.top is None else hierarchy.top
    origin = next((value for value in (hierarchy.origin, hierarchy.bottom) if value is not None), 0.0)
    first = math.floor((low - origin) / hierarchy.width) + 1
    last = min(math.ceil((high - origin) / hierarchy.width) - 1, first + MOST_BREAKS - 1)
    inner = [origin + i * hierarchy.width for i in range(first, last + 1)]
    ends = [value for value in (hierarchy.bottom, hierarchy.top) if value is not None]
    return tuple(float(f"{value:.12g}") for value in sorted({*inner, *ends}))


def _level(levels: Levels, counts: NDArray[np.int64], level: int) -> LevelRow:
    held = np.bincount(levels.codes(level), weights=counts, minlength=len(levels.categories(level)))
    occurring = np.flatnonzero(held > 0)
    order = occurring[np.argsort(-held[occurring], kind="stable")]
    total = max(1.0, float(held.sum()))
    names = levels.categories(level)
    shown = tuple(LabelCount(str(names[i]), int(held[i]), held[i] / total, held[i] < SMALL) for i in order[:LABELS])
    return LevelRow(
        level,
        len(occurring),
        int(held[occurring].min()) if len(occurring) else 0,
        int(held.max(initial=0)),
        int((held[occurring] < SMALL).sum()),
        shown,
    )


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def starting_point(values: Values, kind: str) -> dict[str, Any]:
    """A first hierarchy by the kind of a column, to be changed by hand: ranges, calendar units, or a tree.

    >>> import polars as pl, celosia
    >>> starting_point(Values.of(celosia.read(pl.DataFrame({"x": [1, 90]})), "x"), "numeric")
    {'use': 'intervals', 'width': 10, 'count': 2}
    """
    if kind == "numeric":
        x, _ = values.numbers()
        return {"use": "intervals", "width": nice_width(float(np.ptp(x)) if len(x) else 0.0, 10), "count": 2}
    if kind == "date":
        return {"use": "dates", "units": ["month", "year", "decade"]}
    return {"use": "tree", "tree": {value: [] for value in sorted(values.texts)}}
