"""Distance of released records to the nearest original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Attack, Columns
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


NearestEvidence = TypedDict(
    "NearestEvidence",
    {
        "value": float,
        "interval": list[float],
        "baseline": float,
        "nearer": float,
        "median distance": float,
        "median distance to control": float,
        "attacks": int,
        "better_than_guessing": bool,
    },
)
"""Advantage with its interval, the share of records nearer to the original, and median distances."""


class NearestOriginal(Attack):
    r"""The excess of released records that are nearer to the original than to a control table.

    .. math:: 2 \max\left(0,\ \tfrac1m \sum_j \big([d_j < d'_j] + \tfrac12 [d_j = d'_j]\big) - \tfrac12\right)

    with the Gower distance :math:`d_j` of a released record to the nearest original and :math:`d'_j` to the nearest
    record of a ``control`` table of equal size. A release that only describes the population is as near to both: 0.
    One that repeats its input has 1. Distances alone mean nothing: in a dense file every record is near to some other.
    The larger table is cut to the size of the smaller. With a person column sizes are numbers of persons, and so is m
    where the release has one: each counts with the mean of her records.
    References: Platzer & Reutterer (2021); Yale et al. (2020).

    >>> import polars as pl, celosia
    >>> people = celosia.read(pl.DataFrame({"pay": [i * 10.0 for i in range(30)]}))
    >>> others = pl.DataFrame({"pay": [i * 10.0 + 4 for i in range(30)]})
    >>> NearestOriginal(control=others).value(people, people)
    1.0
    """

    columns: Columns | None = Field(default=None, description="columns that are compared; all shared ones")
    control: Source = Field(default=None, description="table of people who were not used for the release")
    attacks: int = Field(default=1000, ge=2, description="released records that are tried")
    seed: int = Field(default=0, ge=0, description="seed of the choice of records")
    examples: ClassVar = ({"columns": ["x", "y"], "control": True},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the advantage over a coin; 0 when there is none."""
        return float(self.evidence(original, protected)["value"])

    def evidence(self, original: Table, protected: Table) -> NearestEvidence:
        """Return the advantage with its interval, the share that is nearer, and the median distances."""
        from celosia.kernels.statistics.intervals import wilson
        from celosia.views.persons import by_person

        near, far, person = self._distances(original, protected)
        each = by_person((near < far) + 0.5 * (near == far), person)
        nearer = float(each.sum())
        low, high = wilson(nearer, len(each))
        return {
            "value": max(0.0, 2 * nearer / len(each) - 1),
            "interval": [max(0.0, 2 * low - 1), max(0.0, 2 * high - 1)],
            "nearer": nearer / len(each),
            "baseline": 0.5,
            "median distance": float(np.median(near)),
            "median distance to control": float(np.median(far)),
            "attacks": len(each),
            "better_than_guessing": low > 0.5,
        }

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the Gower distance (mean over the columns) of each released record to the nearest original."""
        import polars as pl

        rng = np.random.default_rng(self.seed)
        return pl.DataFrame({"distance": self._nearest([original], protected, np.arange(len(protected)), rng)[0]})

    def _distances(self, original: Table, protected: Table) -> tuple[Floats, Floats, NDArray[np.int64]]:
        from celosia.views.persons import open_people, person_codes, some_persons

        if self.control is None:
            raise NotApplicable(
                "nearest-original: give a control table of people who were not used for the release; a distance alone "
                "does not show whether records are too near."
            )

        def make() -> tuple[Floats, Floats, NDArray[np.int64]]:
            rng = np.random.default_rng(self.seed)
            control = open_people(self.control, original)
            if min(len(original), len(protected), len(control)) < 2:
                raise NotApplicable("nearest-original: at least two records are needed in each table.")
            person = person_codes(protected)
            rows = some_persons(person, self.attacks, rng)
            near, far = self._nearest([original, control], protected, rows, rng)
            return near, far, person[rows]

        return protected.compute_once((str(self), Same(self.control), Same(original)), make)

    def _nearest(
        self, people: list[Table], release: Table, rows: NDArray[Any], rng: np.random.Generator
    ) -> list[Floats]:
        from celosia.risk.bases.synthetic_attacks import gower_nearest, ranges
        from celosia.views.comparing.encoding import encode, known_columns
        from celosia.views.persons import person_codes, some_persons

        names = known_columns(people[0], release, self.columns, numbers=False)
        *originals, released = encode([*people, release], names).tables
        some = released.take(rows)
        persons = [person_codes(table) for table in people]
        size = min(len(np.unique(person)) for person in persons)
        widths = ranges(*(table.numbers for table in originals))
        distances = []
        for table, person in zip(originals, persons, strict=True):
            cut = table.take(some_persons(person, size, rng))
            distance = gower_nearest((some.numbers, some.codes), (cut.numbers, cut.codes), widths, 1, rng)[1]
            distances.append(distance[:, 0] / len(names))
        return distances
