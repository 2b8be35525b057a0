"""Nodes of a lattice that is held as arrays: which are open, and what bounds them.

A node is a number: its levels above the lowest ones, the last column running fastest (``strides``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Levels = NDArray[np.int8]
Floats = NDArray[np.float64]


@jit()
def least_open(still: Flags, bound: Floats) -> int:
    """Return the open node with the least bound (rows compared by their first number), the first among equals, or
    -1.
    """
    best = -1
    least = np.inf
    for node in range(len(still)):
        if still[node] and (bound[node, 0] < least or best < 0):
            best = node
            least = bound[node, 0]
    return best


@jit()
def walk_up(node: int, still: Flags, strides: Ints, spans: Ints, draw: int, path: Ints) -> tuple[int, int]:
    """Walk up over open neighbours, drawn in turn, and write the nodes into ``path``; give its length and the draw."""
    m = len(strides)
    up = np.empty(m, dtype=np.int64)
    length = 0
    while True:
        path[length] = node
        length += 1
        count = 0
        for j in range(m):
            if (node // strides[j]) % spans[j] < spans[j] - 1 and still[node + strides[j]]:
                up[count] = node + strides[j]
                count += 1
        if count == 0:
            return length, draw
        draw = (draw * 5 + 3) % 8191  # a fixed sequence without a short period
        node = up[draw % count]


@jit()
def open_side(node: int, below: bool, still: Flags, strides: Ints, spans: Ints, out: Ints) -> int:
    """List the open nodes that are finer (``below``) or coarser than a node, itself included; give how many."""
    m = len(strides)
    low = np.empty(m, dtype=np.int64)
    high = np.empty(m, dtype=np.int64)
    for j in range(m):
        level = (node // strides[j]) % spans[j]
        low[j] = 0 if below else level
        high[j] = level if below else spans[j] - 1
    first = m  # columns from here on run over consecutive numbers
    while first > 0:
        first -= 1
        if high[first] - low[first] + 1 < spans[first]:
            break
    run = (high[first] - low[first] + 1) * strides[first]
    at = low.copy()
    start = 0 if below else node
    count = 0
    while True:
        for step in range(run):
            if still[start + step]:
                out[count] = start + step
                count += 1
        j = first - 1
        while j >= 0 and at[j] == high[j]:
            start -= (at[j] - low[j]) * strides[j]
            at[j] = low[j]
            j -= 1
        if j < 0:
            return count
        at[j] += 1
        start += strides[j]


@jit()
def raise_penalty(nodes: Ints, levels: Levels, by_level: Floats, penalty: Floats) -> int:
    """Raise what nodes add to each column's sum at least; move those that change to the front and count them."""
    m = levels.shape[1]
    changed = 0
    for i in range(len(nodes)):
        node = nodes[i]
        rose = False
        for j in range(m):
            add = by_level[j, levels[node, j]]
            if add > penalty[node, j]:
                penalty[node, j] = add
                rose = True
        if rose:
            nodes[i] = nodes[changed]
            nodes[changed] = node
            changed += 1
    return changed


class Nodes(NamedTuple):
    """Nodes of a lattice: which are open, their bounds, and the strides to their neighbours."""

    still: Flags
    bound: Floats
    facts: Floats
    """Floor, gap and columns of each node."""
    strides: Ints
    spans: Ints
    listed: Ints
    """Buffer for a list of nodes; it is overwritten."""


class Rise(NamedTuple):
    """Bounds learnt about some nodes, and how they combine."""

    floor: float
    gap: float
    least: float
    adds: bool
    """Whether the gap adds to the floor."""
    whole: bool
    """Whether scores are whole numbers."""
    best: float
    """The score from which a bound closes its node."""


@jit()
def raise_bounds(chosen: Ints, nodes: Nodes, rise: Rise) -> None:
    r"""Raise the bounds of the chosen nodes, and close those whose bound reaches the best.

    .. math:: bound = \max(floor + gap, columns + gap, least)

    without the gap in the first where it does not add, and rounded up where scores are whole numbers.
    """
    still, bound, facts, _, _, _ = nodes
    floor, gap, least, adds, whole, best = rise
    for i in range(len(chosen)):
        node = chosen[i]
        low, more, columns = max(facts[node, 0], floor), max(facts[node, 1], gap), facts[node, 2]
        facts[node, 0] = low
        facts[node, 1] = more
        lowest = max(low + more if adds else low, columns + more, least, bound[node, 0])
        if whole:
            lowest = np.ceil(lowest - 1e-6)
        bound[node, 0] = lowest
        if lowest >= best:
            still[node] = False


@jit()
def raise_side(node: int, below: bool, nodes: Nodes, rise: Rise) -> None:
    """Raise the bounds of all open nodes finer (``below``) or coarser than a node."""
    count = open_side(node, below, nodes.still, nodes.strides, nodes.spans, nodes.listed)
    raise_bounds(nodes.listed[:count], nodes, rise)


@jit()
def smallest_finer(lower: Levels, rows: Ints, count: int, levels: Levels) -> int:
    """Return the table with the fewest rows among those (rows of ``lower``) that are finer than a node."""
    best = -1
    for i in range(count):
        if best >= 0 and rows[i] >= rows[best]:
            continue
        fits = True
        for j in range(len(levels)):
            if lower[i, j] > levels[j]:
                fits = False
                break
        if fits:
            best = i
    return best
