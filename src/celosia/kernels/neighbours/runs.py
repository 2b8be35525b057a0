"""Microaggregation along one axis: runs of consecutive values."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@jit()
def shortest_path(values: Floats, k: int) -> Ints:
    r"""Cut sorted values into runs of ``k`` to ``2k - 1`` with the least within-run sum of squares.

    .. math:: b_j = \min_{k \le s \le 2k-1} b_{j-s} + \mathrm{SSE}(x_{j-s+1}, \dots, x_j)

    Returns the number of each value's run. Time :math:`O(nk)`; run errors grow by Welford's update, so large values
    lose no digits. Needs ascending values and ``n >= k``. Reference: Hansen & Mukherjee (2003).

    >>> shortest_path(np.array([12.0, 23, 28, 30, 42, 46, 50, 55, 61, 68]), 3).tolist()
    [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    """
    n = values.size
    best = np.full(n + 1, math.inf)
    best[0] = 0.0
    step = np.zeros(n + 1, np.int64)
    for j in range(k, n + 1):
        mean = 0.0
        spread = 0.0
        for s in range(1, min(2 * k - 1, j) + 1):
            gap = values[j - s] - mean
            mean += gap / s
            spread += gap * (values[j - s] - mean)
            if s >= k and best[j - s] + spread < best[j]:
                best[j] = best[j - s] + spread
                step[j] = s
    run = np.empty(n, np.int64)
    count = 0
    j = n
    while j > 0:
        for i in range(j - step[j], j):
            run[i] = count
        count += 1
        j -= step[j]
    for i in range(n):
        run[i] = count - 1 - run[i]
    return run


def fixed_runs(n: int, k: int) -> Ints:
    """Cut ``n`` sorted values into runs of ``k``; the last run takes the rest.

    >>> fixed_runs(7, 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    return np.minimum(np.arange(n) // k, max(n // k - 1, 0))


def groups_along(values: Floats, k: int, *, optimal: bool = True) -> Ints:
    """Return the group of each value of an unsorted column: runs with the least loss, or runs of exactly ``k``.

    >>> groups_along(np.array([12.0, 68, 23, 61, 28, 55]), 3).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    order = np.argsort(values, kind="stable")
    group = np.empty(len(values), np.int64)
    group[order] = shortest_path(np.ascontiguousarray(values[order]), k) if optimal else fixed_runs(len(values), k)
    return group
