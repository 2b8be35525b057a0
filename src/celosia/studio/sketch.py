"""Small bar charts of a column: a histogram of numbers and dates, or the most frequent values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from celosia.views.comparing.columns import ColumnPair

BARS = 24
FREQUENT = 8
MIN_SHARE = 0.05
"""Bars are left out if the most frequent texts are a smaller share of the records."""


@dataclass(frozen=True)
class Sketch:
    """Bars with labels and heights relative to the highest."""

    bars: tuple[tuple[str, float, float], ...]
    """Label, number or share of records, height."""
    rest: int = 0
    """Records whose value has no bar."""


@dataclass(frozen=True)
class Pair:
    """Sketches of a column before and after protection, with the same bins."""

    before: Sketch
    after: Sketch


def sketch(values: pl.Series) -> Sketch:
    """Return the bars of a column; none if nearly every value is unique, such as a name.

    >>> import polars as pl
    >>> sketch(pl.Series(["a", "b", "a"])).bars
    (('a', 2, 1.0), ('b', 1, 0.5))
    """
    filled = _known_values(values)
    if filled.dtype.is_numeric() and filled.n_unique() > BARS:
        return _bars(_histogram(filled))
    counts = filled.value_counts(name="__n__")
    if filled.dtype.is_numeric():
        return _bars([(f"{value:g}", int(n)) for value, n in counts.sort(filled.name).iter_rows()])
    counted = sorted(((str(value), int(n)) for value, n in counts.iter_rows()), key=lambda bar: (-bar[1], bar[0]))
    shown, rest = counted[:FREQUENT], sum(n for _, n in counted[FREQUENT:])
    if sum(n for _, n in shown) < MIN_SHARE * len(filled):
        return Sketch((), len(filled))
    return _bars(shown, rest)


def pair(columns: ColumnPair) -> Pair:
    """Return a column before and after over the same ranges or labels.

    >>> from celosia.views.comparing.columns import ColumnPair
    >>> pair(ColumnPair("age", (), (0.5, 0.5), (0.25, 0.75), edges=(0.0, 10.0, 20.0))).after.bars
    (('0 – 10', 0.25, 0.3333333333333333), ('10 – 20', 0.75, 1.0))
    """
    ends = columns.edges
    labels = [_range(low, high) for low, high in pairwise(ends)] if ends else columns.labels
    most = max((*columns.before, *columns.after), default=0.0) or 1.0
    before, after = (
        Sketch(tuple((label, share, share / most) for label, share in zip(labels, shares, strict=True)))
        for shares in (columns.before, columns.after)
    )
    return Pair(before, after)


def _known_values(values: pl.Series) -> pl.Series:
    """Return the values without nulls; dates as years."""
    import polars as pl

    filled = values.drop_nulls()
    if filled.dtype.is_temporal():
        return filled.cast(pl.Date, strict=False).drop_nulls().dt.year()
    return filled


def _bars(counted: list[tuple[str, int]], rest: int = 0) -> Sketch:
    highest = max((n for _, n in counted), default=0) or 1
    return Sketch(tuple((name, n, n / highest) for name, n in counted), rest)


def _range(low: float, high: float) -> str:
    return f"{low:.4g} – {high:.4g}"


def _histogram(values: pl.Series) -> list[tuple[str, int]]:
    import numpy as np

    counts, ends = np.histogram(_finite(values), bins=BARS)
    return [(_range(low, high), int(n)) for n, low, high in zip(counts, ends[:-1], ends[1:], strict=True)]


def _finite(values: pl.Series) -> NDArray[np.float64]:
    import numpy as np

    numbers = values.to_numpy().astype(np.float64)
    finite: NDArray[np.float64] = numbers[np.isfinite(numbers)]
    return finite
