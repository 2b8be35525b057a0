"""Small pictures of a column: a histogram of numbers and dates, bars of the commonest values; for the screen only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

BARS = 24
COMMONEST = 8


@dataclass(frozen=True)
class Sketch:
    """Bars with their heights as shares of the highest, and what each stands for."""

    bars: tuple[tuple[str, int, float], ...]
    """What it stands for, records, height."""
    rest: int = 0
    """Records of values that have no bar."""


@dataclass(frozen=True)
class Pair:
    """A column before and after; ``same`` where the bars of both stand for the same."""

    before: Sketch
    after: Sketch
    same: bool


def sketch(values: pl.Series) -> Sketch:
    """The picture of a column.

    >>> import polars as pl
    >>> sketch(pl.Series(["a", "b", "a"])).bars
    (('a', 2, 1.0), ('b', 1, 0.5))
    """
    filled = _filled(values)
    if filled.dtype.is_numeric() and filled.n_unique() > BARS:
        return _drawn(_histogram(filled, None))
    counts = filled.value_counts(name="__n__")
    if filled.dtype.is_numeric():
        return _drawn([(f"{value:g}", int(n)) for value, n in counts.sort(filled.name).iter_rows()])
    counted = sorted(((str(value), int(n)) for value, n in counts.iter_rows()), key=lambda bar: (-bar[1], bar[0]))
    return _drawn(counted[:COMMONEST], sum(n for _, n in counted[COMMONEST:]))


def pair(before: pl.Series, after: pl.Series) -> Pair:
    """A column before and after: numbers over the same bars, anything else side by side."""
    import numpy as np

    first, second = _filled(before), _filled(after)
    numbers = first.dtype.is_numeric() and second.dtype.is_numeric() and first.n_unique() > BARS
    if not numbers:
        return Pair(sketch(before), sketch(after), same=False)
    edges = np.histogram_bin_edges(_finite(first), bins=BARS)
    edges[0], edges[-1] = min(edges[0], _low(second, edges[0])), max(edges[-1], _high(second, edges[-1]))
    bars_before, bars_after = _histogram(first, edges), _histogram(second, edges)
    most = max((n for _, n in (*bars_before, *bars_after)), default=1)
    return Pair(_drawn(bars_before, most=most), _drawn(bars_after, most=most), same=True)


def _filled(values: pl.Series) -> pl.Series:
    """The values that are there; dates as years."""
    import polars as pl

    filled = values.drop_nulls()
    if filled.dtype.is_temporal():
        return filled.cast(pl.Date, strict=False).drop_nulls().dt.year()
    return filled


def _drawn(counted: list[tuple[str, int]], rest: int = 0, most: int = 0) -> Sketch:
    highest = most or max((n for _, n in counted), default=0) or 1
    return Sketch(tuple((name, n, n / highest) for name, n in counted), rest)


def _histogram(values: pl.Series, edges: Any) -> list[tuple[str, int]]:
    import numpy as np

    counts, ends = np.histogram(_finite(values), bins=BARS if edges is None else edges)
    return [(f"{low:.4g} – {high:.4g}", int(n)) for n, low, high in zip(counts, ends[:-1], ends[1:], strict=True)]


def _finite(values: pl.Series) -> Any:
    import numpy as np

    numbers = values.to_numpy().astype(float)
    return numbers[np.isfinite(numbers)]


def _low(values: pl.Series, otherwise: float) -> float:
    numbers = _finite(values)
    return float(numbers.min()) if len(numbers) else otherwise


def _high(values: pl.Series, otherwise: float) -> float:
    numbers = _finite(values)
    return float(numbers.max()) if len(numbers) else otherwise
