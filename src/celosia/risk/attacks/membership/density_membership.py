"""Membership inference by a ratio of densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.risk.attacks.membership.membership import Membership
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class DensityMembership(Membership):
    r"""The advantage of membership inference by the ratio of the densities of the release and of the population.

    A released record near to a person means little in a dense region. The intruder has a sample of the population
    (half of the ``control`` table), and compares how dense the release and that sample are around a person:

    .. math:: \frac{\hat p_{release}(a)}{\hat p_{population}(a)} \propto \left(\frac{r_{population}(a)}{r_{release}(a)}
              \right)^d

    with r the Gower distance to the ``neighbours``-th nearest record. Those with the higher ratio are called members.
    The other half of the control table are the people who were not used. A generator that overfits in thin regions is
    found by this and not by plain distance. Advantage, accuracy, area, intervals and the baseline are those of
    :class:`~celosia.risk.Membership`. With a person column people are persons, each with the mean of her records.

    References: van Breugel, Sun, Qian & van der Schaar (2023), *Membership inference attacks against synthetic data
    through overfitting detection* (DOMIAS).

    >>> import polars as pl, celosia
    >>> rng = np.random.default_rng(1)
    >>> people, others = (pl.DataFrame({"pay": rng.lognormal(size=300)}) for _ in range(2))
    >>> used = celosia.read(people)
    >>> DensityMembership(control=others, neighbours=1).value(used, used) > 0.9
    True
    """

    neighbours: int = Field(default=3, ge=1, description="rank of the neighbour whose distance estimates a density")
    examples: ClassVar = (
        {"columns": ["x", "y"], "control": True, "neighbours": 1},
        {"columns": ["x", "y"], "control": True, "neighbours": 2},
    )

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the ratio of the distances to the release and to the population: low for a member."""
        import polars as pl

        population = self.draw_people(original)[2]
        return pl.DataFrame({"ratio": self._ratio(original, protected, original, population, np.arange(len(original)))})

    def draw_people(self, original: Table) -> tuple[Ints, Ints, Ints]:
        """Draw records of members, of as many non-members, and of the people who stand for the population."""
        from celosia.views.persons import person_codes, some_persons

        people = self._people(original)
        own, person = person_codes(original), person_codes(people)
        rng = np.random.default_rng(self.seed)
        population = some_persons(person, len(np.unique(person)) // 2, rng)
        outside = np.setdiff1d(np.arange(len(people)), population)
        n = min(self.attacks, len(np.unique(own)), len(np.unique(person[outside])))
        if n < 2 or len(population) < self.neighbours:
            raise NotApplicable("density-membership: the control table has too few people.")
        return some_persons(own, n, rng), outside[some_persons(person[outside], n, rng)], population

    def _people(self, original: Table) -> Table:
        from celosia.views.persons import open_people

        if self.control is None:
            raise NotApplicable(
                "density-membership: give a control table of people who were not used for the release; half of them "
                "stand for the population."
            )
        return open_people(self.control, original)

    def _distances(self, original: Table, protected: Table) -> tuple[Floats, Floats]:
        from celosia.views.persons import by_person, person_codes

        def make() -> tuple[Floats, Floats]:
            used, unused, population = self.draw_people(original)
            people = self._people(original)
            members = self._ratio(original, protected, original, population, used)
            others = self._ratio(original, protected, people, population, unused)
            return by_person(members, person_codes(original)[used]), by_person(others, person_codes(people)[unused])

        return protected.compute_once((str(self), Same(self.control), Same(original)), make)

    def _ratio(self, original: Table, release: Table, whose: Table, population: Ints, rows: Ints) -> Floats:
        """Return the distance to the release over that to the population, for some records of a table."""
        from celosia.risk.bases.synthetic_attacks import gower_nearest, ranges
        from celosia.views.comparing.encoding import encode, known_columns

        names = known_columns(original, release, self.columns, numbers=False)
        ours, shown, people = encode([whose, release, self._people(original)], names).tables
        some, usual = ours.take(rows), people.take(population)
        widths = ranges(shown.numbers)  # of the release alone: they must not depend on whose distances are measured
        k = min(self.neighbours, len(shown), len(usual))
        near, far = (
            gower_nearest((some.numbers, some.codes), (t.numbers, t.codes), widths, k, np.random.default_rng(0))[1]
            for t in (shown, usual)
        )
        return np.asarray((near[:, -1] + 1e-12) / (far[:, -1] + 1e-12), dtype=np.float64)
