"""Second implementation of risks of a file, from the frequencies of its records."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction

from celosia.checker.rows import Plain


def prosecutor(table: Plain) -> float:
    """1 over the smallest frequency of a record."""
    return max((1 / frequency for frequency, _ in table.patterns()), default=0.0)


def uniqueness(table: Plain) -> float:
    """Share of unique persons; one with several combinations counts with each."""
    patterns = table.patterns()
    persons = sum(number for _, number in patterns)
    return float(Fraction(sum(number for frequency, number in patterns if frequency == 1), persons)) if persons else 0.0


def homogeneity(table: Plain, share: float = 1.0) -> float:
    """Share of persons in classes where at least ``share`` of the persons have the same value."""
    disclosed = persons = 0
    for numbers in table.classes().values():
        size = table.persons(numbers)
        most = max((_largest_share(table, numbers, name) for name in table.sensitive), default=Fraction(0))
        persons += size
        disclosed += size if most >= share else 0
    return float(Fraction(disclosed, persons)) if persons else 0.0


def _largest_share(table: Plain, numbers: Sequence[int], column: str) -> Fraction:
    """Share of the most frequent value among the known ones; of missing ones where none is known."""
    shown = [i for i in numbers if table.rows[i][column] not in (None, "*")]
    if not shown:
        return Fraction(table.counts(numbers, column).get(None, 0), table.persons(numbers))
    return Fraction(max(table.counts(shown, column).values()), table.persons(shown))


def _highest(risk: Callable[..., float]) -> Callable[..., float]:
    """Apply a risk to every interpretation of a table and return the highest value."""

    @functools.wraps(risk)
    def highest(table: Plain, **parameters: object) -> float:
        return max(risk(each, **parameters) for each in table.readings())

    return highest


RISKS: dict[str, Callable[..., float]] = {
    "homogeneity": _highest(homogeneity),
    "k-advice": _highest(uniqueness),
    "prosecutor": _highest(prosecutor),
    "uniqueness": _highest(uniqueness),
}
