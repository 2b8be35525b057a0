"""The cases in which all ways to a verdict are compared: models × bounds × situations."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from tests.reference.examples import EXAMPLES, Example, bounds, population_of
from tests.reference.tables import situations

SITUATIONS = {s.name: s for s in situations(0)}
ON_DUCKDB = ("persons-missing", "wildcard", "persons-suppressed", "generalised-suppressed")
SEARCHED = ("plain", "persons", "persons-missing", "persons-subset", "one-row", "one-person")
SEARCHED += ("persons-suppressed",)
FUZZY = ("q-anonymity", "fuzzy-l-diversity", "fuzzy-t-closeness")
LOGARITHMIC = ("delta-disclosure", "population-uniqueness")
"""Models whose value is no fraction: a value on the bound has no meaning."""
COMPARING = ("beta-likeness", "delta-disclosure", "t-closeness", "fuzzy-t-closeness")


@dataclass(frozen=True)
class Case:
    """A model with a bound, and the slow verdict."""

    example: Example
    part: dict[str, object]
    value: float
    holds: bool

    def __str__(self) -> str:
        bound = self.part[self.example.bound]
        return f"{self.example} with {self.example.bound}={bound}: {self.value:g}, {'holds' if self.holds else 'fails'}"


@functools.cache
def cases(name: str) -> tuple[Case, ...]:
    """Every model that has a meaning for a situation, with a bound that holds and one that fails."""
    situation = SITUATIONS[name]
    plain, people = situation.plain(), population_of(situation.table)
    found = []
    for example in EXAMPLES:
        for bound in bounds(example, plain, people) if example.suits(plain) else ():
            found.append(Case(example, example.part(people, bound), *example.measured(plain, people, bound)))
    return tuple(found)


def near(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(b))
