"""Linkability attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Attack, Columns
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.risk.bases.attack_outcome import AttackOutcome, OutcomeEvidence
    from celosia.table import Table


class Linkability(Attack):
    r"""The rate at which an intruder can link two partial records of one person through a release.

    The intruder has the ``first`` columns of a person from one place and the ``second`` ones from another. She
    looks up the ``neighbours`` nearest released records for each part; when both lists share a record she claims a
    link:

    .. math:: N_k(a_{first}) \cap N_k(a_{second}) \ne \emptyset

    With a ``control`` table of people who were not used for the release the value is what the release adds, :math:`(r -
    r_c)/(1 - r_c)`: a good model of the population links a little by itself. The baseline draws the neighbours at
    random. With a person column persons are tried, each with the mean of her records. Distances are Gower's.
    Without given columns the shared ones are cut in two halves.

    References: Giomi et al. (2023); Article 29 Working Party, Opinion 05/2014 on anonymisation techniques.

    >>> import polars as pl, celosia
    >>> people = celosia.read(pl.DataFrame({"age": list(range(40)), "pay": [i * 7 % 40 for i in range(40)]}))
    >>> Linkability(first=["age"], second=["pay"]).value(people, people)
    1.0
    """

    first: Columns | None = Field(default=None, description="columns of the one partial record")
    second: Columns | None = Field(default=None, description="columns of the other partial record")
    neighbours: int = Field(default=1, ge=1, description="nearest released records of each part")
    attacks: int = Field(default=500, ge=1, description="people that are tried; all when there are fewer")
    control: Source = Field(default=None, description="table of people who were not used for the release")
    seed: int = Field(default=0, ge=0, description="seed of the choice of people")
    examples: ClassVar = ({"first": ["x"], "second": ["y"]}, {"first": ["x"], "second": ["y"], "control": True})

    def value(self, original: Table, protected: Table) -> float:
        """Return the risk: with a control group what the release adds, else the rate of success."""
        return self._attack(original, protected)[0].risk

    def evidence(self, original: Table, protected: Table) -> OutcomeEvidence:
        """Return the risk with its interval, the rate, the baseline and the control."""
        return self._attack(original, protected)[0].evidence()

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return whether each person that was tried could be linked; missing for people who were not tried."""
        import polars as pl

        _, people, linked = self._attack(original, protected)
        linked_by_record: list[bool | None] = [None] * len(original)
        for person, hit in zip(people.tolist(), linked.tolist(), strict=True):
            linked_by_record[person] = hit
        return pl.DataFrame({"linked": pl.Series(linked_by_record, dtype=pl.Boolean)})

    def _attack(self, original: Table, protected: Table) -> tuple[AttackOutcome, NDArray[np.int64], NDArray[np.bool_]]:
        from celosia.risk.bases.attack_outcome import AttackOutcome
        from celosia.risk.bases.synthetic_attacks import chance_overlap
        from celosia.views.persons import open_people

        def make() -> tuple[AttackOutcome, NDArray[np.int64], NDArray[np.bool_]]:
            rng = np.random.default_rng(self.seed)
            baseline = chance_overlap(len(protected), self.neighbours)
            people, linked, means = self._attack_people(original, protected, rng)
            if self.control is None:
                return AttackOutcome(float(means.sum()), len(means), baseline), people, linked
            others = self._attack_people(open_people(self.control, original), protected, rng)[2]
            outcome = AttackOutcome(float(means.sum()), len(means), baseline, float(others.sum()), len(others))
            return outcome, people, linked

        return protected.compute_once((str(self), Same(self.control), Same(original)), make)

    def _attack_people(
        self, people: Table, release: Table, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]:
        """Return the records of the people who are tried, whether each is linked, and the share of each person."""
        from celosia.views.persons import by_person, person_codes, some_persons

        person = person_codes(people)
        rows = some_persons(person, self.attacks, rng)
        linked = self._can_link(people, release, rows, rng)
        return rows, linked, by_person(linked.astype(np.float64), person[rows])

    def _can_link(
        self, people: Table, release: Table, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        from celosia.risk.bases.synthetic_attacks import gower_nearest, overlap, ranges
        from celosia.views.comparing.encoding import encode

        lists = []
        for names in self._halves(people, release):
            ours, theirs = encode([people, release], names).tables
            some = ours.take(rows)
            near, _ = gower_nearest(
                (some.numbers, some.codes),
                (theirs.numbers, theirs.codes),
                ranges(ours.numbers, theirs.numbers),
                self.neighbours,
                rng,
            )
            lists.append(near)
        return overlap(lists[0], lists[1])

    def _halves(self, people: Table, release: Table) -> tuple[list[str], list[str]]:
        from celosia.views.comparing.encoding import known_columns

        if self.first is not None and self.second is not None:
            return list(self.first), list(self.second)
        shared = known_columns(people, release, None, numbers=False)
        rest = [name for name in shared if name not in (self.first or ()) and name not in (self.second or ())]
        if self.first is not None or self.second is not None:
            halves = (list(self.first or rest), list(self.second or rest))
        else:
            halves = (rest[: len(rest) // 2], rest[len(rest) // 2 :])
        if not halves[0] or not halves[1]:
            raise NotApplicable("linkability: at least two shared columns are needed, one for each partial record.")
        return halves
