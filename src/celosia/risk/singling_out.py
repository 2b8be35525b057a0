"""Singling-out attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.catalogue import Columns, Risk
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl

    from celosia.statistics.attack_outcome import AttackOutcome
    from celosia.table import Table
    from celosia.views.encoding import Encoded


class SinglingOut(Risk):
    r"""The rate at which predicates that are unique in the release single out one person of the original.

    An intruder looks for combinations of ``size`` columns that one released record has alone (income above …, in that
    village, of that age) and claims that exactly one real person fits. The attack succeeds when that is so. With a
    ``control`` table of people who were not used for the release, the value is what the release adds:

    .. math:: \frac{r - r_c}{1 - r_c}

    Without one it is the rate r itself, which says little: in a large file rare combinations exist whatever is
    released. The baseline asks random predicates. Both tables are cut to one size, since a predicate meets more
    people in a larger file.

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

    attack: ClassVar[bool] = True

    def value(self, original: Table, protected: Table) -> float:
        """The risk: with a control group what the release adds, else the rate of success."""
        return self._attack(original, protected).risk

    def evidence(self, original: Table, protected: Table) -> dict[str, Any]:
        """The risk with its interval, the rate, the baseline and the control."""
        return self._attack(original, protected).evidence()

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """How many of the predicates single out each original record."""
        import polars as pl

        coded = self._encoded(original, protected)
        hit = np.zeros(len(original), dtype=np.int64)
        people = coded[0]
        for predicate in self._predicates(coded[1]):
            mask = np.ones(len(people), dtype=bool)
            for condition in predicate:
                mask &= condition.holds(people.numbers, people.codes)
            if mask.sum() == 1:
                hit[mask] += 1
        return pl.DataFrame({"singled_out": hit})

    def _attack(self, original: Table, protected: Table) -> AttackOutcome:
        from celosia.statistics.attack_outcome import AttackOutcome
        from celosia.statistics.synthetic_attacks import random_predicates, selected

        def make() -> AttackOutcome:
            coded = self._encoded(original, protected)
            people, release = coded[0], coded[1]
            rng = np.random.default_rng([self.seed, 1])
            if len(coded) == 3 and len(coded[2]) < len(people):
                people = people.take(np.sort(rng.choice(len(people), len(coded[2]), replace=False)))
            predicates = self._predicates(release)

            def singled(asked: Any, table: Encoded) -> int:
                return sum(selected(predicate, table.numbers, table.codes) == 1 for predicate in asked)

            guesses = random_predicates(release.numbers, release.codes, self.size, max(len(predicates), 100), rng)
            baseline = singled(guesses, people) / len(guesses)
            if len(coded) < 3:
                return AttackOutcome(singled(predicates, people), len(predicates), baseline)
            control = coded[2]
            if len(control) > len(people):
                control = control.take(np.sort(rng.choice(len(control), len(people), replace=False)))
            return AttackOutcome(
                singled(predicates, people), len(predicates), baseline, singled(predicates, control), len(predicates)
            )

        return protected.cached((str(self), Same(self.control), Same(original)), make)

    def _predicates(self, release: Encoded) -> list[Any]:
        from celosia.statistics.synthetic_attacks import singling_predicates

        rng = np.random.default_rng([self.seed, 0])
        return singling_predicates(release.numbers, release.codes, self.size, self.attacks, rng)

    def _encoded(self, original: Table, protected: Table) -> tuple[Encoded, ...]:
        from celosia.table.source import open_source
        from celosia.views.encoding import encode, known_columns

        names = known_columns(original, protected, self.columns, numbers=False)
        tables = [original, protected]
        if self.control is not None:
            tables.append(open_source(self.control))
        return encode(tables, names).tables
