"""Nearest records by Gower's distance: numbers by range, categories by equality, blocked over the records."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit

TIE = 1e-9  # distances nearer than this to each other are one distance


@jit(parallel=True)
def mixed_nearest(
    numbers: NDArray[np.float64],
    codes: NDArray[np.int32],
    target_numbers: NDArray[np.float64],
    target_codes: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """For each record: first nearest, its distance, how many tie, the next distance, how many have that.

    Numbers are already divided by their range (NaN is missing), codes are -1 for missing; the weights of the columns
    follow that order. A missing value is at distance 0 from a missing one and at 1 from all others. A sum stops as
    soon as it exceeds the second-best distance so far, so most pairs cost one or two columns.
    """
    n, p = numbers.shape
    q = codes.shape[1]
    m = target_numbers.shape[0]
    first = np.zeros(n, dtype=np.int64)
    best = np.empty(n)
    tied = np.zeros(n, dtype=np.int64)
    second = np.empty(n)
    second_tied = np.zeros(n, dtype=np.int64)
    for i in numba.prange(n):
        d1 = np.inf
        d2 = np.inf
        c1 = 0
        c2 = 0
        at = 0
        for j in range(m):
            limit = d2 + TIE
            d = 0.0
            for k in range(q):
                if codes[i, k] != target_codes[j, k]:
                    d += weights[p + k]
            for k in range(p):
                if d > limit:
                    break
                a = numbers[i, k]
                b = target_numbers[j, k]
                if a == a and b == b:
                    d += weights[k] * abs(a - b)
                elif a == a or b == b:
                    d += weights[k]
            if d > limit:
                continue
            if d < d1 - TIE:
                d2, c2 = d1, c1
                d1, c1, at = d, 1, j
            elif d <= d1 + TIE:
                c1 += 1
            elif d < d2 - TIE:
                d2, c2 = d, 1
            else:
                c2 += 1
        first[i] = at
        best[i] = d1
        tied[i] = c1
        second[i] = d2
        second_tied[i] = c2
    return first, best, tied, second, second_tied
