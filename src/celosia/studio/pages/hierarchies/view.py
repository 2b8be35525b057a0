"""View models of the hierarchies page: distribution of the values, and records per label of every level.

All counts cover the full data. They are computed from the distinct values of a column, fast enough for live previews.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.hierarchy import Hierarchy, Levels, texts
from celosia.hierarchy.intervals import Intervals
from celosia.proposals.hierarchies import nice_width
from celosia.studio.forms import Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

BINS = 48
LABELS = 12
"""Most frequent labels of a level that are listed."""
MOST_BREAKS = 60
"""Most breaks that are drawn."""
SMALL = 5
"""Labels with fewer records are marked."""
GRIPS = 100
"""Positions on the axis where a break can be dropped."""


@dataclass(frozen=True, eq=False)
class Values:
    """Distinct values of a column as texts with their counts; missing values are counted separately."""

    name: str
    texts: tuple[str, ...]
    counts: NDArray[np.int64]
    missing: int

    @classmethod
    def of(cls, table: Table, name: str) -> Values:
        """Return the values of a column, cached in the table."""
        return table.compute_once(("values", name), lambda: cls._of(table, name))

    @classmethod
    def _of(cls, table: Table, name: str) -> Values:
        table.schema[name]
        column = table.counts.histogram([name])
        named = texts(column.cells[name])
        present = np.array([value is not None for value in named], dtype=np.bool_)
        rows = np.asarray(column.rows, dtype=np.int64)
        return cls(name, tuple(v for v in named if v is not None), rows[present], int(rows[~present].sum()))

    @property
    def records(self) -> int:
        """Number of records with a value."""
        return int(self.counts.sum())

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the values that are finite numbers in ascending order, with their counts."""
        x = np.array([_float(text) for text in self.texts], dtype=np.float64)
        usable = np.isfinite(x)
        order = np.argsort(x[usable], kind="stable")
        return x[usable][order], self.counts[usable][order]


@dataclass(frozen=True)
class Histogram:
    """Counts in bins of equal width, and the step of draggable breaks."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    step: float
    others: int
    """Records whose value is not a number."""

    @property
    def low(self) -> float:
        """Lower end of the axis."""
        return self.edges[0]

    @property
    def high(self) -> float:
        """Upper end of the axis."""
        return self.edges[-1]


@dataclass(frozen=True)
class LabelCount:
    """A label with its number and share of records."""

    label: str
    records: int
    share: float
    small: bool


@dataclass(frozen=True)
class LevelRow:
    """One level: number of labels, smallest and largest count, and the most frequent labels."""

    level: int
    labels: int
    smallest: int
    largest: int
    small: int
    """Labels with fewer than five records."""
    shown: tuple[LabelCount, ...]


@dataclass(frozen=True)
class LevelsView:
    """All levels of a hierarchy for the values of a column."""

    rows: tuple[LevelRow, ...]
    records: int
    missing: int
    built: str
    """Name of the builder."""


def histogram(values: Values, bins: int = BINS) -> Histogram | None:
    """Return the histogram of a column, or None if it has fewer than two different numbers.

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
    if whole:  # the same number of integers in each bin
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
    """Return the labels of every level with their counts.

    >>> import polars as pl, celosia
    >>> column = Values.of(celosia.read(pl.DataFrame({"age": [31, 34, 38, 38]})), "age")
    >>> [(row.labels, row.smallest) for row in levels_view(column, Intervals(width=5)).rows]
    [(3, 1), (2, 2), (1, 4)]
    """
    levels = hierarchy.levels(values.texts, values.counts.tolist(), values.name)
    rows = tuple(_level(levels, values.counts, level) for level in range(levels.height + 1))
    return LevelsView(rows, values.records, values.missing, hierarchy.name)


def breaks_of(values: Values, hierarchy: Intervals) -> tuple[float, ...]:
    """Return the breaks between the ranges of the first level, within the range of the data.

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
        settled = hierarchy.freeze([str(v) for v in x.tolist()], counts.tolist())
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
    totals = np.bincount(levels.codes(level), weights=counts, minlength=len(levels.categories(level)))
    occurring = np.flatnonzero(totals > 0)
    order = occurring[np.argsort(-totals[occurring], kind="stable")]
    total = max(1.0, float(totals.sum()))
    names = levels.categories(level)
    shown = tuple(
        LabelCount(str(names[i]), int(totals[i]), totals[i] / total, totals[i] < SMALL) for i in order[:LABELS]
    )
    return LevelRow(
        level,
        len(occurring),
        int(totals[occurring].min()) if len(occurring) else 0,
        int(totals.max(initial=0)),
        int((totals[occurring] < SMALL).sum()),
        shown,
    )


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def starting_point(values: Values, kind: str) -> Parameters:
    """Return an initial hierarchy for the kind of a column: ranges, calendar units or a tree.

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
