"""A k-d tree whose points can be removed: nearest and farthest queries over what is left.

The tree is a full binary tree in one array (children of ``i`` are ``2i + 1`` and ``2i + 2``), built by median
splits along the widest side. Each node keeps the tight box of its living points; a removal shrinks the boxes on the
way to the root and stops as soon as one does not change. Bounds are computed with the operations of the distance
itself, in the same order: rounding is monotone, so a pruned box can never hide a nearer (or farther) point, and the
answers equal those of a full scan, ties included (the lower record number wins).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Tree = tuple[Any, ...]  # (points, ids, place, begin, alive, leaf, low, high), see build

LEAF = 8  # records per leaf: smaller leaves cost boxes, larger ones cost distances; 6 to 12 measure alike


@jit()
def squared_distance(points: Floats, row: int, x: Floats) -> float:
    """Return the squared distance of one row from ``x``."""
    total = 0.0
    for a in range(x.size):
        gap = points[row, a] - x[a]
        total += gap * gap
    return total


@jit()
def _partition(points: Floats, order: Ints, left: int, right: int, middle: int, axis: int) -> None:
    """Quickselect: after the call ``order[middle]`` is in its sorted place along ``axis``."""
    while right > left:
        pivot = points[order[(left + right) // 2], axis]
        i = left
        j = right
        while i <= j:
            while points[order[i], axis] < pivot:
                i += 1
            while points[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@jit()
def _tighten(tree: Tree, node: int) -> None:
    """Recompute the box of a leaf from its living points."""
    points, _, _, begin, alive, leaf, low, high = tree
    first = begin[node - leaf]
    for a in range(points.shape[1]):
        smallest = math.inf
        largest = -math.inf
        for p in range(first, first + alive[node - leaf]):
            value = points[p, a]
            smallest = min(smallest, value)
            largest = max(largest, value)
        low[node, a] = smallest
        high[node, a] = largest


@jit()
def _join(low: Floats, high: Floats, node: int) -> bool:
    """Set the box of a node to the union of its children's; return whether it changed."""
    changed = False
    for a in range(low.shape[1]):
        smallest = min(low[2 * node + 1, a], low[2 * node + 2, a])
        largest = max(high[2 * node + 1, a], high[2 * node + 2, a])
        if smallest != low[node, a] or largest != high[node, a]:
            changed = True
            low[node, a] = smallest
            high[node, a] = largest
    return changed


@jit()
def build(source: Floats, members: Ints) -> Tree:
    """Build the tree over the rows ``members`` of ``source``.

    Returns the points in tree order, their record numbers, the place of each record in that order (only filled for
    members), per leaf its first place and its number of living points, the number of the first leaf, and the boxes.
    """
    n = members.size
    d = source.shape[1]
    depth = 0
    while (n >> depth) > LEAF:
        depth += 1
    leaves = 1 << depth
    leaf = leaves - 1
    order = members.copy()
    start = np.zeros(2 * leaves, np.int64)
    stop = np.zeros(2 * leaves, np.int64)
    stop[0] = n
    for node in range(leaf):
        first = start[node]
        last = stop[node]
        widest = 0
        width = -1.0
        for a in range(d):
            smallest = math.inf
            largest = -math.inf
            for p in range(first, last):
                value = source[order[p], a]
                smallest = min(smallest, value)
                largest = max(largest, value)
            if largest - smallest > width:
                width = largest - smallest
                widest = a
        middle = (first + last) // 2
        if middle < last:
            _partition(source, order, first, last - 1, middle, widest)
        start[2 * node + 1] = first
        stop[2 * node + 1] = middle
        start[2 * node + 2] = middle
        stop[2 * node + 2] = last
    points = np.empty((n, d))
    place = np.empty(source.shape[0], np.int64)
    for p in range(n):
        place[order[p]] = p
        for a in range(d):
            points[p, a] = source[order[p], a]
    begin = np.empty(leaves, np.int64)
    alive = np.empty(leaves, np.int64)
    low = np.full((2 * leaves - 1, d), math.inf)
    high = np.full((2 * leaves - 1, d), -math.inf)
    for i in range(leaves):
        begin[i] = start[leaf + i]
        alive[i] = stop[leaf + i] - start[leaf + i]
    tree = (points, order, place, begin, alive, leaf, low, high)
    for i in range(leaves):
        _tighten(tree, leaf + i)
    for node in range(leaf - 1, -1, -1):
        _join(low, high, node)
    return tree


