"""Linkage with records whose values changed places: the ranks that a value may have had before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.disclosure.own_records import Own

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ExchangedColumn:
    """One column of the intruder's records and of the released ones, by rank among the released values."""

    ranks: tuple[Ints, Ints]
    """First and last rank of the value of each of the intruder's records."""
    others: tuple[Ints, Ints]
    """First and last rank of the value of each released record."""
    group: Ints
    other_group: Ints
    """The stratum within which values changed places."""
    reach: Floats
    """Distance in ranks that the values of the stratum moved: the window, or the size of a bucket."""
    mode: int


@dataclass(frozen=True, eq=False)
class Candidates:
    """Released records that most likely belong to each of the intruder's records."""

    tied: Ints
    """Number of candidates; 0 when no record is possible."""
    own: Ints
    """Number of candidates that are the same person's."""

    @property
    def chance(self) -> Floats:
        """Chance of a right link when one of them is taken at random."""
        return self.own / np.maximum(self.tied, 1)


def by_group(values: Floats, group: Ints, reference: Floats, reference_group: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Yield, for each group with known values on both sides, their rows and the reference values in order."""
    filled = ~np.isnan(reference)
    order = np.lexsort((reference[filled], reference_group[filled]))
    ordered, groups = reference[filled][order], reference_group[filled][order]
    mine = np.flatnonzero(~np.isnan(values))
    mine = mine[np.argsort(group[mine], kind="stable")]
    names, begin = np.unique(group[mine], return_index=True)
    for name, rows in zip(names, np.split(mine, begin[1:]), strict=True):
        first, last = np.searchsorted(groups, [name, name + 1])
        if first < last:
            yield rows, ordered[first:last]


def places(values: Floats, group: Ints, reference: Floats, reference_group: Ints) -> tuple[Ints, Ints, Ints]:
    """Return first and last rank of each value among the reference values of its group, and the size of the group.

    A missing value, and one in a group without reference, has rank -1; a value between two takes both.

    >>> low, high, size = places(np.array([5.0, 2.0]), np.zeros(2, int), np.array([1.0, 5, 5, 9]), np.zeros(4, int))
    >>> low.tolist(), high.tolist(), size.tolist()
    ([1, 0], [2, 1], [4, 4])
    """
    low, high, size = (np.full(len(values), fill, dtype=np.int64) for fill in (-1, -1, 0))
    for rows, ordered in by_group(values, group, reference, reference_group):
        left = np.searchsorted(ordered, values[rows], side="left")
        right = np.searchsorted(ordered, values[rows], side="right") - 1
        low[rows] = np.clip(np.minimum(left, right), 0, len(ordered) - 1)
        high[rows] = np.clip(np.maximum(left, right), 0, len(ordered) - 1)
        size[rows] = len(ordered)
    return low, high, size


def candidates(columns: list[ExchangedColumn], own: Own) -> Candidates:
    r"""Return the records that agree best with the known exchange, over all columns.

    .. math:: B(x) = \{y : |r_c(x) - r_c(y)| \le w_c \text{ for all } c\}

    for a window; for other exchanges the records of the greatest likelihood. ``own`` gives the records of the same
    person. Where values are tied, the likeliest of the ranks that they may have had counts.

    References: Nin, Herranz & Torra (2008).
    """
    from celosia.kernels.neighbours.likely_exchange import TIE, Exchange, costs_of_pairs, likeliest

    def flat(pairs: list[tuple[Ints, Ints]]) -> NDArray[np.int32]:
        return np.ascontiguousarray(np.column_stack([side for pair in pairs for side in pair]).astype(np.int32))

    chosen = sorted(columns, key=lambda column: (column.mode, float(column.reach.mean())))  # narrow windows first
    group, other_group = (
        np.column_stack([getattr(column, name) for column in chosen]).astype(np.int32)
        for name in ("group", "other_group")
    )
    about = Exchange(
        flat([column.ranks for column in chosen]),
        group,
        np.column_stack([column.reach for column in chosen]).astype(np.float64),
        flat([column.others for column in chosen]),
        other_group,
        np.array([column.mode for column in chosen], dtype=np.int64),
    )
    order, begin, end = _window(chosen[0])
    ordered = about._replace(others=about.others[order], other_group=about.other_group[order])
    least, tied = likeliest(ordered, begin, end)

    def fits(i: Ints, j: Ints) -> NDArray[np.bool_]:
        costs = costs_of_pairs(i, j, about)
        return np.asarray(np.isfinite(costs) & (costs <= least[i] + TIE), dtype=np.bool_)

    return Candidates(tied, own.count(fits))


def _window(column: ExchangedColumn) -> tuple[Ints, Ints, Ints]:
    """Return the released records sorted by a column, and the start and end of those that each record can be.

    These are all of them unless the column was swapped within a window of ranks over all rows.
    """
    from celosia.kernels.neighbours.likely_exchange import WINDOW

    low, high = column.others
    order = np.argsort(low, kind="stable")
    nothing = np.zeros(len(column.reach), dtype=np.int64)
    if column.mode != WINDOW or column.group.any() or column.other_group.any():
        return order, nothing, nothing + len(order)
    missing = column.ranks[0] < 0  # a missing value fits the missing ones, which come first
    begin = np.searchsorted(high[order], np.maximum(column.ranks[0] - column.reach, 0), side="left")
    end = np.searchsorted(low[order], column.ranks[1] + column.reach, side="right")
    return order, np.where(missing, 0, begin), np.where(missing, int((low < 0).sum()), end)
