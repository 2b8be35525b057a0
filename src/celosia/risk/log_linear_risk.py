"""Risk of sample uniques by a log-linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Evidence, Memory, Risk

if TYPE_CHECKING:
    import polars as pl

    from celosia.risk.log_linear import LogLinear
    from celosia.table import Table


class LogLinearEvidence(Evidence):
    """Both estimates with intervals, the interactions of the model, and its standardised bias."""

    interval: list[float]
    tau1: float
    tau1_interval: list[float]
    tau2: float
    tau2_interval: list[float]
    unique: int
    interactions: list[list[str]]
    misfit: float


class LogLinearRisk(Risk):
    r"""The expected share of right links to sample uniques, by a Poisson log-linear model of the key table.

    .. math:: \hat\tau_1 = \sum_{f_k = 1} e^{-(1-\pi)\hat\lambda_k}, \qquad
              \hat\tau_2 = \sum_{f_k = 1} \frac{1 - e^{-(1-\pi)\hat\lambda_k}}{(1-\pi)\hat\lambda_k}, \qquad
              \hat\lambda_k = \hat\mu_k / \pi

    τ1 is the number of sample uniques that are population uniques, τ2 the number of right links; the value is
    :math:`\hat\tau_2 / n`, both with 95 % intervals are in the evidence. ``form`` is the model: ``stepwise``
    adds two-way interactions of the quasi-identifiers until the estimated bias is gone, ``two-way`` has all of them
    (too many for a small table: risk is then underrated), ``independence`` none (risk is then overrated). The
    sampling fraction π comes from ``size`` or the weights, the same for all records. It needs the table of all
    combinations of the quasi-identifiers in memory, at most 2^24 cells, but for independence.

    References: Skinner & Holmes (1998); Skinner & Shlomo (2008).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": [0, 1] * 20, "age": [i % 7 for i in range(39)] + [9]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["sex", "age"]))
    >>> round(LogLinearRisk(size=400, form="independence").evidence(table)["tau2"], 2)
    0.22
    """

    memory: ClassVar[Memory] = "none"
    form: Literal["stepwise", "two-way", "independence"] = Field(default="stepwise", description="terms of the model")
    size: int | None = Field(
        default=None, ge=1, description="number of people in the population; else from the weights"
    )
    replicates: int = Field(default=20, ge=2, description="simulated samples behind the intervals")
    seed: int = Field(default=0, ge=0, description="seed of the simulated samples")
    examples: ClassVar = ({"form": "independence", "size": 40}, {"form": "independence", "weights": True})

    def value(self, table: Table) -> float:
        """Return the expected right links to sample uniques, as a share of the records."""
        return self._fit(table).tau2 / int(table.classes.histogram.persons.sum())

    def evidence(self, table: Table) -> LogLinearEvidence:
        """Return both estimates with intervals, the interactions in the model, and its standardised bias."""
        fit = self._fit(table)
        classes = table.classes
        n = int(classes.histogram.persons.sum())
        return {
            "value": fit.tau2 / n,
            "interval": [bound / n for bound in fit.tau2_interval],
            "tau1": fit.tau1,
            "tau1_interval": list(fit.tau1_interval),
            "tau2": fit.tau2,
            "tau2_interval": list(fit.tau2_interval),
            "unique": int((classes.histogram.persons == 1).sum()),
            "interactions": [[classes.histogram.names[a], classes.histogram.names[b]] for a, b in fit.interactions],
            "misfit": fit.misfit,
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Return expected 1/F of each sample unique, and its chance to be a population unique; 0 for all others."""
        import polars as pl

        classes, fit = table.classes, self._fit(table)
        return pl.DataFrame(
            {
                "risk": classes.on_records(fit.match, suppressed=0),
                "unique": classes.on_records(fit.unique, suppressed=0),
            }
        )

    def _fit(self, table: Table) -> LogLinear:
        from celosia.risk.log_linear import log_linear
        from celosia.views.population import population_size

        def make() -> LogLinear:
            classes = table.classes
            codes, persons = classes.codes, classes.histogram.persons
            n = int(persons.sum())
            if n == 0:
                raise NotApplicable("log-linear-risk: the table has no records that are not suppressed.")
            if (codes < 0).any():
                raise NotApplicable("log-linear-risk: missing values must be read as a category of their own.")
            pi = n / population_size(table, self.size)
            rng = np.random.default_rng(self.seed)
            return log_linear(codes, persons.astype(np.float64), min(pi, 1.0), rng, self.form, self.replicates)

        return table.compute_once(("log-linear", self.form, self.size, self.replicates, self.seed), make)
