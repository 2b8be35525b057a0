"""Base class of attacks with a chance of success for each record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NotRequired, cast

import numpy as np

from celosia.errors import NotApplicable
from celosia.parts import Attack, AttackEvidence
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Success:
    """Success of an attack, record by record, with baseline and control."""

    risk: Floats
    """Chance of success with each record of the original, in its order; 0 for one that was not released, NaN for one
    that was not attacked.
    """
    baseline: float
    """Success rate of guessing."""
    control: Floats | None = None
    """Chance of success with less knowledge: without the certificate, or without earlier releases."""
    records: Mapping[str, Any] = field(default_factory=dict)
    """Further columns, one value per record of the original."""
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Further numbers of the evidence."""


class SuccessEvidence(AttackEvidence):
    """Mean chance of success with baseline and control; further keys are the ``parts`` of the attack."""

    records: int
    control: NotRequired[float]
    control_interval: NotRequired[list[float]]
    better_than_control: NotRequired[bool]
    due_to_the_certificate: NotRequired[bool]
    read: NotRequired[list[str]]


class _SuccessAttack(Attack):
    """An attack whose value is the mean chance of success over persons. A subclass implements :meth:`run`."""

    def run(self, original: Table, protected: Table) -> Success:
        """Run the attack on every record."""
        raise NotImplementedError

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean chance of success over persons."""
        return float(self._by_person(original, self._success(original, protected).risk).mean())

    def evidence(self, original: Table, protected: Table) -> SuccessEvidence:
        """Return the value with its interval, the baseline, and the control."""
        from celosia.kernels.statistics.intervals import newcombe, wilson

        success = self._success(original, protected)
        chance = self._by_person(original, success.risk)
        value, n = float(chance.mean()), len(chance)
        evidence: SuccessEvidence = {
            "value": value,
            "interval": list(wilson(value * n, n)),
            "baseline": success.baseline,
            "records": n,
        }
        if success.control is not None:
            control = float(self._by_person(original, success.control).mean())
            evidence["control"] = control
            evidence["control_interval"] = list(wilson(control * n, n))
            evidence["better_than_control"] = newcombe((value * n, n), (control * n, n))[0] > 0
        return cast("SuccessEvidence", {**evidence, **success.parts})

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the chance of success with each record of the original, and further columns of the attack."""
        import polars as pl

        success = self._success(original, protected)
        return pl.DataFrame({"risk": success.risk, **success.records}, nan_to_null=True)

    def _success(self, original: Table, protected: Table) -> Success:
        if not len(original):
            raise NotApplicable(f"{self.name}: there is no record that could be attacked.")
        key = (str(self), Same(original), *map(Same, self._second_tables()))
        return protected.compute_once(key, lambda: self.run(original, protected))

    def _second_tables(self) -> tuple[Any, ...]:
        """Return the second tables among the parameters, which are not in the text of the part."""
        return ()

    def _by_person(self, original: Table, values: Floats) -> Floats:
        from celosia.views.persons import by_person, person_codes

        attacked = ~np.isnan(values)
        return by_person(values[attacked], person_codes(original)[attacked])
