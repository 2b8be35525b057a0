"""Risks of a file a second time: from the frequencies of its records, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from celosia.checker.rows import Plain


def prosecutor(table: Plain) -> float:
    """1 over the smallest frequency of a record."""
    return max((1 / frequency for frequency, _ in table.patterns()), default=0.0)


def uniqueness(table: Plain) -> float:
    """The share of persons who are alone; one with several combinations counts with each."""
    patterns = table.patterns()
    persons = sum(number for _, number in patterns)
    return float(Fraction(sum(number for frequency, number in patterns if frequency == 1), persons)) if persons else 0.0


def homogeneity(table: Plain, share: float = 1.0) -> float:
    """The share of persons in a class where one value is that of (nearly) all of its persons."""
    disclosed = persons = 0
    for numbers in table.classes().values():
        size = table.persons(numbers)
        most = max((max(table.counts(numbers, name).values()) for name in table.sensitive), default=0)
        persons += size
        disclosed += size if most / size >= share else 0
    return float(Fraction(disclosed, persons)) if persons else 0.0


RISKS: dict[str, Callable[..., float]] = {
    "homogeneity": homogeneity,
    "k-advice": uniqueness,
    "prosecutor": prosecutor,
    "uniqueness": uniqueness,
}
