"""MDAV on mixed records: numbers, ordered and unordered categories, categories with a distance of their own."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from celosia.kernels.arrays import Floats, Ints
from celosia.kernels.jit import jit

NUMBER, ORDER, LABEL, TABLE = 0, 1, 2, 3
"""Kinds of column: |a - b| over the range; rank difference over the ranks; equal or not; looked up in a table."""


class Mixed(NamedTuple):
    """Records over columns of several kinds, as the kernels here see them."""

    cells: Floats
    """Numbers divided by their range, ranks divided by the largest rank, and codes."""
    kinds: Ints
    weights: Floats
    tables: Floats
    """The distances between categories, row by row."""
    starts: Ints
    """Where the table of each column begins."""
    sizes: Ints
    """The number of categories."""


@jit()
def _distance(mixed: Mixed, i: int, other: Floats) -> float:
    """Gower's distance of a record from a row of cells, not yet divided by the sum of weights."""
    cells, kinds, weights, tables, starts, sizes = mixed
    total = 0.0
    for j in range(kinds.size):
        a = cells[i, j]
        b = other[j]
        if kinds[j] == LABEL:
            if a != b:
                total += weights[j]
        elif kinds[j] == TABLE:
            total += weights[j] * tables[starts[j] + int(a) * sizes[j] + int(b)]
        else:
            total += weights[j] * abs(a - b)
    return total


@jit()
def _take(mixed: Mixed, free: Ints, left: int, seed: int, k: int, label: int, group: Ints) -> int:
    """Group the k free records nearest to the seed; the free list stays ascending. How many are left."""
    near = np.full(k, math.inf)
    place = np.full(k, -1, np.int64)
    for p in range(left):
        d = _distance(mixed, free[p], mixed.cells[seed])
        if d >= near[k - 1]:
            continue
        i = k - 1
        while i > 0 and near[i - 1] > d:
            near[i] = near[i - 1]
            place[i] = place[i - 1]
            i -= 1
        near[i] = d
        place[i] = p
    for i in range(k):
        group[free[place[i]]] = label
    kept = 0
    for p in range(left):
        if group[free[p]] < 0:
            free[kept] = free[p]
            kept += 1
    return kept


@jit()
def _farthest(mixed: Mixed, free: Ints, left: int, other: Floats) -> int:
    best = -1.0
    record = -1
    for p in range(left):
        d = _distance(mixed, free[p], other)
        if d > best:
            best = d
            record = free[p]
    return record


@jit()
def _centre(mixed: Mixed, free: Ints, left: int, centre: Floats) -> None:
    """Return the mean of numbers, median of ordered and mode of unordered categories, over the free records."""
    cells, kinds, sizes = mixed.cells, mixed.kinds, mixed.sizes
    for j in range(kinds.size):
        if kinds[j] == NUMBER:
            total = 0.0
            for p in range(left):
                total += cells[free[p], j]
            centre[j] = total / left
        else:
            scale = float(max(sizes[j] - 1, 1)) if kinds[j] == ORDER else 1.0
            counts = np.zeros(sizes[j], np.int64)
            for p in range(left):
                counts[round(cells[free[p], j] * scale)] += 1
            if kinds[j] == ORDER:
                seen = 0
                for c in range(sizes[j]):
                    seen += counts[c]
                    if 2 * seen >= left:
                        centre[j] = c / scale
                        break
            else:
                centre[j] = np.argmax(counts)


@jit()
def mdav_mixed(mixed: Mixed, k: int) -> Ints:
    r"""Assign records to the groups that MDAV forms under Gower's distance.

    .. math:: d(x, y) = \sum_j w_j d_j(x_j, y_j) / \sum_j w_j

    The centre has the mean, median and mode of its columns. Time :math:`O(n^2/k)`. Ties go to the lower record number.
    References: Gower (1971); Domingo-Ferrer & Torra (2005).

    >>> cells = np.array([[0.0, 0], [0.1, 0], [0.9, 1], [1.0, 1]])
    >>> kinds, nothing, two = np.array([0, 2]), np.zeros(2, np.int64), np.array([0, 2])
    >>> mdav_mixed(Mixed(cells, kinds, np.ones(2), np.empty(0), nothing, two), 2).tolist()
    [1, 1, 0, 0]
    """
    n = mixed.cells.shape[0]
    group = np.full(n, -1, np.int64)
    free = np.arange(n)
    centre = np.empty(mixed.kinds.size)
    left = n
    label = 0
    while left >= 2 * k:
        _centre(mixed, free, left, centre)
        r = _farthest(mixed, free, left, centre)
        left = _take(mixed, free, left, r, k, label, group)
        label += 1
        if left >= 2 * k:
            s = _farthest(mixed, free, left, mixed.cells[r])
            left = _take(mixed, free, left, s, k, label, group)
            label += 1
    for p in range(left):
        group[free[p]] = label
    return group


@jit()
def edit_distances(letters: Ints, begin: Ints) -> Floats:
    """Levenshtein distances between words over the longer length, row by row.

    Word ``w`` has the code points ``letters[begin[w]:begin[w + 1]]``.

    >>> edit_distances(np.array([97, 98, 97, 99]), np.array([0, 2, 4])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    m = begin.size - 1
    result = np.zeros((m, m))
    longest = 0
    for w in range(m):
        longest = max(longest, begin[w + 1] - begin[w])
    row = np.empty(longest + 1, np.int64)
    for v in range(m):
        long = begin[v + 1] - begin[v]
        for w in range(v):
            wide = begin[w + 1] - begin[w]
            for j in range(wide + 1):
                row[j] = j
            for i in range(1, long + 1):
                corner = row[0]
                row[0] = i
                for j in range(1, wide + 1):
                    above = row[j]
                    same = letters[begin[v] + i - 1] == letters[begin[w] + j - 1]
                    row[j] = min(min(above, row[j - 1]) + 1, corner + (0 if same else 1))
                    corner = above
            share = row[wide] / max(long, wide, 1)
            result[v, w] = share
            result[w, v] = share
    return result
