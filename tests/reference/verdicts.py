"""The cases in which all ways to a verdict are compared: models × bounds × situations, and what is not mended yet."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from tests.reference.examples import EXAMPLES, Example, bounds, population_of
from tests.reference.tables import Situation, situations

SITUATIONS = {s.name: s for s in situations(0)}
ON_DUCKDB = ("persons-missing", "wildcard", "persons-suppressed", "generalised-suppressed")
SEARCHED = ("plain", "persons", "persons-missing", "persons-subset", "one-row", "one-person")
SEARCHED += ("persons-suppressed",)
FUZZY = ("q-anonymity", "fuzzy-l-diversity", "fuzzy-t-closeness")
LOGARITHMIC = ("delta-disclosure", "population-uniqueness")
"""Models whose value is no fraction: a value on the bound has no meaning."""
COMPARING = ("beta-likeness", "delta-disclosure", "t-closeness", "fuzzy-t-closeness")


@dataclass(frozen=True)
class Unmended:
    """A known disagreement: where it shows, until it is mended. Delete the entry with the mend."""

    reason: str
    ways: tuple[str, ...] = ()
    situations: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    parameters: tuple[tuple[str, object], ...] = ()
    persons: bool | None = None

    def covers(self, way: str, situation: Situation, example: Example) -> bool:
        return (
            (not self.ways or way in self.ways)
            and (not self.situations or situation.name in self.situations)
            and (not self.models or example.model in self.models)
            and all(example.parameters.get(name) == value for name, value in self.parameters)
            and self.persons in (None, situation.table.person is not None)
        )


UNMENDED: tuple[Unmended, ...] = (
    Unmended(
        "a recoded column is compared with what a subset holds of it, not with the input",
        situations=("recoded-subset", "subset-recoded"),
        models=COMPARING,
    ),
    Unmended("values merged into others keep the old distribution", situations=("merged",), models=COMPARING),
    Unmended(
        "compared with the release itself instead of the input, and without the declared order and hierarchy",
        ways=("verify",),
        models=("t-closeness", "beta-likeness", "delta-disclosure"),
    ),
    Unmended(
        "a suppressed record is not recognised when other sensitive columns join the quasi-identifiers",
        ways=("verify",),
        parameters=(("others", "quasi"),),
    ),
)


def unmended(way: str, situation: Situation, example: Example) -> bool:
    return any(entry.covers(way, situation, example) for entry in UNMENDED)


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


def tried(way: str, name: str) -> list[Case]:
    """The cases of a situation in which a way must agree already."""
    return [case for case in cases(name) if not unmended(way, SITUATIONS[name], case.example)]


def near(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(b))
