"""Persons of the records of one or two tables: the unit of shares, samples and correct links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from celosia.histogram import number
from celosia.parts import LinkEvidence
from celosia.table.columns import declared_persons
from celosia.table.source import Same

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.kernels.disclosure.own_records import Own
    from celosia.table import Table

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


def person_codes(table: Table) -> Ints:
    """Encode the person of each record; records without an id are one person, without a person column each is one.

    >>> import polars as pl, celosia
    >>> person_codes(celosia.read(pl.DataFrame({"who": ["b", "a", "b"]}), celosia.Schema.of(person="who"))).tolist()
    [1, 0, 1]
    """
    persons = declared_persons(table)
    return np.arange(len(table), dtype=np.int64) if persons is None else persons.astype(np.int64)


def person_shares(table: Table) -> NDArray[np.float64]:
    """Weight each record by 1 / records of its person in its class, so that a person adds up to one; 0 if suppressed.

    Without a person column every record has weight 1.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 31], "who": ["a", "a", "a"]})
    >>> person_shares(celosia.read(data, celosia.Schema.of(quasi=["age"], person="who"))).tolist()
    [0.5, 0.5, 1.0]
    """
    if table.schema.person is None:
        return (~table.counts.suppressed_mask).astype(np.float64)
    pattern = table.classes.place
    pair = number([pattern + 1, person_codes(table)])
    return np.where(pattern >= 0, 1.0 / np.bincount(pair)[pair], 0.0)


def paired_persons(original: Table, protected: Table) -> tuple[Ints, Ints]:
    """Return the persons of the original records and, in the same numbers, of the protected ones."""
    from celosia.table.pairing import positions

    own = person_codes(original)
    return own, own[positions(original, protected)]


def released_persons(original: Table, protected: Table) -> Ints:
    """Return the persons of the protected records, by pairing where their column was not released."""
    if original.schema.person is None or protected.schema.person is not None:
        return person_codes(protected)
    return paired_persons(original, protected)[1]


@dataclass(frozen=True, eq=False)
class Linked:
    """Records that an intruder links: the person of each, and the records of the same person in the other table."""

    person: Ints
    own: Own
    others: int
    """Records of the other table."""

    @classmethod
    def of(cls, original: Table, protected: Table, direction: Literal["original", "protected"]) -> Linked:
        """Link each ``original`` record to protected ones, or each ``protected`` one to originals."""
        from celosia.kernels.disclosure.own_records import Own

        def make() -> Linked:
            ours, theirs = paired_persons(original, protected)
            own, other = (ours, theirs) if direction == "original" else (theirs, ours)
            return cls(own, Own.of(own, other), len(other))

        return protected.compute_once(("linked", direction, Same(original)), make)

    def means(self, values: NDArray[Any]) -> Floats:
        """Average the records of each person."""
        return by_person(values.astype(np.float64), self.person)

    def right(self, links: Ints) -> Floats:
        """Return 1 for each link to a record of the same person, else 0; -1 is no link."""
        return self.own.count(lambda i, j: links[i] == j).astype(np.float64)

    def evidence(self, tries: Iterable[Floats]) -> LinkEvidence:
        """Mean share of correct links over several attempts on all persons, with its interval and baseline."""
        from celosia.kernels.statistics.intervals import wilson

        shares = [float(credit.mean()) for credit in tries]
        value, n = float(np.mean(shares)), len(np.unique(self.person))
        return {"value": value, "interval": list(wilson(value * n, n)), "baseline": self.guess(), "records": n}

    def guess(self) -> float:
        """Share of correct links by chance."""
        return float(self.means(self.own.numbers() / max(self.others, 1)).mean())


def by_person(values: Floats, person: Ints) -> Floats:
    """Average the records of each person; without a person column return the values themselves.

    >>> by_person(np.array([1.0, 0.0, 0.5]), np.array([4, 4, 2])).tolist()
    [0.5, 0.5]
    """
    _, place = np.unique(person, return_inverse=True)
    return np.asarray(np.bincount(place, weights=values) / np.bincount(place), dtype=np.float64)


def some_persons(person: Ints, wanted: int, rng: np.random.Generator) -> Ints:
    """Return the records of a random sample of persons, of all when there are not more."""
    persons = np.unique(person)
    chosen = rng.choice(persons, min(len(persons), wanted), replace=False)
    return np.flatnonzero(np.isin(person, chosen)).astype(np.int64)


def open_people(source: object, like: Table) -> Table:
    """Open a table of other people, with the person column of ``like`` where it has one."""
    from celosia.data.schema import Schema
    from celosia.table.source import open_source

    people = open_source(source)
    person = like.schema.person
    if people.schema.person is None and person is not None and person in people.names:
        return people.with_schema(Schema.of(person=person))
    return people
