"""Distinct rows of a matrix of codes on some of its columns, by hashing."""

from __future__ import annotations

import numpy as np

from celosia.kernels.arrays import Ints, Small
from celosia.kernels.jit import jit


@jit()
def group_rows(codes: Small, columns: Ints) -> tuple[Ints, int]:
    """Assign rows to groups of equal rows on the given columns, by first occurrence; also return their number.

    >>> group_rows(np.array([[0, 7], [1, 7], [0, 8]], np.int32), np.array([0]))
    (array([0, 1, 0]), 2)
    """
    n = codes.shape[0]
    size = 4
    while size < 2 * n:
        size *= 2
    taken = np.zeros(size, np.int64)
    first = np.empty(size, np.int64)
    number = np.empty(size, np.int64)
    ids = np.empty(n, np.int64)
    groups = 0
    for i in range(n):
        at = slot_of_row(codes, i, columns, taken, first, 1, size)
        if taken[at] == 0:
            taken[at] = 1
            first[at] = i
            number[at] = groups
            groups += 1
        ids[i] = number[at]
    return ids, groups


@jit()
def slot_of_row(codes: Small, i: int, columns: Ints, stamp: Ints, head: Ints, turn: int, room: int) -> int:
    """Slot of row i on the given columns: the one that holds it, or the free one where it belongs.

    ``head`` is the row that a slot holds; the slot is taken when its ``stamp`` says ``turn``. ``room`` slots are used,
    a power of two.
    """
    # 32-bit multiply-xor steps: products stay below 2^63, so that plain Python runs the same arithmetic
    h = 2166136261
    for j in columns:
        h = ((h ^ (int(codes[i, j]) + 1)) * 16777619) & 0xFFFFFFFF
    h ^= h >> 15
    at = h & (room - 1)
    while stamp[at] == turn:
        same = True
        for j in columns:
            if codes[head[at], j] != codes[i, j]:
                same = False
                break
        if same:
            return at
        at = (at + 1) & (room - 1)
    return at
