"""Smallest sets of columns that identify a record, and cheapest set of columns to blank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

Chance = Callable[[frozenset[str]], float]
"""Chance to identify a record by a set of columns."""

LARGEST = 3
"""Columns in a set: there are too many larger sets to try."""


def smallest_sets(chance: Chance, columns: Sequence[str], limit: float) -> list[tuple[str, ...]]:
    """Smallest sets of columns by which the chance is at least ``limit``; all columns if no set of three is enough.

    >>> smallest_sets(lambda s: 1.0 if {"age", "zip"} <= s or "job" in s else 0.1, ["age", "zip", "job"], 0.5)
    [('job',), ('age', 'zip')]
    """
    smallest: list[tuple[str, ...]] = []
    for size in range(1, min(LARGEST, len(columns)) + 1):
        for chosen in combinations(columns, size):
            inside = any(set(smaller) <= set(chosen) for smaller in smallest)
            if not inside and chance(frozenset(chosen)) >= limit:
                smallest.append(chosen)
    if not smallest and chance(frozenset(columns)) >= limit:
        return [tuple(columns)]
    return smallest


def cheapest_blanking(
    chances: Sequence[tuple[Chance, Sequence[str]]], cost: Mapping[str, float], limit: float
) -> tuple[str, ...] | None:
    """Cheapest columns to blank so that every chance falls below ``limit``; None if three are not enough.

    Each chance comes with the columns that it uses. Of equally cheap sets the first in the order of columns is chosen.

    >>> chance = lambda s: 1.0 if {"age", "zip"} <= s else 0.1
    >>> cheapest_blanking([(chance, ["age", "zip"])], {"age": 3.0, "zip": 2.0}, 0.5)
    ('zip',)
    """
    columns = sorted(cost, key=lambda name: cost[name])
    sets = [chosen for size in range(min(LARGEST, len(columns)) + 1) for chosen in combinations(columns, size)]
    for chosen in sorted(sets, key=lambda each: sum(cost[name] for name in each)):
        if all(chance(frozenset(used) - set(chosen)) < limit for chance, used in chances):
            return chosen
    return None
