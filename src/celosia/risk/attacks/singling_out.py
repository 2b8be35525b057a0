"""Singling-out attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from celosia.parts import Attack, Columns
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.risk.bases.attack_outcome import AttackOutcome, OutcomeEvidence
    from celosia.risk.bases.synthetic_attacks import Condition
    from celosia.table import Table
    from celosia.views.comparing.encoding import Encoded

    Predicate = tuple[Condition, ...]


class SinglingOut(Attack):
    r"""The rate at which predicates that are unique in the release single out one person of the original.

    An intruder looks for combinations of ``size`` columns that one released record has alone (income above …, in that
    village, of that age) and claims that exactly one real person fits. The attack succeeds when that is so. With a
    ``control`` table of people who were not used for the release, the value is what the release adds:

    .. math:: \frac{r - r_c}{1 - r_c}

    Without one it is the rate r itself, which says little: in a large file rare combinations exist whatever is
    released. The baseline asks random predicates. Both tables are cut to one size, since a predicate meets more
    people in a larger file. With a person column a predicate singles out a person when all records that it selects are
    hers, and sizes are numbers of persons. A missing value fits no predicate.

    References: Giomi et al. (2023); Article 29 Working Party, Opinion 05/2014 on anonymisation techniques.

    >>> import polars as pl, celosia
    >>> people = celosia.read(pl.DataFrame({"age": list(range(40)), "pay": [i * 7 % 40 for i in range(40)]}))
    >>> SinglingOut(attacks=50).value(people, people)
    1.0
    """

    columns: Columns | None = Field(
        default=None, description="columns that predicates may use; all shared ones when not given"
    )
    size: int = Field(default=3, ge=1, description="columns in a predicate")
    attacks: int = Field(default=500, ge=1, description="predicates that are tried")
    control: Source = Field(default=None, description="table of people who were not used for the release")
    seed: int = Field(default=0, ge=0, description="seed of the predicates")
    examples: ClassVar = (
        {"columns": ["x", "y"], "size": 2, "attacks": 20},
        {"columns": ["x", "y"], "size": 1, "attacks": 20, "control": True},
    )

    def value(self, original: Table, protected: Table) -> float:
        """Return the risk: with a control group what the release adds, else the rate of success."""
        return self._attack(original, protected).risk

    def evidence(self, original: Table, protected: Table) -> OutcomeEvidence:
        """Return the risk with its interval, the rate, the baseline and the control."""
        return self._attack(original, protected).evidence()

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the number of predicates that single out each original record."""
        import polars as pl

        people, release, *_ = self._encode(original, protected)
        hit = np.zeros(len(original), dtype=np.int64)
        for predicate in self._predicates(release):
            hit += people.select_one_person(predicate)
        return pl.DataFrame({"singled_out": hit})

    def _attack(self, original: Table, protected: Table) -> AttackOutcome:
        from celosia.risk.bases.attack_outcome import AttackOutcome
        from celosia.risk.bases.synthetic_attacks import random_predicates
        from celosia.views.persons import some_persons

        def make() -> AttackOutcome:
            people, release, *control = self._encode(original, protected)
            rng = np.random.default_rng([self.seed, 1])
            size = min(len(np.unique(table.person)) for table in (people, *control))
            cut = [table.take(some_persons(table.person, size, rng)) for table in (people, *control)]
            predicates = self._predicates(release)
            number = max(len(predicates), 100)
            guesses = random_predicates(release.cells.numbers, release.cells.codes, self.size, number, rng)
            baseline = float(np.mean([cut[0].select_one_person(guess).any() for guess in guesses]))
            successes = [sum(bool(table.select_one_person(each).any()) for each in predicates) for table in cut]
            if len(cut) == 1:
                return AttackOutcome(successes[0], len(predicates), baseline)
            return AttackOutcome(successes[0], len(predicates), baseline, successes[1], len(predicates))

        return protected.compute_once((str(self), Same(self.control), Same(original)), make)

    def _predicates(self, release: People) -> list[Predicate]:
        from celosia.risk.bases.synthetic_attacks import singling_predicates

        rng = np.random.default_rng([self.seed, 0])
        return singling_predicates(
            release.cells.numbers, release.cells.codes, self.size, self.attacks, rng, release.person
        )

    def _encode(self, original: Table, protected: Table) -> list[People]:
        from celosia.views.comparing.encoding import encode, known_columns
        from celosia.views.persons import open_people, person_codes

        names = known_columns(original, protected, self.columns, numbers=False)
        tables = [original, protected]
        if self.control is not None:
            tables.append(open_people(self.control, original))
        coded = encode(tables, names).tables
        return [People(cells, person_codes(table)) for cells, table in zip(coded, tables, strict=True)]


class People(NamedTuple):
    """Encoded records of a table, with the person of each."""

    cells: Encoded
    person: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> People:
        """Return some of the records."""
        return People(self.cells.take(rows), self.person[rows])

    def select_one_person(self, predicate: Predicate) -> NDArray[np.bool_]:
        """Return the records that a predicate selects when they are one person's; none otherwise."""
        from celosia.risk.bases.synthetic_attacks import singled_out

        return singled_out(predicate, self.cells.numbers, self.cells.codes, self.person)
