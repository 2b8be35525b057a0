"""Linkage by several rows of a person at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.parts import Attack, AttackEvidence
from celosia.table.columns import encoded_column
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


class SeveralRowsEvidence(AttackEvidence):
    """Chance to find a unit, the best single row as control, and units found for certain."""

    control: float
    control_interval: list[float]
    attacks: int
    alone: int
    by: str


class SeveralRows(Attack):
    r"""The chance to find a person by several of her rows, where the release shows which rows belong together.

    Every row may share its class with many people while no other person has all these rows: visits of a patient, the
    members of a household. The intruder knows the quasi-identifiers of up to ``known`` rows of a unit (a person, or a
    household), and looks for the units of the release with a row in each of these classes:

    .. math:: \frac{1}{|\{u : C_1 \cap u \ne \emptyset, \dots, C_m \cap u \ne \emptyset\}|}

    A unit that is found by some rows is known in all of them. The value is the mean over units; the control is the
    intruder who knows only the row with the smallest class. Without a column that joins rows every row is a unit.
    Suppressed rows are not known.

    References: Poulis, Loukides, Gkoulalas-Divanis & Skiadopoulos (2013); Fung, Wang, Chen & Yu (2010), survey.

    >>> import polars as pl, celosia
    >>> visits = pl.DataFrame({"who": [1, 1, 2, 2, 3, 3], "age": [30, 31, 30, 32, 31, 32]})
    >>> table = celosia.read(visits, celosia.Schema.of(quasi=["age"], person="who"))
    >>> SeveralRows(known=1).value(table, table), SeveralRows(known=2).value(table, table)
    (0.5, 1.0)
    """

    by: Literal["person", "household"] = Field(default="person", description="unit that joins rows")
    known: int = Field(default=3, ge=1, description="rows of a unit that the intruder knows")
    attacks: int = Field(default=1000, ge=1, description="units that are tried; all when there are fewer")
    seed: int = Field(default=0, ge=0, description="seed of the choice of units and rows")
    examples: ClassVar = ({"known": 1}, {"known": 2, "attacks": 5}, {"known": 9})

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean chance over units."""
        return float(self.evidence(original, protected)["value"])

    def evidence(self, original: Table, protected: Table) -> SeveralRowsEvidence:
        """Return the chance with its interval, units that are found for certain, baseline and best single row."""
        from celosia.kernels.statistics.intervals import wilson

        _, chance, alone, units = self._outcome(original, protected)
        tried = max(len(chance), 1)
        return {
            "value": float(chance.sum()) / tried,
            "interval": list(wilson(float(chance.sum()), len(chance))),
            "baseline": 1 / max(units, 1),
            "control": float(alone.sum()) / tried,
            "control_interval": list(wilson(float(alone.sum()), len(chance))),
            "attacks": len(chance),
            "alone": int((chance == 1).sum()),
            "by": self.by,
        }

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the chance to find the unit of each record; missing for units that were not tried."""
        import polars as pl

        tried, chance, _, _ = self._outcome(original, protected)
        unit = self._units(original)
        risk = np.full(int(unit.max(initial=0)) + 1, np.nan)
        risk[tried] = chance
        return pl.DataFrame({"risk": risk[unit]}).fill_nan(None)

    def draw_rows(self, original: Table, protected: Table) -> list[Ints]:
        """Draw the released rows that the intruder knows of each unit that is tried."""
        unit, place = self._released_units(original, protected)
        rng = np.random.default_rng(self.seed)
        shown = np.flatnonzero(place >= 0)
        everybody = np.unique(unit[shown])
        chosen = np.sort(rng.choice(everybody, min(self.attacks, len(everybody)), replace=False))
        order = shown[np.argsort(unit[shown], kind="stable")]
        sides = (np.searchsorted(unit[order], chosen, side="left"), np.searchsorted(unit[order], chosen, side="right"))
        return [rng.permutation(order[a:b])[: self.known] for a, b in zip(*sides, strict=True)]

    def _outcome(self, original: Table, protected: Table) -> tuple[Ints, Floats, Floats, int]:
        return protected.compute_once((str(self), Same(original)), lambda: self._run(original, protected))

    def _run(self, original: Table, protected: Table) -> tuple[Ints, Floats, Floats, int]:
        unit, place = self._released_units(original, protected)
        shown = place >= 0
        width = int(unit.max(initial=0)) + 1
        pairs = np.unique(place[shown] * width + unit[shown])
        begin = np.searchsorted(pairs, np.arange(int(place.max(initial=-1)) + 2) * width)
        units, chance, alone = [], [], []
        for rows in self.draw_rows(original, protected):
            lists = [pairs[begin[c] : begin[c + 1]] % width for c in np.unique(place[rows])]
            left = min(lists, key=len)
            for other in lists:
                left = left[np.isin(left, other, assume_unique=True)]
            units.append(int(unit[rows[0]]))
            chance.append(1 / len(left))
            alone.append(1 / min(map(len, lists)))
        everybody = len(np.unique(unit[shown]))
        return np.array(units, dtype=np.int64), np.array(chance), np.array(alone), everybody

    def _units(self, original: Table) -> Ints:
        name = original.schema.person if self.by == "person" else original.schema.household
        if name is None:
            return np.arange(len(original), dtype=np.int64)
        return encoded_column(original, name).codes.astype(np.int64)

    def _released_units(self, original: Table, protected: Table) -> tuple[Ints, Ints]:
        """Return the unit and the class of each released row; -1 for a suppressed one."""
        from celosia.table.pairing import positions

        return self._units(original)[positions(original, protected)], protected.classes.place
