"""Cut a large cloud of records into compact blocks and microaggregate inside each: near-linear time."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit
from celosia.kernels.neighbours.mdav import mdav
from celosia.kernels.neighbours.regroup import group_sums, renumber, settle

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHARE = 16  # each side of a cut gets at least this part of the block, so that the depth stays logarithmic
POOL = 20  # one group in so many is grouped anew; on log-normal data a twentieth holds four fifths of the error
EXACT = 10_000  # up to here MDAV on the whole costs no more than blocks


@jit()
def _swap(rows: Floats, ids: Ints, i: int, j: int) -> None:
    for a in range(rows.shape[1]):
        rows[i, a], rows[j, a] = rows[j, a], rows[i, a]
    ids[i], ids[j] = ids[j], ids[i]


@jit()
def _select(rows: Floats, ids: Ints, left: int, right: int, middle: int, axis: int) -> None:
    """Quickselect that moves whole rows: what comes before ``middle`` is not larger along ``axis``."""
    while right > left:
        pivot = rows[(left + right) // 2, axis]
        i = left
        j = right
        while i <= j:
            while rows[i, axis] < pivot:
                i += 1
            while rows[j, axis] > pivot:
                j -= 1
            if i <= j:
                _swap(rows, ids, i, j)
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@jit()
def _cut(rows: Floats, ids: Ints, first: int, last: int, k: int) -> int:
    """Part rows first … last - 1 at the middle of their widest side; the place of the cut."""
    widest = 0
    width = -1.0
    middle_value = 0.0
    for a in range(rows.shape[1]):
        mean = 0.0
        for i in range(first, last):
            mean += rows[i, a]
        mean /= last - first
        spread = 0.0
        for i in range(first, last):
            spread += (rows[i, a] - mean) ** 2
        if spread > width:
            width = spread
            widest = a
            middle_value = mean
    below = 0
    for i in range(first, last):
        if rows[i, widest] < middle_value:
            below += 1
    share = (last - first) // SHARE
    below = min(max(below, share), last - first - share)
    middle = first + below // k * k
    _select(rows, ids, first, last - 1, middle, widest)
    return middle


@jit()
def _blocks(rows: Floats, ids: Ints, k: int, largest: int) -> Ints:
    """Cut until no block has more than ``largest`` rows; the starts of the blocks, and the end."""
    n = rows.shape[0]
    starts = np.empty(n // (largest // (2 * SHARE)) + 2, np.int64)
    ends = np.empty(256, np.int64)
    count = 0
    first = 0
    ends[0] = n
    top = 1
    while top > 0:
        last = ends[top - 1]
        if last - first <= largest:
            starts[count] = first
            count += 1
            first = last
            top -= 1
        else:
            ends[top] = _cut(rows, ids, first, last, k)
            top += 1
    starts[count] = n
    return starts[: count + 1]


@jit(parallel=True)
def _inside(rows: Floats, ids: Ints, starts: Ints, k: int, group: Ints) -> None:
    """Run MDAV and the descent in every block; block sizes but the last are multiples of k."""
    for b in numba.prange(starts.size - 1):
        part = rows[starts[b] : starts[b + 1]].copy()
        label = settle(part, mdav(part, k), k)
        offset = starts[b] // k  # an earlier block of m records has m // k groups
        for i in range(label.size):
            group[ids[starts[b] + i]] = offset + label[i]


@jit()
def _errors(points: Floats, group: Ints, groups: int) -> Floats:
    """Within-group sum of squares of each group."""
    n, d = points.shape
    sums, sizes = group_sums(points, group, groups)
    result = np.zeros(groups)
    for i in range(n):
        for a in range(d):
            gap = points[i, a] - sums[group[i], a] / sizes[group[i]]
            result[group[i]] += gap * gap
    return result


def _pool_worst(points: Floats, group: Ints, k: int, size: int) -> Ints:
    """Regroup the records of the worst groups together; keep the result where the error falls."""
    groups = int(group.max()) + 1
    errors = _errors(points, group, groups)
    worst = np.argsort(-errors, kind="stable")[: max(groups // POOL, 1)]
    bad = np.zeros(groups, bool)
    bad[worst] = True
    members = np.flatnonzero(bad[group])
    pool = points[members]
    anew = in_blocks(pool, k, size)
    if _errors(pool, anew, int(anew.max()) + 1).sum() < errors[worst].sum():
        group[members] = groups + anew
        group = renumber(group)
    return group


def in_blocks(points: Floats, k: int, size: int = 600) -> Ints:
    r"""Assign records to groups of ``k`` to ``2k - 1`` near records in near-linear time.

    Cuts at the mean of the axis of largest variance give blocks of at most ``size`` records (and at least 64k); MDAV
    and a local search group inside each block. Groups never cross a cut, which hurts where records are sparse: so the
    twentieth of the groups with the largest error is pooled and grouped anew in the same way, down to a pool that
    exact MDAV can take. Time is :math:`O(n \log n)` for the cuts plus :math:`O(n)` for the blocks. In the spirit of
    MONA (Thaeter & Reischuk 2021). Needs ``n >= k`` and finite values.

    >>> in_blocks(np.array([[0.0], [1], [2], [50], [51], [52]]), 3).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    rows = np.array(points, dtype=np.float64, order="C", copy=True)
    n = rows.shape[0]
    if n <= EXACT:
        return settle(rows, mdav(rows, k), k)
    ids = np.arange(n)
    starts = _blocks(rows, ids, k, max(size, 4 * SHARE * k))
    group = np.empty(n, np.int64)
    _inside(rows, ids, starts, k, group)
    del rows
    return _pool_worst(points, group, k, size)
