"""Distinct rows of a matrix of codes on some of its columns, by hashing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.mathematics.kernels.compiled import compiled


@compiled()
def group_rows(codes: NDArray[np.int32], columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Number the distinct rows on the given columns, in the order in which they first occur; and how many
    there are.

    >>> group_rows(np.array([[0, 7], [1, 7], [0, 8]], np.int32), np.array([0]))
    (array([0, 1, 0]), 2)
    """
    n = codes.shape[0]
    size = 4
    while size < 2 * n:
        size *= 2
    slot = np.full(size, -1, np.int64)
    first = np.empty(n, np.int64)
    ids = np.empty(n, np.int64)
    groups = 0
    for i in range(n):
        # 32-bit multiply-xor steps: products stay below 2^63, so that plain Python runs the same arithmetic
        h = 2166136261
        for j in columns:
            h = ((h ^ (int(codes[i, j]) + 1)) * 16777619) & 0xFFFFFFFF
        h ^= h >> 15
        at = h & (size - 1)
        while slot[at] >= 0:
            other = first[slot[at]]
            same = True
            for j in columns:
                if codes[other, j] != codes[i, j]:
                    same = False
                    break
            if same:
                break
            at = (at + 1) & (size - 1)
        if slot[at] < 0:
            slot[at] = groups
            first[groups] = i
            groups += 1
        ids[i] = slot[at]
    return ids, groups
