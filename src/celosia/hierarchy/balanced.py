"""Automatic hierarchies: halves of about equal frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy
from celosia.hierarchy.values import Interval

if TYPE_CHECKING:
    import polars as pl


class Balanced(Hierarchy):
    """Groups of neighbouring values with about equal frequency: each group splits in two near its weighted median.

    Values stand in numeric order when all are numbers, else in the order of their characters. The top is ``*``, the
    level below has two groups, then four, and so on; ``count`` keeps that many levels next to the top.
    Labels are ranges of what was seen: ``[17, 35]``, ``[Armed-Forces .. Sales]``. Fails to balance when one
    value holds most records. Built from the data, so another file gives other groups.

    >>> levels = Balanced().levels([1, 2, 3, 40], counts=[5, 1, 1, 3])
    >>> levels.labels(2), levels.labels(1)
    (['1', '[2, 40]', '[2, 40]', '[2, 40]'], ['1', '[2, 3]', '[2, 3]', '40'])
    """

    count: int | None = Field(default=None, ge=1, description="number of levels below the top; all when not given")

    def from_data(self) -> bool:
        """The groups follow the frequencies."""
        return True

    def _domain(self, values: pl.Series, counts: pl.Series) -> Levels:
        import polars as pl

        x = values.cast(pl.Float64, strict=False)
        numeric = len(x) > 0 and x.null_count() == 0
        order = (x if numeric else values).arg_sort().to_numpy()
        ordered = values[order].to_list()
        until = np.concatenate([[0], np.cumsum(counts.to_numpy()[order])])
        columns: list[list[str]] = []
        edges = np.array([0, len(ordered)], dtype=np.int64)
        while True:
            finer = _split(edges, until)
            if len(finer) == len(edges):
                break
            edges = finer
            if len(edges) - 1 >= len(ordered):
                break
            columns.insert(0, _labels(edges, ordered, numeric))
        kept = columns if self.count is None else columns[-self.count :]
        return Levels.of(ordered, [*kept, ["*"] * len(ordered)])


def _split(edges: NDArray[np.int64], until: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cut every group of two or more values where its two halves weigh most equally."""
    low, high = edges[:-1], edges[1:]
    wide = high - low > 1
    low, high = low[wide], high[wide]
    middle = (until[low] + until[high]) / 2
    after = np.clip(np.searchsorted(until, middle), low + 1, high - 1)
    before = np.clip(after - 1, low + 1, high - 1)
    cut = np.where(np.abs(until[before] - middle) <= np.abs(until[after] - middle), before, after)
    return np.unique(np.concatenate([edges, cut]))


def _labels(edges: NDArray[np.int64], ordered: list[str], numeric: bool) -> list[str]:
    out: list[str] = []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        first, last = ordered[low], ordered[high - 1]
        if high - low == 1:
            label = first
        else:
            label = str(Interval(float(first), float(last)) if numeric else Interval(first, last))
        out.extend([label] * (high - low))
    return out