@jit()
def remove(tree: Tree, record: int) -> None:
    """Take a living record out: the last living point of its leaf takes its place."""
    points, ids, place, begin, alive, leaf, low, high = tree
    p = place[record]
    left = 0
    right = begin.size - 1
    while left < right:  # the last leaf that begins at or before p
        middle = (left + right + 1) // 2
        if begin[middle] <= p:
            left = middle
        else:
            right = middle - 1
    alive[left] -= 1
    last = begin[left] + alive[left]
    touches = False  # an inner point leaves the box as it is
    for a in range(points.shape[1]):
        value = points[p, a]
        if value <= low[leaf + left, a] or value >= high[leaf + left, a]:
            touches = True
        points[p, a] = points[last, a]
        points[last, a] = value
    other = ids[last]
    ids[last] = record
    ids[p] = other
    place[record] = last
    place[other] = p
    if not touches:
        return
    node = leaf + left
    _tighten(tree, node)
    while node > 0:
        node = (node - 1) // 2
        if not _join(low, high, node):
            return


@jit()
def _least_distance(low: Floats, high: Floats, node: int, x: Floats) -> float:
    """Return the squared distance from ``x`` to the nearest point of a box; infinite for an empty one."""
    total = 0.0
    for a in range(x.size):
        gap = 0.0
        if x[a] < low[node, a]:
            gap = low[node, a] - x[a]
        elif x[a] > high[node, a]:
            gap = x[a] - high[node, a]
        total += gap * gap
    return total


@jit()
def _largest_distance(low: Floats, high: Floats, node: int, x: Floats) -> float:
    """Return the squared distance from ``x`` to the farthest point of a box; minus one for an empty one."""
    if low[node, 0] > high[node, 0]:
        return -1.0
    total = 0.0
    for a in range(x.size):
        gap = max(x[a] - low[node, a], high[node, a] - x[a])
        total += gap * gap
    return total


@jit()
def nearest(tree: Tree, x: Floats, k: int, close: Ints, squares: Floats) -> int:
    """Write the ``k`` nearest living records into ``close`` (nearest first) and return their number."""
    points, ids, _, begin, alive, leaf, low, high = tree
    stack = np.empty(64, np.int64)
    bound = np.empty(64)
    stack[0] = 0
    bound[0] = _least_distance(low, high, 0, x)
    top = 1
    count = 0
    while top > 0:
        top -= 1
        if count == k and bound[top] > squares[k - 1]:
            continue
        node = stack[top]
        while node < leaf:
            near = 2 * node + 1
            far = near + 1
            toward = _least_distance(low, high, near, x)
            away = _least_distance(low, high, far, x)
            if away < toward:
                near, far = far, near
                toward, away = away, toward
            if away < math.inf and not (count == k and away > squares[k - 1]):
                stack[top] = far
                bound[top] = away
                top += 1
            node = near
            if toward == math.inf or (count == k and toward > squares[k - 1]):
                node = -1
                break
        if node < 0:
            continue
        first = begin[node - leaf]
        for p in range(first, first + alive[node - leaf]):
            square = squared_distance(points, p, x)
            if count == k and (square > squares[k - 1] or (square == squares[k - 1] and ids[p] > close[k - 1])):
                continue
            i = count if count < k else k - 1
            while i > 0 and (squares[i - 1] > square or (squares[i - 1] == square and close[i - 1] > ids[p])):
                squares[i] = squares[i - 1]
                close[i] = close[i - 1]
                i -= 1
            squares[i] = square
            close[i] = ids[p]
            if count < k:
                count += 1
    return count


@jit()
def farthest(tree: Tree, x: Floats) -> int:
    """Return the living record farthest from ``x``; -1 when none lives."""
    points, ids, _, begin, alive, leaf, low, high = tree
    stack = np.empty(64, np.int64)
    bound = np.empty(64)
    stack[0] = 0
    bound[0] = _largest_distance(low, high, 0, x)
    top = 1
    best = -1.0
    record = -1
    while top > 0:
        top -= 1
        if bound[top] < best or bound[top] < 0.0:
            continue
        node = stack[top]
        while node < leaf:
            far = 2 * node + 1
            near = far + 1
            away = _largest_distance(low, high, far, x)
            toward = _largest_distance(low, high, near, x)
            if toward > away:
                near, far = far, near
                toward, away = away, toward
            if toward >= best and toward >= 0.0:
                stack[top] = near
                bound[top] = toward
                top += 1
            node = far
            if away < best or away < 0.0:
                node = -1
                break
        if node < 0:
            continue
        first = begin[node - leaf]
        for p in range(first, first + alive[node - leaf]):
            square = squared_distance(points, p, x)
            if square > best or (square == best and ids[p] < record):
                best = square
                record = ids[p]
    return record
