"""Agreement patterns of all pairs of records of two files, without a matrix of pairs.

A record agrees with another in a column when the other lies in a window of the sorted column. Only agreeing pairs are
touched: a record's pattern over all records of the other file is built window by window and counted.
"""

from __future__ import annotations

import numba
import numpy as np

from celosia.kernels.arrays import Floats, Ints, Small
from celosia.kernels.jit import jit

SAME = 1e-9  # scores nearer than this to each other are one score


@jit()
def _agree(orders: Small, starts: Ints, stops: Ints, i: int, pattern: Small, touched: Small) -> int:
    """Build the pattern of record i over the other file; list the records that agree anywhere and count them."""
    n_touched = 0
    for j in range(orders.shape[0]):
        bit = 1 << j
        for at in range(starts[j, i], stops[j, i]):
            r = orders[j, at]
            if pattern[r] == 0:
                touched[n_touched] = r
                n_touched += 1
            pattern[r] |= bit
    return n_touched


@jit(parallel=True)
def count_patterns(orders: Small, starts: Ints, stops: Ints, blocks: int) -> Ints:
    """How many pairs have each agreement pattern (bit mask over the columns), one row per block of records.

    ``orders[j]`` sorts the other file by column j; record i agrees in it with ``orders[j][starts[j, i]:stops[j, i]]``.
    """
    k, m = orders.shape
    n = starts.shape[1]
    counts = np.zeros((blocks, 1 << k), dtype=np.int64)
    for block in numba.prange(blocks):
        pattern = np.zeros(m, dtype=np.int32)
        touched = np.empty(m, dtype=np.int32)
        for i in range(block * n // blocks, (block + 1) * n // blocks):
            n_touched = _agree(orders, starts, stops, i, pattern, touched)
            counts[block, 0] += m - n_touched
            for t in range(n_touched):
                counts[block, pattern[touched[t]]] += 1
                pattern[touched[t]] = 0
    return counts


@jit(parallel=True)
def best_patterns(orders: Small, starts: Ints, stops: Ints, score: Floats, blocks: int) -> tuple[Ints, Floats, Ints]:
    """For each record: the first best-scoring other record, its score, and how many tie."""
    m = orders.shape[1]
    n = starts.shape[1]
    first = np.full(n, -1, dtype=np.int64)
    best = np.full(n, -np.inf)
    tied = np.zeros(n, dtype=np.int64)
    for block in numba.prange(blocks):
        pattern = np.zeros(m, dtype=np.int32)
        touched = np.empty(m, dtype=np.int32)
        for i in range(block * n // blocks, (block + 1) * n // blocks):
            n_touched = _agree(orders, starts, stops, i, pattern, touched)
            top = -np.inf
            if n_touched < m:
                top = score[0]
            for t in range(n_touched):
                top = max(top, score[pattern[touched[t]]])
            limit = top - SAME
            count = 0
            lowest = m
            if score[0] >= limit:
                count += m - n_touched
                # the first record without any agreement
                for r in range(m):
                    if pattern[r] == 0:
                        lowest = r
                        break
            for t in range(n_touched):
                r = touched[t]
                if score[pattern[r]] >= limit:
                    count += 1
                    lowest = min(lowest, r)
            for t in range(n_touched):
                pattern[touched[t]] = 0
            first[i] = lowest
            best[i] = top
            tied[i] = count
    return first, best, tied
