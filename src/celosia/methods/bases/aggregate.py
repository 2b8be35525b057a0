"""Aggregates of groups: mean, median, mode or medoid."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from celosia.kernels.statistics.deviation import deviations

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def means(x: Floats, group: Ints) -> Floats:
    """Mean of each column in each group; every number of groups from 0 must occur.

    >>> means(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])).tolist()
    [[2.0], [5.0]]
    """
    sizes = np.bincount(group)
    return np.column_stack([np.bincount(group, x[:, j]) for j in range(x.shape[1])]) / sizes[:, None]


def medians(x: Floats, group: Ints) -> Floats:
    """Median of each column in each group.

    >>> medians(np.array([[1.0], [3.0], [9.0], [5.0]]), np.array([0, 0, 0, 1])).tolist()
    [[3.0], [5.0]]
    """
    sizes = np.bincount(group)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    result = np.empty((len(sizes), x.shape[1]))
    for j in range(x.shape[1]):
        column = x[np.lexsort((x[:, j], group)), j]
        result[:, j] = (column[start + (sizes - 1) // 2] + column[start + sizes // 2]) / 2
    return result


def modes(codes: Ints, group: Ints) -> Ints:
    """Most frequent code in each group; the lowest of equally frequent ones.

    >>> modes(np.array([2, 1, 1, 0]), np.array([0, 0, 0, 1])).tolist()
    [1, 0]
    """
    pairs, counts = np.unique(np.column_stack([group, codes]), axis=0, return_counts=True)
    order = np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))
    first = np.flatnonzero(np.diff(pairs[order, 0], prepend=-1))
    result: Ints = pairs[order[first], 1]
    return result


def middle_codes(codes: Ints, group: Ints) -> Ints:
    """Lower median of ordered codes in each group: always a code that occurs.

    >>> middle_codes(np.array([0, 4, 2, 7]), np.array([0, 0, 0, 1])).tolist()
    [2, 7]
    """
    sizes = np.bincount(group)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ordered: Ints = codes[np.lexsort((codes, group))]
    return ordered[start + (sizes - 1) // 2]


def medoids(x: Floats, group: Ints) -> Ints:
    """Position of the record of each group nearest to its mean (the least sum of squared distances to the others).

    >>> medoids(np.array([[0.0], [4.0], [10.0]]), np.array([0, 0, 0])).tolist()
    [1]
    """
    away = ((x - means(x, group)[group]) ** 2).sum(axis=1)
    order = np.lexsort((away, group))
    return order[np.flatnonzero(np.diff(group[order], prepend=-1))]


def loss_share(x: Floats, group: Ints) -> float:
    r"""Within-group share of the sum of squares, each column divided by its variance.

    .. math:: \mathrm{SSE}/\mathrm{SST}

    >>> loss_share(np.array([[0.0], [2.0], [10.0], [12.0]]), np.array([0, 0, 1, 1])).__round__(4)
    0.0385
    """
    variance = deviations(x) ** 2
    varies = variance > 0
    if not varies.any():
        return 0.0
    inside = ((x - means(x, group)[group]) ** 2).mean(axis=0)
    return float((inside[varies] / variance[varies]).mean())
