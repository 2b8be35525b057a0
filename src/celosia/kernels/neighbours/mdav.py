"""MDAV: groups of k near records, taken from the rim of the cloud inwards (exact, without a distance matrix)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit
from celosia.kernels.neighbours.kd_tree import Tree, build, farthest, nearest, remove, squared_distance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SCAN = 12  # the list is ordered anew after reading this many times its length: sorting costs about as much


@jit()
def _take(tree: Tree, x: Floats, k: int, label: int, group: Ints, taken: Ints, squares: Floats) -> int:
    """Label the k records nearest to ``x`` and remove them from the tree."""
    count = nearest(tree, x, k, taken, squares)
    for i in range(count):
        group[taken[i]] = label
        remove(tree, taken[i])
    return count


@jit()
def _add_up(points: Floats, rows: Ints, count: int, sign: float, total: Floats, error: Floats) -> None:
    """Add records to the running sum, or subtract them; ``error`` holds what rounding lost (Neumaier's sum)."""
    for i in range(count):
        for a in range(total.size):
            value = sign * points[rows[i], a]
            after = total[a] + value
            if abs(total[a]) >= abs(value):
                error[a] += (total[a] - after) + value
            else:
                error[a] += (value - after) + total[a]
            total[a] = after


@jit()
def _alive(group: Ints, left: int) -> Ints:
    """Return the record numbers that have no group yet, ascending."""
    members = np.empty(left, np.int64)
    m = 0
    for i in range(group.size):
        if group[i] < 0:
            members[m] = i
            m += 1
    return members


@jit()
def _rank(points: Floats, members: Ints, centre: Floats) -> tuple[Ints, Floats]:
    """Order the records by falling distance from a centre, with the distances."""
    away = np.empty(members.size)
    for i in range(members.size):
        away[i] = -math.sqrt(squared_distance(points, members[i], centre))
    order = np.argsort(away, kind="mergesort")
    return members[order], -away[order]


@jit()
def _rim(
    points: Floats, group: Ints, order: Ints, away: Floats, head: int, centre: Floats, drift: float
) -> tuple[int, int]:
    """Return the free record farthest from the centre, from a list ordered around where the centre was before.

    The centre has moved by ``drift`` since, so no distance has changed by more: the scan of the list stops where the
    old distance plus the drift falls short of the best. Also says how many entries were read.
    """
    best = -1.0
    record = -1
    i = head
    while i < order.size:
        if (away[i] + drift) * (1.0 + 1e-12) < math.sqrt(max(0.0, best)):  # 1e-12 covers rounding
            break
        p = order[i]
        i += 1
        if group[p] >= 0:
            continue
        square = squared_distance(points, p, centre)
        if square > best or (square == best and p < record):
            best = square
            record = p
    return record, i - head


@jit()
def mdav(points: Floats, k: int) -> Ints:
    r"""Assign records to the groups of MDAV: all have ``k`` records but the last, which has ``k`` to ``2k - 1``.

    While at least 3k records are left: the record farthest from their mean and its k - 1 nearest form a group, then
    the record farthest from that one and its k - 1 nearest. Ties go to the lower record number. Needs ``n >= k``
    and finite values; callers check. Reference: Domingo-Ferrer & Torra (2005), algorithm MDAV-generic.

    >>> mdav(np.array([[42.0], [28], [50], [23], [12], [68], [30], [46], [55], [61]]), 3).tolist()
    [2, 0, 2, 0, 0, 1, 2, 2, 1, 1]
    """
    group = np.full(points.shape[0], -1, np.int64)
    mdav_into(points, k, group)
    return group


@jit()
def mdav_into(points: Floats, k: int, group: Ints) -> None:
    """Do :func:`mdav` in an array that holds -1 before, and meanwhile where a record has no group yet."""
    n, d = points.shape
    total = np.zeros(d)
    error = np.zeros(d)
    everyone = _alive(group, n)
    _add_up(points, everyone, n, 1.0, total, error)
    taken = np.empty(k, np.int64)
    squares = np.empty(k)
    centre = np.empty(d)
    tree = build(points, everyone)
    left = n
    built = n
    label = 0
    anchor = np.zeros(d)
    order = np.empty(0, np.int64)
    away = np.empty(0)
    head = 0
    read = 0  # list entries read since it was ordered
    while left >= 2 * k:
        if 2 * left < built:  # half of the points are gone: a fresh tree has no empty leaves
            tree = build(points, _alive(group, left))
            built = left
        for a in range(d):
            centre[a] = (total[a] + error[a]) / left
        if order.size == 0 or read > SCAN * left:
            order, away = _rank(points, _alive(group, left), centre)
            anchor[:] = centre
            head = 0
            read = 0
        drift = 0.0
        for a in range(d):
            drift += (centre[a] - anchor[a]) * (centre[a] - anchor[a])
        while group[order[head]] >= 0:
            head += 1
        r, count = _rim(points, group, order, away, head, centre, math.sqrt(drift))
        read += count
        count = _take(tree, points[r], k, label, group, taken, squares)
        _add_up(points, taken, count, -1.0, total, error)
        label += 1
        left -= count
        if left >= 2 * k:  # there were 3k: the opposite side gives a group too
            s = farthest(tree, points[r])
            count = _take(tree, points[s], k, label, group, taken, squares)
            _add_up(points, taken, count, -1.0, total, error)
            label += 1
            left -= count
    for i in range(n):
        if group[i] < 0:
            group[i] = label


@jit()
def v_mdav(points: Floats, k: int, gamma: float) -> Ints:
    r"""Assign records to the groups of V-MDAV: sizes from ``k`` to ``2k - 1`` that follow the density of the data.

    Seeds are taken by falling distance from the mean of all records. A group of k grows while the nearest free record
    is nearer to it than ``gamma`` times that record's distance to the other free records. Fewer than k records that
    are left over join the group whose mean is nearest, so a group may pass 2k - 1 there. Reference: Solanas &
    Martínez-Ballesté (2006).

    >>> v_mdav(np.array([[0.0], [1], [2], [3], [50], [51], [52]]), 3, 0.2).tolist()
    [1, 1, 1, 1, 0, 0, 0]
    """
    n, d = points.shape
    group = np.full(n, -1, np.int64)
    centre = np.zeros(d)
    for i in range(n):
        for a in range(d):
            centre[a] += points[i, a] / n
    key = np.empty(n)
    for i in range(n):
        key[i] = -squared_distance(points, i, centre)
    seeds = np.argsort(key, kind="mergesort")
    tree = build(points, _alive(group, n))
    built = n
    taken = np.empty(k, np.int64)
    squares = np.empty(k)
    first = np.empty(1, np.int64)
    first_square = np.empty(1)
    two = np.empty(2, np.int64)
    two_squares = np.empty(2)
    members = np.empty(2 * k - 1, np.int64)
    near = np.empty(2 * k - 1, np.int64)  # nearest free record of each member, and how near
    nearness = np.empty(2 * k - 1)
    left = n
    label = 0
    position = 0
    while left >= k:
        if 2 * left < built:
            tree = build(points, _alive(group, left))
            built = left
        while group[seeds[position]] >= 0:
            position += 1
        size = _take(tree, points[seeds[position]], k, label, group, taken, squares)
        left -= size
        for i in range(size):
            members[i] = taken[i]
            near[i] = -1
        while size < 2 * k - 1 and left > 0 and gamma > 0.0:
            best = -1
            inner = math.inf
            for i in range(size):
                if near[i] < 0 or group[near[i]] >= 0:
                    nearest(tree, points[members[i]], 1, first, first_square)
                    near[i] = first[0]
                    nearness[i] = first_square[0]
                if nearness[i] < inner or (nearness[i] == inner and near[i] < best):
                    inner = nearness[i]
                    best = near[i]
            outer = math.inf
            if left > 1:  # the nearest living record is the record itself, so the second one is asked for
                nearest(tree, points[best], 2, two, two_squares)
                outer = two_squares[1]
            if math.sqrt(inner) >= gamma * math.sqrt(outer):
                break
            remove(tree, best)
            group[best] = label
            members[size] = best
            near[size] = -1
            size += 1
            left -= 1
        label += 1
    if left > 0:
        _join_nearest(points, group, label)
    return group


@jit()
def _join_nearest(points: Floats, group: Ints, groups: int) -> None:
    """Label each record without a group with the group of the nearest mean."""
    n, d = points.shape
    means = np.zeros((groups, d))
    sizes = np.zeros(groups, np.int64)
    for i in range(n):
        if group[i] >= 0:
            sizes[group[i]] += 1
            for a in range(d):
                means[group[i], a] += points[i, a]
    for g in range(groups):
        for a in range(d):
            means[g, a] /= sizes[g]
    for i in range(n):
        if group[i] < 0:
            best = math.inf
            for g in range(groups):
                square = squared_distance(points, i, means[g])
                if square < best:
                    best = square
                    group[i] = g
