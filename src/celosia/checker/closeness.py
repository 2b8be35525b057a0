"""Earth mover's distance between two distributions of a column."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from celosia.checker.rows import Plain

Shares = Mapping[Any, Fraction]


def distance(table: Plain, column: str, p: Shares, q: Shares, how: str) -> Fraction:
    """Earth mover's distance with the ground distance ``how``."""
    if how == "hierarchical":
        return _on_tree(table, column, p, q)
    domain = table.domain(column)
    gap = [p.get(value, Fraction(0)) - q.get(value, Fraction(0)) for value in domain]
    if how == "equal":
        return sum((abs(g) for g in gap), Fraction(0)) / 2
    moved, total = Fraction(0), Fraction(0)
    for g, step in zip(gap, _steps(domain, how), strict=False):
        moved += g
        total += step * abs(moved)
    return total


def _steps(domain: list[Any], how: str) -> list[Fraction]:
    """Ground distance from each value to the next: equal, or the difference as a share of the range."""
    if how == "ordered":
        return [Fraction(1, max(len(domain) - 1, 1))] * (len(domain) - 1)
    numbers = [Fraction(str(value)) for value in domain if value is not None]
    width = numbers[-1] - numbers[0] if len(numbers) > 1 else Fraction(1)
    steps = [(b - a) / width for a, b in itertools.pairwise(numbers)]
    # a missing value lies one mean gap above the largest
    return [*steps, Fraction(1, max(len(numbers) - 1, 1))] if None in domain else steps


def _on_tree(table: Plain, column: str, p: Shares, q: Shares) -> Fraction:
    """Sum over the nodes what their children exchange, times the height of the node (Li, Li & Venkatasubramanian)."""
    domain = table.domain(column)
    paths = [(value, *table.path(column, value)[1:]) for value in domain]
    height = len(paths[0]) - 1
    total = Fraction(0)
    extra = {(0, value): p.get(value, Fraction(0)) - q.get(value, Fraction(0)) for value in domain}
    for level in range(1, height + 1):
        children: dict[Any, set[Any]] = {}
        for path in paths:
            children.setdefault(path[level], set()).add(path[level - 1])
        for node, below in children.items():
            amounts = [extra[level - 1, child] for child in below]
            surplus = sum((a for a in amounts if a > 0), Fraction(0))
            lack = -sum((a for a in amounts if a < 0), Fraction(0))
            total += Fraction(level, height) * min(surplus, lack)
            extra[level, node] = sum(amounts, Fraction(0))
    return total
