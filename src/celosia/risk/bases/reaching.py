"""What attacks share that give each record a chance of success: how their success is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import NotApplicable
from celosia.parts import Attack
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reached:
    """What an intruder reaches."""

    risk: Floats
    """Chance of success with each record of the original, in its order; 0 for one that was not released, NaN for one
    that was not attacked.
    """
    baseline: float
    """Rate that guessing reaches."""
    control: Floats | None = None
    """The chance of somebody who goes the same way with less: without the certificate, without earlier releases."""
    records: Mapping[str, Any] = field(default_factory=dict)
    """Further columns, one value per record of the original."""
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Further numbers of the evidence."""


class _ReachingAttack(Attack):
    """An attack whose value is the mean chance of success over persons. A subclass gives :meth:`reach`."""

    def reach(self, original: Table, protected: Table) -> Reached:
        """What the intruder reaches with each record."""
        raise NotImplementedError

    def value(self, original: Table, protected: Table) -> float:
        """The mean chance of success over persons."""
        return float(self._by_person(original, self._reached(original, protected).risk).mean())

    def evidence(self, original: Table, protected: Table) -> dict[str, Any]:
        """The value with its interval, what guessing reaches, and what the same intruder reaches with less."""
        from celosia.kernels.statistics.intervals import newcombe, wilson

        reached = self._reached(original, protected)
        chance = self._by_person(original, reached.risk)
        value, n = float(chance.mean()), len(chance)
        evidence: dict[str, Any] = {
            "value": value,
            "interval": list(wilson(value * n, n)),
            "baseline": reached.baseline,
            "records": n,
        }
        if reached.control is not None:
            control = float(self._by_person(original, reached.control).mean())
            evidence["control"] = control
            evidence["control_interval"] = list(wilson(control * n, n))
            evidence["better_than_control"] = newcombe((value * n, n), (control * n, n))[0] > 0
        return {**evidence, **reached.parts}

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """The chance of success with each record of the original, and what belongs to it."""
        import polars as pl

        reached = self._reached(original, protected)
        return pl.DataFrame({"risk": reached.risk, **reached.records}, nan_to_null=True)

    def _reached(self, original: Table, protected: Table) -> Reached:
        if not len(original):
            raise NotApplicable(f"{self.name}: there is no record that could be attacked.")
        key = (str(self), Same(original), *map(Same, self._second_tables()))
        return protected.cached(key, lambda: self.reach(original, protected))

    def _second_tables(self) -> tuple[Any, ...]:
        """The second tables among the parameters, which their text does not tell apart."""
        return ()

    def _by_person(self, original: Table, values: Floats) -> Floats:
        from celosia.views.persons import by_person, person_codes

        tried = ~np.isnan(values)
        return by_person(values[tried], person_codes(original)[tried])
