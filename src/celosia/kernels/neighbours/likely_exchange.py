"""Which released records a record may have become when values change places by rank, and which of them most likely."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit
from celosia.kernels.neighbours.nearest_within import tally

Ints = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WINDOW, NORMAL, BUCKETS = 0, 1, 2  # values move: at most so far; about so far; with halving odds by bucket
TIE = 1e-9  # costs nearer than this to each other are one cost
LN2 = math.log(2.0)


class Exchange(NamedTuple):
    """Records and others on both sides of an exchange, column by column.

    ``ranks`` and ``others`` hold the first and the last rank of the value of each column, side by side. Values change
    places within a ``group`` only, about as far as ``reach`` and the ``mode`` of the column say.
    """

    ranks: Ints
    group: Ints
    reach: Floats
    others: Ints
    other_group: Ints
    mode: Wide


@jit()
def _step_cost(low: int, high: int, other_low: int, other_high: int, reach: float, mode: int) -> float:
    """Minus the log-likelihood of the likeliest step between two values that stand for these ranks; -1 is missing."""
    if low < 0 or other_low < 0:
        return 0.0 if low < 0 and other_low < 0 else np.inf
    if mode == BUCKETS:
        size = max(int(reach), 1)
        return LN2 * max(0, other_low // size - high // size, low // size - other_high // size)
    nearest = max(0, other_low - high, low - other_high)
    if mode == WINDOW:
        return 0.0 if nearest <= reach else np.inf
    half = max(reach, 1.0) / 2
    likely = min(max(half, nearest), max(other_high - low, high - other_low))
    return ((likely - half) / half) ** 2 / 2


@jit()
def _pair_cost(i: int, j: int, about: Exchange, limit: float) -> float:
    ranks, group, reach, others, other_group, mode = about
    cost = 0.0
    for c in range(group.shape[1]):
        if group[i, c] != other_group[j, c]:
            return np.inf
        cost += _step_cost(
            ranks[i, 2 * c], ranks[i, 2 * c + 1], others[j, 2 * c], others[j, 2 * c + 1], reach[i, c], mode[c]
        )
        if cost > limit:
            return np.inf
    return cost


@jit(parallel=True)
def likeliest(about: Exchange, begin: Wide, end: Wide) -> tuple[Floats, Wide]:
    """For each record the least cost over the others from ``begin`` to ``end``, infinite when none is possible; and
    how many have it.

    Pairs are looked at a column at a time while they are possible: no matrix of them is made.

    >>> ranks = np.array([[0, 0], [1, 1], [2, 2]], np.int32)
    >>> none, begin = np.zeros((3, 1), np.int32), np.zeros(3, np.int64)
    >>> about = Exchange(ranks, none, np.ones((3, 1)), ranks, none, np.zeros(1, np.int64))
    >>> likeliest(about, begin, begin + 3)[1].tolist()
    [2, 3, 2]
    """
    m = about.ranks.shape[0]
    least = np.full(m, np.inf)
    tied = np.zeros(m, np.int64)
    for i in numba.prange(m):
        best = np.inf
        count = 0
        for j in range(begin[i], end[i]):
            best, count = tally(_pair_cost(i, j, about, best + TIE), best, count, TIE)
        least[i] = best
        tied[i] = count
    return least, tied


@jit()
def costs_of_pairs(first: Wide, second: Wide, about: Exchange) -> Floats:
    """Return the cost of each pair of a record and another."""
    costs = np.empty(len(first))
    for k in range(len(first)):
        costs[k] = _pair_cost(first[k], second[k], about, np.inf)
    return costs
