r"""Distances between the distribution of a column in each class and its distribution in the whole table.

Classes come as compressed rows: class *c* holds the values ``value[start[c]:start[c + 1]]`` (codes, ascending), each
``count`` times. The cost grows with the number of entries, not with classes × values, so a sensitive column may
have as many values as records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def class_sums(start: Ints, entries: NDArray[np.float64] | NDArray[np.int64]) -> Floats:
    """Sum of the entries of each class; no class may be empty.

    >>> class_sums(np.array([0, 2, 3]), np.array([1.0, 2.0, 5.0])).tolist()
    [3.0, 5.0]
    """
    if len(start) <= 1:
        return np.zeros(0)
    return np.asarray(np.add.reduceat(entries, start[:-1]), dtype=np.float64)


def shares(start: Ints, count: Ints) -> Floats:
    """Return the share of each entry in its class.

    >>> shares(np.array([0, 2, 3]), np.array([1, 3, 5])).tolist()
    [0.25, 0.75, 1.0]
    """
    return np.asarray(count / np.repeat(class_sums(start, count), np.diff(start)), dtype=np.float64)


def value_gaps(numbers: Floats) -> Floats:
    """Step from each value to the next as a share of the range; a missing value lies one mean gap above the largest.

    >>> value_gaps(np.array([0.0, 1, 4])).tolist(), value_gaps(np.array([0.0, 1, 4, np.nan])).tolist()
    ([0.25, 0.75], [0.25, 0.75, 0.5])
    """
    filled = numbers[~np.isnan(numbers)]
    width = float(filled[-1] - filled[0]) if len(filled) > 1 else 1.0
    gaps = np.diff(filled) / width
    if len(filled) < len(numbers):
        gaps = np.append(gaps, 1.0 / max(len(filled) - 1, 1))
    return np.asarray(gaps, dtype=np.float64)


def equal_distance(start: Ints, value: NDArray[np.int32], count: Ints, q: Floats) -> Floats:
    r"""Earth mover's distance when all values are equally far from each other: the variational distance.

    .. math:: D = \tfrac12 \sum_i |p_i - q_i|

    >>> equal_distance(np.array([0, 1]), np.array([0], np.int32), np.array([4]), np.array([0.5, 0.5])).tolist()
    [0.5]
    """
    here = q[value]
    # a value that the class lacks adds q_i; over all of them that is what the present ones leave of the sum of q
    return 0.5 * (float(q.sum()) + class_sums(start, np.abs(shares(start, count) - here) - here))


def stepped_distance(start: Ints, value: NDArray[np.int32], count: Ints, q: Floats, step: Floats) -> Floats:
    r"""Earth mover's distance on a line: values in order, ``step[i]`` from value *i* to the next.

    .. math:: D = \sum_{i=1}^{m-1} \mathrm{step}_i \Bigl| \sum_{j \le i} (p_j - q_j) \Bigr|

    Steps of 1/(m - 1) give the ordered distance of Li, Li & Venkatasubramanian (2007).

    >>> q = np.full(9, 1 / 9)
    >>> start, value, count = np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([1, 1, 1])
    >>> stepped_distance(start, value, count, q, np.full(8, 1 / 8)).round(12).tolist()
    [0.375]
    """
    m = len(q)
    if m < 2:
        return np.zeros(len(start) - 1)
    cumulative = np.cumsum(q)[:-1]
    length = np.concatenate([[0.0], np.cumsum(step)])
    moved = np.concatenate([[0.0], np.cumsum(step * cumulative)])
    # between two values of the class the cumulative share P of the class is constant while that of the table, Q, rises:
    # the sum of step * |P - Q| over such a run splits where Q passes P
    until = np.cumsum(count)  # whole numbers: no rounding however many classes there are
    begin, lengths = until[start[:-1]] - count[start[:-1]], np.diff(start)
    share = (until - np.repeat(begin, lengths)) / np.repeat(until[start[1:] - 1] - begin, lengths)
    low = np.minimum(value, m - 1).astype(np.int64)
    high = np.append(low[1:], m - 1)
    high[start[1:] - 1] = m - 1
    high = np.minimum(high, m - 1)
    low = np.minimum(low, high)
    split = np.clip(np.searchsorted(cumulative, share), low, high)
    run = share * (length[split] - length[low]) - (moved[split] - moved[low])
    run += (moved[high] - moved[split]) - share * (length[high] - length[split])
    ahead = moved[low[start[:-1]]]  # before the first value of the class P is 0
    return np.asarray(class_sums(start, run) + ahead, dtype=np.float64)


def tree_distance(
    start: Ints, value: NDArray[np.int32], count: Ints, q: Floats, ancestors: NDArray[np.int32]
) -> Floats:
    r"""Earth mover's distance on a hierarchy: two values are as far as their lowest common ancestor is high.

    .. math:: D = \sum_N \frac{\mathrm{height}(N)}{H} \min(\mathrm{pos}_N, \mathrm{neg}_N)
              = \frac1H \sum_{h=0}^{H-1} \tfrac12 \sum_{N \text{ at } h} |p_N - q_N|

    The second form, a mean of variational distances over the levels, follows since every edge of a tree of height *H*
    carries the imbalance below it over a length of 1/(2H).

    >>> tree = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32)
    >>> tree_distance(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1]), np.full(4, 0.25), tree).tolist()
    [0.5]
    """
    height = len(ancestors) - 1
    if height < 1:
        return equal_distance(start, value, count, q)
    total = np.zeros(len(start) - 1)
    owner = np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start))
    for level in range(height):
        names, codes = np.unique(ancestors[level], return_inverse=True)
        above: Floats = np.bincount(codes, weights=q, minlength=len(names)).astype(np.float64)
        key = owner * len(names) + codes[value]
        node, place = np.unique(key, return_inverse=True)
        merged = np.bincount(place, weights=count, minlength=len(node)).astype(np.int64)
        begin = np.searchsorted(node, np.arange(len(start)) * len(names))
        total += equal_distance(begin, (node % len(names)).astype(np.int32), merged, above)
    return total / height
