"""Targeted record swapping: exchange the areas of households that stand out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError
from celosia.methods.bases.cells import Impossible, combine_codes, created_impossible
from celosia.methods.bases.units import Units, distinct_counts, units_of
from celosia.parts import Columns, Method, Overwritten, PersonUnit, Private
from celosia.table import Outcome
from celosia.table.columns import declared_persons

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

    Ints = NDArray[np.int64]


class RecordSwap(Method):
    r"""Exchange the areas of households that are at risk with like households elsewhere (targeted record swapping).

    A record is at risk in an area when fewer than ``k`` records of the area (persons, where a person column is
    declared) share its values of ``risk``:

    .. math:: f_h(x) = \#\{y : y_Q = x_Q,\ \mathrm{area}_h(y) = \mathrm{area}_h(x)\} < k

    ``geography`` lists the areas from coarse to fine. Level by level, each household with a member at risk changes
    places with a random household that agrees on ``similar`` (and in size) and lies in another area of that level,
    within the same area one level up. Households that find no partner are tried again with fewer columns of ``similar``
    (the last first), then with any size. Then households are drawn until a share ``rate`` of each finest area has
    moved, as far as there are partners. Without a declared household column each person, or each record, is a
    household of one.

    All other columns stay, so every table without geography is exact, and so are counts by area of households that
    agree on ``similar``. It protects by doubt: an intruder who knows how many households moved knows how likely each
    one did, so ``rate`` and the numbers of swaps go to the private record only. Exchanges that create an
    ``impossible`` combination are undone. Fails when areas differ within a household. References: Shlomo, Tudor &
    Groom (2010); the method of the European census.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"area": ["N", "N", "N", "S", "S", "S"], "job": ["x", "x", "y", "x", "y", "y"]})
    >>> method = RecordSwap(geography=["area"], risk=["job"], k=2)
    >>> protected = celosia.protect(celosia.read(data), method, seed=1)
    >>> protected.private_history[-1]["swapped"] > 0, sorted(protected.polars()["area"].to_list())
    (True, ['N', 'N', 'N', 'S', 'S', 'S'])
    """

    geography: Annotated[Columns, Overwritten()] = Field(
        min_length=1, description="columns of areas, from coarse to fine"
    )
    risk: Columns = Field(
        default=(), description="columns that single a record out; the quasi-identifiers outside geography when empty"
    )
    similar: Columns = Field(default=(), description="columns that both households agree on, the most important first")
    k: int = Field(
        default=3, ge=1, description="records or persons of an area that must be alike for none to be at risk"
    )
    rate: Annotated[float, Private()] = Field(
        default=0.0, ge=0, le=1, description="share of households of each area that move in any case"
    )
    relax: bool = Field(default=True, description="drop columns of similar for households that find no partner")
    impossible: Impossible = Field(default=(), description="conditions that no record may come to meet")
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = "records change places with each other"
    examples: ClassVar = (
        {"geography": ["area", "town"], "k": 2, "rate": 0.1},
        {"geography": ["area"], "risk": ["q"], "k": 4},
    )

    @model_validator(mode="after")
    def _check_columns(self) -> RecordSwap:
        both = [name for name in (*self.risk, *self.similar) if name in self.geography]
        if both:
            raise ParameterError(f"record-swap: column {both[0]!r} is an area; it cannot be a risk or similar column.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Exchange the areas."""
        unit = self._households(table)
        areas = [_codes_of(table, self.geography[: h + 1], unit.first) for h in range(len(self.geography))]
        risk = self.risk or tuple(name for name in table.schema.need_quasi() if name not in self.geography)
        profiles = self._profiles(table, unit)
        partner = np.full(len(unit), -1, np.int64)
        rng = stream.rng()
        at_risk: dict[str, int] = {}
        without_partner: dict[str, int] = {}
        for h, name in enumerate(self.geography):
            exposed = self._households_at_risk(table, unit, areas[h], risk)
            upper = areas[h - 1] if h else np.zeros(len(unit), np.int64)
            at_risk[name] = len(exposed)
            without_partner[name] = self._match(exposed, upper, areas[h], profiles, partner, rng)
        if self.rate:
            upper = areas[-2] if len(areas) > 1 else np.zeros(len(unit), np.int64)
            moved = -1
            while moved < int((partner >= 0).sum()):  # until every area has its share, or no partners are left
                moved = int((partner >= 0).sum())
                self._match(self._draw_households(areas[-1], partner, rng), upper, areas[-1], profiles, partner, rng)
        partner = np.where(partner < 0, np.arange(len(unit)), partner)
        done, undone = self._possible(table, unit, partner)
        swapped = int((partner != np.arange(len(unit))).sum())
        private = {"at_risk": at_risk, "without_partner": without_partner, "swapped": swapped, "undone": undone}
        return Outcome(done, {"households": len(unit)}, private)

    def _households(self, table: Table) -> Units:
        kind = "household" if table.schema.household is not None else "person"
        unit = units_of(table, table.schema.household or table.schema.person)
        for name in self.geography:
            differ = unit.count_differing(table, name)
            if differ:
                raise DataError(
                    f"record-swap: {differ} records lie in another area ({name!r}) than the first of their {kind}, "
                    "which moves as a whole. Swap areas that belong to the whole of it, such as those of residence."
                )
        return unit

    def _profiles(self, table: Table, unit: Units) -> list[Ints]:
        """Codes on which partners must agree, from all columns of ``similar`` to none."""
        size = np.bincount(unit.member, minlength=len(unit))
        stages = [self.similar[:i] for i in range(len(self.similar), -1, -1)] if self.relax else [self.similar]
        profiles = [combine_codes([_codes_of(table, names, unit.first), size]) for names in stages]
        return [*profiles, np.zeros(len(unit), np.int64)] if self.relax else profiles

    def _households_at_risk(self, table: Table, unit: Units, area: Ints, risk: Sequence[str]) -> Ints:
        """Find the households with a member whose combination is rare in its area."""
        keys = combine_codes([_codes_of(table, risk, np.arange(len(table))), area[unit.member]])
        persons = declared_persons(table)
        size = np.bincount(keys, minlength=1) if persons is None else distinct_counts(persons.astype(np.int64), keys)
        rare = size[keys] < self.k
        return np.unique(unit.member[rare])

    def _match(
        self, wanted: Ints, upper: Ints, area: Ints, profiles: list[Ints], partner: Ints, rng: np.random.Generator
    ) -> int:
        """Find partners by one profile after the other; return the number of households without one."""
        from celosia.kernels.search.match import match_across

        alone = 0
        for profile in profiles:
            left = rng.permutation(wanted[partner[wanted] < 0])
            if len(left) == 0:
                return 0
            alone = int(match_across(left, combine_codes([upper, profile]), area, partner, rng))
        return alone

    def _draw_households(self, area: Ints, partner: Ints, rng: np.random.Generator) -> Ints:
        """Draw households to move so that each area reaches the rate; each exchange moves two."""
        count = np.bincount(area)
        missing = np.ceil(self.rate * count - np.bincount(area, partner >= 0, minlength=len(count)) - 1e-9)
        free = np.flatnonzero(partner < 0)
        order = free[np.lexsort((rng.random(len(free)), area[free]))]
        start = np.concatenate([[0], np.cumsum(np.bincount(area[free], minlength=len(count)))[:-1]])
        rank = np.arange(len(order)) - start[area[order]]
        # a partner from another area counts there: half of the wanted moves are asked for on each side
        picked: Ints = order[rank < np.ceil(missing[area[order]] / 2)]
        return picked

    def _possible(self, table: Table, unit: Units, partner: Ints) -> tuple[Table, int]:
        undone = 0
        while True:
            source = unit.first[partner][unit.member]
            done = table.replace({name: table.column(name).gather(source) for name in self.geography})
            wrong = created_impossible(self.name, table, done, self.impossible)
            if not wrong.any():
                return done, undone
            hit = np.unique(unit.member[wrong])
            hit = np.concatenate([hit, partner[hit]])
            undone += int((partner[hit] != hit).sum()) // 2
            partner[hit] = hit


def _codes_of(table: Table, names: Sequence[str], rows: Ints) -> Ints:
    """One code per distinct combination of columns, a missing value as a value."""
    if not names:
        return np.zeros(len(rows), np.int64)
    return combine_codes([np.asarray(table.codes(name)[0], dtype=np.int64)[rows] for name in names])
