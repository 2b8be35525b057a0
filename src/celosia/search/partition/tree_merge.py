"""Bottom-up merging of the leaves of one tree until every class is as large as its members require.

It serves composite places (province, canton, district) treated as one attribute; a class of rows whose persons
required more protection must be larger. Classes grow by joining the class before them under the same parent, and
move up one level when the whole parent is too small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Size = Callable[[tuple[int, ...]], int]
"""Function from a set of leaves to its number of records, or persons."""


@dataclass(frozen=True)
class Class:
    """Leaves that are published together, under the node ``level`` steps above the leaves."""

    leaves: tuple[int, ...]
    level: int


def merge(
    nodes: Ints, size: Size, need: Sequence[int] | Ints, *, short_first: bool = False
) -> tuple[list[Class], list[Class]]:
    """Merge the leaves of a tree into classes of at least the largest ``need`` of their leaves.

    ``nodes[v, i]`` is the node of leaf ``i`` at level ``v``; level 0 are the leaves in path order, the last
    level is the root. Returns the classes that are large enough, and those that are too small at the root (one
    or none). With ``short_first`` classes that are too small join each other before they join one that is
    already large enough.

    >>> tree = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> count = [5, 2, 2, 1]
    >>> done, left = merge(tree, lambda leaves: sum(count[i] for i in leaves), [2, 2, 2, 2])
    >>> [(c.leaves, c.level) for c in done], left
    ([((0,), 0), ((1,), 0), ((2, 3), 1)], [])
    """

    def fits(leaves: tuple[int, ...]) -> bool:
        return size(leaves) >= max(need[i] for i in leaves)

    classes = [Class((i,), 0) for i in range(nodes.shape[1])]
    for level in range(1, len(nodes)):
        merged: list[Class] = []
        for family in _families(nodes[level], classes):
            merged += _join(family, level, fits, short_first=short_first)
        classes = merged
    return [c for c in classes if fits(c.leaves)], [c for c in classes if not fits(c.leaves)]


def _families(row: Ints, classes: Sequence[Class]) -> list[list[Class]]:
    """Group classes by their ancestor at a level; ``row`` is the ancestor of every leaf."""
    by_node: dict[int, list[Class]] = {}
    for class_ in classes:
        by_node.setdefault(int(row[class_.leaves[0]]), []).append(class_)
    return list(by_node.values())


def _join(
    family: list[Class], level: int, fits: Callable[[tuple[int, ...]], bool], *, short_first: bool
) -> list[Class]:
    """Join classes that are too small with those before them, else with those after them, under one parent.

    A family that is too small as a whole stays one class and moves up a level.
    """
    if len(family) == 1:
        return family
    if short_first:
        family = _short_together(family, level, fits)
    done: list[Class] = []
    waiting = list(family)
    while waiting:
        now = waiting.pop(0)
        # the class before it first: leaves stand in path order, so the nearest place is the one just done
        while not fits(now.leaves) and (done or waiting):
            other = done.pop() if done else waiting.pop(0)
            now = Class(tuple(sorted(other.leaves + now.leaves)), level)
        done.append(now)
    return done


def _short_together(family: list[Class], level: int, fits: Callable[[tuple[int, ...]], bool]) -> list[Class]:
    """Join classes that are too small with each other, in order, until each union is large enough."""
    joined: list[Class] = []
    now: Class | None = None
    for class_ in family:
        if fits(class_.leaves):
            joined.append(class_)
            continue
        now = class_ if now is None else Class(tuple(sorted(now.leaves + class_.leaves)), level)
        if fits(now.leaves):
            joined.append(now)
            now = None
    if now is not None:
        joined.append(now)
    return sorted(joined, key=lambda c: c.leaves)
