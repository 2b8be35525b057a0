"""Automatic hierarchies: halves of about equal frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from celosia.hierarchy.ends import SHARED, number_ends, word_ends
from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy
from celosia.hierarchy.values import Interval

if TYPE_CHECKING:
    import polars as pl


class Balanced(Hierarchy):
    """Groups of neighbouring values with about equal frequency: each group splits in two near its weighted median.

    Values are in numeric order if all are numbers, else in the order of their characters. The top is ``*``, the level
    below has two groups, then four, and so on; ``count`` keeps that many levels next to the top. The label of a group
    is the range from its beginning to that of the next group, by the roundest numbers or the fewest letters that
    separate them: ``[17-35)``, ``[Ar .. S)``. A value itself is in a label only if at least five records have it, and
    words are separated by at most three letters. Groups are unbalanced if most records have the same value. They are
    built from the data, so that another file has other groups.

    >>> levels = Balanced().levels([1, 2, 3, 40], counts=[5, 1, 1, 3])
    >>> levels.labels(2), levels.labels(1)
    (['1', '[2-42)', '[2-42)', '[2-42)'], ['1', '[2-20)', '[2-20)', '[20-42)'])
    >>> Balanced().levels(["Aldea", "Burgos", "Cuenca", "Zas"], counts=[1, 9, 1, 1]).labels(1)
    ['[A .. C)', '[A .. C)', '[C .. Z…]', '[C .. Z…]']
    """

    count: int | None = Field(
        default=None, ge=1, le=1_000, description="number of levels below the top; all when not given"
    )

    def from_data(self) -> bool:
        """Return True, because the groups depend on the frequencies."""
        return True

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:
        import polars as pl

        x = values.cast(pl.Float64, strict=False)
        numeric = len(x) > 0 and x.null_count() == 0
        order = (x if numeric else values).arg_sort().to_numpy()
        ordered, records = values[order].to_list(), counts.to_numpy()[order]
        shared = records >= SHARED
        ends: list[Any] = number_ends(x.to_numpy()[order]) if numeric else word_ends(ordered, shared)
        # groups begin at values before which there is an end; values between two ends stay in one group
        starts = np.flatnonzero([end is not None for end in ends[:-1]]) if ordered else np.zeros(0, dtype=np.int64)
        starts = np.append(starts, len(ordered)) if len(starts) and starts[0] == 0 and ends[-1] else starts[:0]
        until = np.concatenate([[0], np.cumsum(records)])[starts]
        columns: list[list[str]] = []
        edges = np.array([0, len(starts) - 1], dtype=np.int64)
        while len(starts):
            finer = _split(edges, until)
            if len(finer) == len(edges):
                break
            edges = finer
            if len(edges) - 1 >= len(ordered):
                break
            columns.insert(0, _labels(starts[edges], ordered, shared, ends))
        kept = columns if self.count is None else columns[-self.count :]
        return Levels.of(ordered, [*kept, ["*"] * len(ordered)])


def _split(edges: NDArray[np.int64], until: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split every group of two or more values into two with the most equal numbers of records."""
    low, high = edges[:-1], edges[1:]
    wide = high - low > 1
    low, high = low[wide], high[wide]
    middle = (until[low] + until[high]) / 2
    after = np.clip(np.searchsorted(until, middle), low + 1, high - 1)
    before = np.clip(after - 1, low + 1, high - 1)
    cut = np.where(np.abs(until[before] - middle) <= np.abs(until[after] - middle), before, after)
    return np.unique(np.concatenate([edges, cut]))


def _labels(
    edges: NDArray[np.int64], ordered: list[str], shared: NDArray[np.bool_], ends: list[float | str | None]
) -> list[str]:
    out: list[str] = []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        alone = high - low == 1 and shared[low]
        last = high == len(ordered) and isinstance(ends[high], str)
        label = ordered[low] if alone else str(Interval(_bound(ends[low]), _bound(ends[high]), high_closed=last))
        out.extend([label] * (high - low))
    return out


def _bound(end: float | str | None) -> float | str:
    """Return the end of a group, which must exist."""
    assert end is not None
    return end
