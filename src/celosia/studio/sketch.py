"""Small pictures of a column: a histogram of numbers and dates, bars of the commonest values; for the screen only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


def sketch(values: pl.Series) -> Sketch:
    """The picture of a column.

    >>> import polars as pl
    >>> sketch(pl.Series(["a", "b", "a"])).bars
    (('a', 2, 1.0), ('b', 1, 0.5))
    """
    filled = values.drop_nulls()
    if filled.dtype.is_temporal():
        import polars as pl

        filled = filled.cast(pl.Date, strict=False).drop_nulls().dt.year()
    if filled.dtype.is_numeric() and filled.n_unique() > COMMONEST:
        counted = _histogram(filled)
        rest = 0
    else:
        counts = filled.value_counts(sort=True, name="__n__")
        named = [str(value) for value in counts.to_series(0).to_list()]
        order = sorted(range(len(named)), key=lambda i: (-counts["__n__"][i], named[i]))
        counted = [(named[i], int(counts["__n__"][i])) for i in order[:COMMONEST]]
        rest = len(filled) - sum(n for _, n in counted)
    most = max((n for _, n in counted), default=0) or 1
    return Sketch(tuple((name, n, n / most) for name, n in counted), rest)


def _histogram(values: pl.Series) -> list[tuple[str, int]]:
    import numpy as np

    numbers = values.to_numpy().astype(float)
    numbers = numbers[np.isfinite(numbers)]
    counts, edges = np.histogram(numbers, bins=BARS)
    return [(f"{low:.4g} – {high:.4g}", int(n)) for n, low, high in zip(counts, edges[:-1], edges[1:], strict=True)]
