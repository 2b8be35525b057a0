"""Multidimensional partitioning (Mondrian): one round of cuts over all open groups.

A group is a segment of a permutation of the records. A round proposes one cut per group, by the widest
column that can still be cut; the caller accepts or rejects it. LeFevre, DeWitt & Ramakrishnan (2006).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from celosia.kernels.arrays import Flags, Floats, Ints, Small
from celosia.kernels.jit import jit

ORDERED = 0
"""A column that is cut by the order of its codes and as wide as its range of values."""
TREE = 1
"""A column that is cut into the children of a hierarchy node and as wide as the share of leaves below it."""
SET = 2
"""A column of labels without a hierarchy: cut by the order of its codes, as wide as its share of distinct
labels.
"""

CUTS_TRIED = 32
"""With targets or persons, the cuts of one column that are tried from the middle outwards (each costs one
pass).
"""


class Columns(NamedTuple):
    """The quasi-identifiers as the kernel reads them.

    ``codes[j]`` are dense codes below ``sizes[j]``. ``value[value_at[j] + c]`` is the position of code ``c``
    in [0, 1] (ordered columns). A tree column's leaves are numbered so that each node is a range of codes;
    ``node[node_at[j] + v * sizes[j] + c]`` is the node of leaf ``c`` at level ``v`` and ``share`` at the same
    place the share of the domain below it, 0 for a single value; level 0 are the leaves, the last level is
    one node.
    """

    codes: Small
    kinds: Ints
    sizes: Ints
    weights: Floats
    value: Floats
    value_at: Ints
    node: Small
    node_at: Ints
    share: Floats


class Need(NamedTuple):
    """How many a group must hold: ``k``, or the largest of its members' ``targets`` (empty: none), counted in
    persons (empty: records).
    """

    k: int
    targets: Ints
    person: Small


@jit()
def distinct_in(perm: Ints, lo: int, hi: int, code: Small, seen: Ints) -> int:
    """Count the distinct codes of a segment; ``seen`` is scratch space whose first cell counts the calls."""
    seen[0] += 1
    stamp = seen[0]
    count = 0
    for p in range(lo, hi):
        c = code[perm[p]] + 1
        if seen[c] != stamp:
            seen[c] = stamp
            count += 1
    return count


@jit()
def common_level(columns: Columns, j: int, low: int, high: int) -> int:
    """Find the lowest level at which the leaves ``low`` to ``high`` of a hierarchy lie below one node."""
    level, at, size = 0, columns.node_at[j], columns.sizes[j]
    while columns.node[at + level * size + low] != columns.node[at + level * size + high]:
        level += 1
    return level


@jit()
def width_of(columns: Columns, j: int, perm: Ints, lo: int, hi: int, seen: Ints) -> float:
    """Normalised width of a segment in one column: range, share of leaves below the common node, or share of
    labels.
    """
    code, size = columns.codes[j], columns.sizes[j]
    if columns.kinds[j] == SET:
        return float((distinct_in(perm, lo, hi, code, seen) - 1) / max(size - 1, 1))
    low = high = code[perm[lo]]
    for p in range(lo + 1, hi):
        c = code[perm[p]]
        low = min(low, c)
        high = max(high, c)
    if columns.kinds[j] == ORDERED:
        return float(columns.value[columns.value_at[j] + high] - columns.value[columns.value_at[j] + low])
    level = common_level(columns, j, low, high)
    return float(columns.share[columns.node_at[j] + level * size + low])


@jit()
def enough(perm: Ints, lo: int, hi: int, need: Need, seen: Ints) -> bool:
    """Return whether a segment holds as many records, or persons, as its members need."""
    target = need.k
    if need.targets.size > 0:
        for p in range(lo, hi):
            target = max(target, need.targets[perm[p]])
    if hi - lo < target:
        return False
    return need.person.size == 0 or distinct_in(perm, lo, hi, need.person, seen) >= target


@jit()
def order_segment(perm: Ints, lo: int, hi: int, code: Small, size: int, scratch: Ints) -> None:
    """Sort a segment by its codes, keeping the order of equal records."""
    m = hi - lo
    if size <= 4 * m + 16:  # counting sort pays while the table of codes is not much longer than the segment
        start = np.zeros(size + 1, np.int64)
        for p in range(lo, hi):
            start[code[perm[p]] + 1] += 1
        for c in range(size):
            start[c + 1] += start[c]
        for p in range(lo, hi):
            c = code[perm[p]]
            scratch[start[c]] = perm[p]
            start[c] += 1
    else:
        keys = np.empty(m, np.int64)
        for p in range(m):
            keys[p] = code[perm[lo + p]]
        order = np.argsort(keys, kind="mergesort")
        for p in range(m):
            scratch[p] = perm[lo + order[p]]
    perm[lo:hi] = scratch[:m]


@jit()
def next_border(perm: Ints, code: Small, at: int, step: int, lo: int, hi: int) -> int:
    """Walk from a position to the nearest place between two different codes, up or down, or to the end of the
    segment.
    """
    while lo < at < hi and code[perm[at]] == code[perm[at - 1]]:
        at += step
    return at


@jit()
def cut_ordered(perm: Ints, lo: int, hi: int, code: Small, strict: bool, nearest: bool, need: Need, seen: Ints) -> int:
    """Return the position of the cut in a sorted segment, or -1 when no cut is allowed.

    The cut lies behind the median value; with ``nearest`` at the allowed place nearest to the middle. When
    not ``strict`` the records that share the median value may fall on both sides.
    """
    middle = lo + (hi - lo + 1) // 2
    if not strict:
        fits = enough(perm, lo, middle, need, seen) and enough(perm, middle, hi, need, seen)
        return middle if fits else -1
    up = next_border(perm, code, middle, 1, lo, hi)
    down = next_border(perm, code, middle - 1, -1, lo, hi) if nearest else lo
    tries = 0
    while (up < hi or down > lo) and tries < CUTS_TRIED:
        rise = up < hi and (down <= lo or up - middle <= middle - down)
        cut = up if rise else down
        if cut - lo >= need.k and hi - cut >= need.k:
            tries += 1
            if enough(perm, lo, cut, need, seen) and enough(perm, cut, hi, need, seen):
                return cut
        if not nearest:
            return -1
        if rise:
            up = next_border(perm, code, up + 1, 1, lo, hi)
        else:
            down = next_border(perm, code, down - 1, -1, lo, hi)
    return -1


@jit()
def cut_tree(columns: Columns, j: int, perm: Ints, lo: int, hi: int, need: Need, seen: Ints, borders: Ints) -> int:
    """Write the borders between the children of the segment's common node; returns how many, or 0 when a
    child is too small.
    """
    code, size = columns.codes[j], columns.sizes[j]
    level = common_level(columns, j, code[perm[lo]], code[perm[hi - 1]]) - 1
    at = columns.node_at[j] + level * size
    borders[0] = lo
    count = 1
    start = lo
    for p in range(lo + 1, hi + 1):
        if p == hi or columns.node[at + code[perm[p]]] != columns.node[at + code[perm[p - 1]]]:
            if p - start < need.k or not enough(perm, start, p, need, seen):
                return 0
            borders[count] = p
            count += 1
            start = p
    return count


@jit()
def propose(
    perm: Ints, bounds: Ints, tried: Flags, columns: Columns, need: Need, strict: bool, nearest: bool
) -> tuple[Ints, Ints, Ints]:
    """Propose one cut for each open group, reordering its segment of ``perm``.

    ``bounds`` holds the segments (from, to). Columns marked in ``tried`` are skipped; those that are tried
    now are marked. Returns the column cut in each group (-1: none), and the groups' new borders with their
    starts: group ``g`` falls into the parts between ``borders[starts[g]:starts[g + 1]]``.
    """
    groups = bounds.shape[0]
    q, n = columns.codes.shape
    most = columns.sizes.max()
    if need.person.size > 0:
        most = max(most, need.person.max() + 1)
    seen = np.zeros(most + 1, np.int64)
    scratch = np.empty(n, np.int64)
    width = np.empty(q, np.float64)
    column = np.full(groups, -1, np.int64)
    starts = np.zeros(groups + 1, np.int64)
    borders = np.empty(3 * groups + n + 1, np.int64)
    used = 0
    for g in range(groups):
        lo, hi = bounds[g, 0], bounds[g, 1]
        starts[g] = used
        if hi - lo < 2 * need.k:
            continue
        for j in range(q):
            width[j] = -1.0 if tried[g, j] else columns.weights[j] * width_of(columns, j, perm, lo, hi, seen)
        while column[g] < 0:
            j = int(np.argmax(width))
            if width[j] <= 0:
                break
            tried[g, j] = True
            width[j] = -1.0
            order_segment(perm, lo, hi, columns.codes[j], columns.sizes[j], scratch)
            if columns.kinds[j] == TREE:
                parts = cut_tree(columns, j, perm, lo, hi, need, seen, borders[used:])
            else:
                cut = cut_ordered(
                    perm, lo, hi, columns.codes[j], strict or columns.kinds[j] == SET, nearest, need, seen
                )
                parts = 0 if cut < 0 else 3
                if parts:
                    borders[used], borders[used + 1], borders[used + 2] = lo, cut, hi
            if parts:
                column[g] = j
                used += parts
    starts[groups] = used
    return column, starts, borders[:used].copy()
