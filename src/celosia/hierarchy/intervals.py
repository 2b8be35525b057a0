"""Hierarchies of numbers: ranges of equal width, of equal frequency, or between given breaks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from celosia.errors import SchemaError
from celosia.hierarchy.ends import rounded_cuts, tidy
from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy
from celosia.hierarchy.text import plain, texts
from celosia.hierarchy.values import Interval

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]
_Ends = Callable[[int], tuple[float, float]]


class Intervals(Hierarchy):
    r"""Ranges of numbers, several levels by merging ``factor`` neighbours, with ``*`` on top.

    .. math:: x \mapsto [o + i w,\; o + (i + 1) w), \qquad i = \lfloor (x - o) / w \rfloor

    Give one of ``width`` (equal width ``w`` from ``origin`` ``o``), ``bins`` (equal width between the extreme
    values), ``quantiles`` (about equal frequency, type-7 quantiles) or ``breaks``. Ends that are computed from the data
    are rounded as far as the groups stay the same, so that no label discloses an extreme value. ``bottom`` and ``top``
    collect the values outside in ``<bottom`` and ``≥top``. With ``right=True`` the right end belongs to a range. Values
    that are not numbers need ``fallback``.

    >>> Intervals(width=5, count=2).levels([30, 34, 38]).labels(1)
    ['[30-35)', '[30-35)', '[35-40)']
    >>> Intervals(width=5, count=2).levels([30, 34, 38]).labels(2)
    ['[30-40)', '[30-40)', '[30-40)']
    >>> Intervals(breaks=[30, 41], style="range").levels([28, 31, 40, 50]).labels(1)
    ['<30', '30-40', '30-40', '>40']
    """

    width: float | None = Field(default=None, gt=0, description="width of the ranges on the first level")
    origin: float | None = Field(default=None, description="where a range begins; bottom or 0 when not given")
    bins: int | None = Field(default=None, ge=2, le=100_000, description="number of ranges of equal width")
    quantiles: int | None = Field(
        default=None, ge=2, le=100_000, description="number of ranges of about equal frequency"
    )
    breaks: tuple[float, ...] = Field(default=(), description="where one range ends and the next begins")
    bottom: float | None = Field(default=None, description="values below it form one range")
    top: float | None = Field(default=None, description="values from it on form one range")
    count: int = Field(default=1, ge=1, le=1_000, description="number of levels with ranges")
    factor: int = Field(default=2, ge=2, description="how many ranges merge into one on the next level")
    right: bool = Field(default=False, description="whether the right end belongs to a range instead of the left one")
    style: Literal["half-open", "closed", "range"] = Field(
        default="half-open", description="[30-35), or for whole numbers [30, 34] and 30-34"
    )

    @model_validator(mode="after")
    def _check(self) -> Intervals:
        given = [name for name in ("width", "bins", "quantiles", "breaks") if getattr(self, name)]
        if len(given) != 1:
            names = ", ".join(given) or "none"
            raise ValueError(f"intervals: give one of width, bins, quantiles or breaks, got {names}.")
        if list(self.breaks) != sorted(set(self.breaks)):
            raise ValueError("intervals: breaks must increase.")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise ValueError(f"intervals: bottom must be less than top, got {self.bottom:g} and {self.top:g}.")
        return self

    def from_data(self) -> bool:
        """Return whether the number of ranges is given instead of their width or breaks."""
        return bool(self.bins or self.quantiles)

    def freeze(self, values: Iterable[object], counts: Sequence[int]) -> Hierarchy:
        """Return the hierarchy with the breaks for these data."""
        import polars as pl

        numbers = pl.DataFrame({"x": texts(values), "count": counts}, schema={"x": pl.String, "count": pl.Int64})
        numbers = numbers.with_columns(pl.col("x").cast(pl.Float64, strict=False)).filter(pl.col("x").is_finite())
        breaks = self._breaks(numbers["x"].to_numpy(), numbers["count"].to_numpy()) if self.from_data() else np.zeros(0)
        if not len(breaks):
            return super().freeze(values, counts)
        given = {"bins": None, "quantiles": None, "bottom": None, "top": None, "breaks": tuple(breaks.tolist())}
        return self.model_copy(update=given)

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:
        import polars as pl

        x = values.cast(pl.Float64, strict=False)
        usable = (x.is_not_null() & x.is_finite()).fill_null(value=False)
        numbers = x.filter(usable).to_numpy()
        if self.style != "half-open" and (numbers != np.floor(numbers)).any():
            raise SchemaError(f"intervals: style {self.style!r} is for whole numbers only; use style 'half-open'.")
        columns = []
        if self.width is not None:
            cells = self._grid(numbers)
            columns = [self._labels(cells // self.factor**j, self._grid_ends(j)) for j in range(self.count)]
        else:
            breaks = self._breaks(numbers, counts.filter(usable).to_numpy())
            cells = np.searchsorted(breaks, numbers, side="left" if self.right else "right").astype(np.int64)
            columns = [
                self._labels(cells // self.factor**j, _break_ends(breaks, self.factor**j)) for j in range(self.count)
            ]
        return Levels.of(values.filter(usable).to_list(), [*columns, ["*"] * len(numbers)])

    def _grid(self, x: Floats) -> Cells:
        """Return the number of the range of each value; ranges outside the bounds get the outermost numbers."""
        width = self.width or 1.0
        q = (x - self._start()) / width
        near = np.rint(q)
        # 0.3 / 0.1 is 2.9999999999999996: quotients near a whole number are rounded
        q = np.where(np.abs(q - near) <= 1e-9 * np.maximum(1.0, np.abs(q)), near, q)
        cells: Cells = (np.ceil(q) - 1 if self.right else np.floor(q)).astype(np.int64)
        if self.bottom is not None:
            cells[(x <= self.bottom) if self.right else (x < self.bottom)] = _BELOW
        if self.top is not None:
            cells[(x > self.top) if self.right else (x >= self.top)] = _ABOVE
        return cells

    def _start(self) -> float:
        if self.origin is not None:
            return self.origin
        return self.bottom if self.bottom is not None else 0.0

    def _grid_ends(self, level: int) -> _Ends:
        step = (self.width or 1.0) * self.factor**level
        bottom = -math.inf if self.bottom is None else self.bottom
        top = math.inf if self.top is None else self.top
        below, above = _BELOW // self.factor**level, _ABOVE // self.factor**level

        def ends(cell: int) -> tuple[float, float]:
            if cell == below:
                return -math.inf, bottom
            if cell == above:
                return top, math.inf
            low = self._start() + cell * step
            return max(tidy(low), bottom), min(tidy(low + step), top)

        return ends

    def _breaks(self, x: Floats, counts: NDArray[np.int64]) -> Floats:
        if self.breaks:
            inner = np.array(self.breaks, dtype=np.float64)
        elif not len(x):
            inner = np.zeros(0)
        elif self.bins:
            inner = np.linspace(x.min(), x.max(), self.bins + 1)[1:-1]
        else:
            inner = weighted_quantiles(x, counts, np.arange(1, self.quantiles or 2) / (self.quantiles or 2))
        low = -math.inf if self.bottom is None else self.bottom
        high = math.inf if self.top is None else self.top
        bounds = [b for b in (self.bottom, self.top) if b is not None]
        if self.from_data():
            inner = rounded_cuts(inner, x, counts, right=self.right)
        inner = inner[(inner > low) & (inner < high)]
        return np.unique([tidy(b) for b in [*inner, *bounds]])

    def _labels(self, cells: Cells, ends: _Ends) -> list[str]:
        distinct, place = np.unique(cells, return_inverse=True)
        names = np.array([self._label(*ends(int(cell))) for cell in distinct], dtype=object)
        return list(names[place]) if len(distinct) else []

    def _label(self, low: float, high: float) -> str:
        if self.style == "half-open":
            return str(Interval(low, high, not self.right, self.right))
        if any(not math.isinf(end) and not float(end).is_integer() for end in (low, high)):
            raise SchemaError(f"intervals: style {self.style!r} needs whole breaks; use style 'half-open'.")
        first, last = (low + 1, high) if self.right else (low, high - 1)
        if math.isinf(low):
            return f"<{plain(last + 1)}"
        if math.isinf(high):
            return f">{plain(first - 1)}" if self.style == "range" else f"≥{plain(first)}"
        return f"{plain(first)}-{plain(last)}" if self.style == "range" else f"[{plain(first)}, {plain(last)}]"


# numbers of the outermost ranges, far outside all others on every level
_BELOW = -(2**62)
_ABOVE = 2**62


def _break_ends(breaks: Floats, merged: int) -> _Ends:
    def ends(cell: int) -> tuple[float, float]:
        low, high = cell * merged - 1, (cell + 1) * merged - 1
        return (breaks[low] if low >= 0 else -math.inf), (breaks[high] if high < len(breaks) else math.inf)

    return ends


def weighted_quantiles(x: Floats, counts: NDArray[np.int64], p: Floats) -> Floats:
    """Type-7 quantiles of values with counts.

    >>> weighted_quantiles(np.array([1.0, 2.0, 4.0]), np.array([1, 1, 2]), np.array([0.5])).tolist()
    [3.0]
    """
    order = np.argsort(x, kind="stable")
    values, until = x[order], np.cumsum(counts[order])
    h = (until[-1] - 1) * p
    low = values[np.searchsorted(until, np.floor(h), side="right")]
    high = values[np.searchsorted(until, np.ceil(h), side="right")]
    quantiles: Floats = low + (h - np.floor(h)) * (high - low)
    return quantiles
