"""Through which columns a record is reached, and which of them to blank: searches over sets of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

Chance = Callable[[frozenset[str]], float]
"""The chance to reach a record by a set of columns."""

LARGEST = 3  # columns in a set: more are not looked at, they number too many


def reaching(chance: Chance, columns: Sequence[str], limit: float) -> list[tuple[str, ...]]:
    """The smallest sets of columns by which the chance is at least ``limit``; all columns when no set of three is.

    >>> reaching(lambda s: 1.0 if {"age", "zip"} <= s or "job" in s else 0.1, ["age", "zip", "job"], 0.5)
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


def cheapest(
    chances: Sequence[tuple[Chance, Sequence[str]]], cost: Mapping[str, float], limit: float
) -> tuple[str, ...] | None:
    """The cheapest columns to take away so that every chance falls below ``limit``; None when three are not enough.

    Each chance comes with the columns that it looks at. Of equally cheap sets the first in the order of columns counts.

    >>> reached = lambda s: 1.0 if {"age", "zip"} <= s else 0.1
    >>> cheapest([(reached, ["age", "zip"])], {"age": 3.0, "zip": 2.0}, 0.5)
    ('zip',)
    """
    columns = sorted(cost, key=lambda name: cost[name])
    sets = [chosen for size in range(min(LARGEST, len(columns)) + 1) for chosen in combinations(columns, size)]
    for chosen in sorted(sets, key=lambda each: sum(cost[name] for name in each)):
        if all(chance(frozenset(seen) - set(chosen)) < limit for chance, seen in chances):
            return chosen
    return None
