"""Individual risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NotRequired

import numpy as np
from pydantic import Field

from celosia.parts import Evidence, Memory, Risk
from celosia.table.source import Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class IndividualRiskEvidence(Evidence):
    """Mean and highest risk, expected re-identifications, and the records that stand out."""

    highest: float
    expected: float
    records: int
    unique: int
    risky: int
    threshold: NotRequired[float | None]


class IndividualRisk(Risk):
    r"""The chance that a link of a person to a sampled record is right (Benedetti and Franconi).

    With f the frequency of the record's quasi-identifiers in the sample, :math:`\hat F` the one in the population
    (the sum of the sampling weights, or counted in a ``population`` table) and :math:`\hat p = f / \hat F`,

    .. math:: r = E[1/F \mid f] = \frac{\hat p}{f}\,{}_2F_1(1, 1; f+1; 1-\hat p)
              \approx \frac{\hat p}{f - (1 - \hat p)}

    Without weights and population it is 1/f: the file is then taken as the whole population. The value is the mean over
    the records (persons, with a person column; one with rows in several classes counts in each); the evidence adds
    the expected number of re-identifications, the records that stand out (above the median by ``deviations`` robust
    deviations and above ``floor``) and, with ``wanted``, the record risk above which records must be protected to
    reach that mean. A suppressed record has risk 0 and does not count. The model assumes a negative binomial population
    frequency: it is weak for weights that vary within a class.

    References: Benedetti & Franconi (1998); Franconi & Polettini (2004).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 31], "w": [50.0, 60.0, 17.0]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], weight="w"))
    >>> IndividualRisk().records(table)["risk"].round(5).to_list()
    [0.01714, 0.01714, 0.17708]
    """

    memory: ClassVar[Memory] = "none"
    exact: bool = Field(default=False, description="evaluate the exact form for every f, not the usual approximation")
    alpha: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="how far a missing value counts as a match (sdcMicro); else the schema says",
    )
    population: Source = Field(default=None, description="table of the population with the raw quasi-identifiers")
    deviations: float = Field(
        default=2.0, ge=0, description="robust deviations above the median from which a record stands out"
    )
    floor: float = Field(default=0.0, ge=0, le=1, description="risk below which no record stands out")
    wanted: float | None = Field(default=None, gt=0, le=1, description="mean risk to reach, for the threshold")
    examples: ClassVar = ({}, {"population": 30}, {"weights": True})

    def value(self, table: Table) -> float:
        """Return the mean risk of the records; 0 without records."""
        return _mean(np.repeat(self._patterns(table)[0], table.classes.histogram.persons))

    def evidence(self, table: Table) -> IndividualRiskEvidence:
        """Mean and highest risk, expected re-identifications, and the records that stand out."""
        from celosia.kernels.disclosure.uniqueness.individual_risk import risk_threshold, risky_records

        classes = table.classes
        risk, f, _ = self._patterns(table)
        each = np.repeat(risk, classes.histogram.persons)
        evidence: IndividualRiskEvidence = {
            "value": _mean(each),
            "highest": float(each.max(initial=0.0)),
            "expected": float(each.sum()),
            "records": len(each),
            "unique": int(classes.histogram.persons[f == 1].sum()),
            "risky": int(risky_records(each, self.deviations, self.floor).sum()),
        }
        if self.wanted is not None:
            evidence["threshold"] = risk_threshold(each, self.wanted)
        return evidence

    def records(self, table: Table) -> pl.DataFrame:
        """Risk, sample frequency f and population frequency F of each record."""
        import polars as pl

        named = dict(zip(("risk", "f", "F"), self._patterns(table), strict=True))
        return pl.DataFrame({name: table.classes.on_records(own, suppressed=0) for name, own in named.items()})

    def _patterns(self, table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return risk, f and F of each class."""
        from celosia.views.record_risk import pattern_risks

        return pattern_risks(table, exact=self.exact, alpha=self.alpha, population=self.population)


def _mean(risk: NDArray[np.float64]) -> float:
    return float(risk.mean()) if len(risk) else 0.0
