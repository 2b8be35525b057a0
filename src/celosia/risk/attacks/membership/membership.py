"""Membership inference by the nearest released record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Attack, AttackEvidence, Columns
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class MembershipEvidence(AttackEvidence):
    """Advantage, accuracy, and the area under the curve."""

    accuracy: float
    accuracy_interval: list[float]
    area: float
    area_interval: list[float]
    attacks: int
    better_than_guessing: bool


class Membership(Attack):
    r"""The advantage of membership inference by the distance to the nearest released record.

    People whose data were used tend to have a released record nearer to them than others. The intruder holds full
    records of people, half of them from the original and half from the ``control`` table of people who were not
    used, and calls those with the nearer released record members:

    .. math:: \text{advantage} = 2\,\text{accuracy} - 1, \qquad \text{member if } \min_j d(a, x'_j) < \text{median}

    The evidence has the accuracy with its interval (the baseline is 1/2) and the area under the curve, the chance
    that a member is nearer than a non-member. It cannot be measured without a control table drawn from the same
    population; a control that differs otherwise (later year, other region) makes the attack look strong. With a person
    column people are persons, each with the mean distance of her records.

    References: Shokri et al. (2017); Hilprecht, Härterich & Bernau (2019); Stadler, Oprisanu & Troncoso (2022).

    >>> import polars as pl, celosia
    >>> people = celosia.read(pl.DataFrame({"pay": [i * 10.0 for i in range(30)]}))
    >>> others = pl.DataFrame({"pay": [i * 10.0 + 4 for i in range(30)]})
    >>> Membership(control=others).value(people, people)
    1.0
    """

    columns: Columns | None = Field(
        default=None, description="columns that the intruder knows; all shared ones when not given"
    )
    control: Source = Field(default=None, description="table of people who were not used for the release")
    attacks: int = Field(default=500, ge=2, description="people of each table that are tried")
    seed: int = Field(default=0, ge=0, description="seed of the choice of people")
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({"columns": ["x", "y"], "control": True},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the advantage over a coin; 0 when there is none."""
        return float(self.evidence(original, protected)["value"])

    def evidence(self, original: Table, protected: Table) -> MembershipEvidence:
        """Return the advantage and its interval, accuracy, baseline, and the area under the curve with its interval."""
        from celosia.kernels.statistics.intervals import wilson

        members, others = self._distances(original, protected)
        threshold = float(np.median(np.concatenate([members, others])))
        # at the threshold itself the intruder tosses a coin
        right = (members < threshold).sum() + (others > threshold).sum()
        right = right + 0.5 * ((members == threshold).sum() + (others == threshold).sum())
        n = len(members) + len(others)
        accuracy = float(right) / n
        low, high = wilson(float(right), n)
        area, spread = _area(members, others)
        return {
            "value": max(0.0, 2 * accuracy - 1),
            "interval": [max(0.0, 2 * low - 1), max(0.0, 2 * high - 1)],
            "accuracy": accuracy,
            "accuracy_interval": [low, high],
            "baseline": 0.5,
            "area": area,
            "area_interval": [max(0.0, area - 1.96 * spread), min(1.0, area + 1.96 * spread)],
            "attacks": n,
            "better_than_guessing": low > 0.5,
        }

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the distance of each original record to the nearest released one (Gower, mean over the columns)."""
        import polars as pl

        return pl.DataFrame({"distance": self._nearest(original, protected, np.arange(len(original)))})

    def _distances(self, original: Table, protected: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        from celosia.views.persons import by_person, open_people, person_codes, some_persons

        if self.control is None:
            raise NotApplicable(
                "membership: give a control table of people who were not used for the release; without one it is "
                "unknown whether members are nearer than others."
            )

        def make() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            tables = original, open_people(self.control, original)
            persons = [person_codes(table) for table in tables]
            rng = np.random.default_rng(self.seed)
            n = min(self.attacks, *(len(np.unique(person)) for person in persons))
            if n < 2:
                raise NotApplicable("membership: at least two people are needed in each table.")
            near = []
            for table, person in zip(tables, persons, strict=True):
                rows = some_persons(person, n, rng)
                near.append(by_person(self._nearest(table, protected, rows), person[rows]))
            return near[0], near[1]

        return protected.compute_once((str(self), Same(self.control), Same(original)), make)

    def _nearest(self, people: Table, release: Table, rows: NDArray[Any]) -> NDArray[np.float64]:
        from celosia.risk.bases.synthetic_attacks import gower_nearest, ranges
        from celosia.views.comparing.encoding import encode, known_columns

        names = known_columns(people, release, self.columns, numbers=False)
        ours, theirs = encode([people, release], names).tables
        some = ours.take(rows)
        # the ranges of the release alone: they must not depend on whose distances are measured
        widths = ranges(theirs.numbers)
        rng = np.random.default_rng(self.seed)
        _, distance = gower_nearest((some.numbers, some.codes), (theirs.numbers, theirs.codes), widths, 1, rng)
        return distance[:, 0] / len(names)


def _area(members: NDArray[np.float64], others: NDArray[np.float64]) -> tuple[float, float]:
    """Return the chance that a member is nearer than a non-member (ties half), and its standard error.

    References: Hanley & McNeil (1982).
    """
    from scipy.stats import rankdata

    m, n = len(members), len(others)
    ranks = rankdata(np.concatenate([members, others]))
    area = float(1 - (ranks[:m].sum() - m * (m + 1) / 2) / (m * n))
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)) / (m * n)
    return area, float(np.sqrt(max(variance, 0.0)))
