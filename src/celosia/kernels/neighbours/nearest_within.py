"""The nearest among the released records that lie inside the bounds of a record."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TIE = 1e-9  # costs whose difference is below this share of them are one cost


@jit()
def tally(cost: float, best: float, count: int, slack: float) -> tuple[float, int]:
    """Return the least cost after one more, which is infinite or at most ``slack`` above the least so far, and its
    count.
    """
    if cost == np.inf:
        return best, count
    return (cost, 1) if cost < best - slack else (best, count + 1)


@jit()
def _cost(i: int, j: int, x: Floats, low: Floats, high: Floats, y: Floats, weights: Floats, limit: float) -> float:
    cost = 0.0
    for c in range(x.shape[1]):
        a, b = x[i, c], y[j, c]
        if a != a or b != b:
            if a == a or b == b:
                return np.inf
            continue
        if b < low[i, c] or b > high[i, c]:
            return np.inf
        cost += weights[c] * (a - b) ** 2
        if cost > limit:
            return np.inf
    return cost


@jit(parallel=True)
def nearest_within(
    x: Floats, low: Floats, high: Floats, y: Floats, weights: Floats, begin: Ints, end: Ints
) -> tuple[Floats, Ints]:
    """Return the least weighted square distance of each record to the records inside its bounds, and how many have it.

    Those from ``begin`` to ``end`` are looked at. It is infinite where none is inside. A missing value (NaN) fits a
    missing one only. Pairs are looked at a column at a time while they are possible: no matrix of them is made.

    >>> far, first = np.full((1, 1), 9.0), np.zeros(1, np.int64)
    >>> y = np.array([[1.0], [-1.0], [2.0]])
    >>> nearest_within(np.zeros((1, 1)), -far, far, y, np.ones(1), first, first + 3)[1].tolist()
    [2]
    """
    m = x.shape[0]
    least = np.full(m, np.inf)
    tied = np.zeros(m, np.int64)
    for i in numba.prange(m):
        best = np.inf
        count = 0
        for j in range(begin[i], end[i]):
            slack = TIE * (1.0 + best) if best < np.inf else 0.0
            best, count = tally(_cost(i, j, x, low, high, y, weights, best + slack), best, count, slack)
        least[i] = best
        tied[i] = count
    return least, tied


@jit()
def costs_within(first: Ints, second: Ints, x: Floats, low: Floats, high: Floats, y: Floats, weights: Floats) -> Floats:
    """Return the weighted square distance of each pair of a record and another, infinite where it is out of bounds."""
    costs = np.empty(len(first))
    for k in range(len(first)):
        costs[k] = _cost(first[k], second[k], x, low, high, y, weights, np.inf)
    return costs
