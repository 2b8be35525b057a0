"""Small pictures of a column: a histogram of numbers and dates, bars of the commonest values; for the screen only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from celosia.views.comparing.columns import ColumnPair

BARS = 24
COMMONEST = 8
ALIKE = 0.05
"""Where the commonest texts are a smaller share of the records, their bars say nothing."""


@dataclass(frozen=True)
class Sketch:
    """Bars with their heights as shares of the highest, and what each stands for."""

    bars: tuple[tuple[str, float, float], ...]
    """What it stands for, records or their share, height."""
    rest: int = 0
    """Records of values that have no bar."""


@dataclass(frozen=True)
class Pair:
    """A column before and after; the bars of both stand for the same."""

    before: Sketch
    after: Sketch


def sketch(values: pl.Series) -> Sketch:
    """The picture of a column; none where nearly every record has a value of its own, such as a name.

    >>> import polars as pl
    >>> sketch(pl.Series(["a", "b", "a"])).bars
    (('a', 2, 1.0), ('b', 1, 0.5))
    """
    filled = _filled(values)
    if filled.dtype.is_numeric() and filled.n_unique() > BARS:
        return _drawn(_histogram(filled))
    counts = filled.value_counts(name="__n__")
    if filled.dtype.is_numeric():
        return _drawn([(f"{value:g}", int(n)) for value, n in counts.sort(filled.name).iter_rows()])
    counted = sorted(((str(value), int(n)) for value, n in counts.iter_rows()), key=lambda bar: (-bar[1], bar[0]))
    drawn, rest = counted[:COMMONEST], sum(n for _, n in counted[COMMONEST:])
    if sum(n for _, n in drawn) < ALIKE * len(filled):
        return Sketch((), len(filled))
    return _drawn(drawn, rest)


def pair(columns: ColumnPair) -> Pair:
    """A column before and after over the same bars: ranges in their order, or labels.

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


def _filled(values: pl.Series) -> pl.Series:
    """The values that are there; dates as years."""
    import polars as pl

    filled = values.drop_nulls()
    if filled.dtype.is_temporal():
        return filled.cast(pl.Date, strict=False).drop_nulls().dt.year()
    return filled


def _drawn(counted: list[tuple[str, int]], rest: int = 0) -> Sketch:
    highest = max((n for _, n in counted), default=0) or 1
    return Sketch(tuple((name, n, n / highest) for name, n in counted), rest)


def _range(low: float, high: float) -> str:
    return f"{low:.4g} – {high:.4g}"


def _histogram(values: pl.Series) -> list[tuple[str, int]]:
    import numpy as np

    counts, ends = np.histogram(_finite(values), bins=BARS)
    return [(_range(low, high), int(n)) for n, low, high in zip(counts, ends[:-1], ends[1:], strict=True)]


def _finite(values: pl.Series) -> Any:
    import numpy as np

    numbers = values.to_numpy().astype(float)
    return numbers[np.isfinite(numbers)]
