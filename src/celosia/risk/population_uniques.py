"""Estimated population uniques."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import Evidence, Memory, Risk

if TYPE_CHECKING:
    import polars as pl

    from celosia.kernels.disclosure.uniqueness.population_uniqueness import Estimate
    from celosia.table import Table


class PopulationUniquesEvidence(Evidence):
    """Estimated share with its interval, and the estimates of all models."""

    interval: list[float]
    uniques: float
    population: float
    model: str
    stays: float
    models: dict[str, float | None]
    reasons: dict[str, str]


class PopulationUniques(Risk):
    r"""The share of the population that is unique on the quasi-identifiers, estimated from the sample.

    .. math:: \hat S_1 / N

    ``model`` is the estimator: ``pitman`` (Pitman's sampling formula), ``zayatz`` (population classes distributed as
    the sample's), ``snb`` (slide negative binomial), or ``dankar``, the rule that picks one by the sampling fraction.
    The evidence has a 95 % interval and the estimates of all models: on real data they may differ by a factor of ten,
    and an interval covers sampling, not a wrong model. Where a model has no estimate the evidence has the reason
    instead, never a 0. The size of the population is ``size`` or the sum of the sampling weights. With a person column
    persons are counted; one with rows in several classes counts in each, and the population likewise. Missing values
    must be read as a category: the models are about classes.

    References: Dankar, El Emam, Neisa & Roffey (2012); Hoshino (2001); Zayatz (1991); Chen & Keller-McNulty (1998).

    >>> import polars as pl, celosia
    >>> ages = [20] * 6 + [21] * 4 + [22] * 2 + [23, 24, 25]
    >>> table = celosia.read(pl.DataFrame({"age": ages}), celosia.Schema.of(quasi=["age"]))
    >>> round(PopulationUniques(model="zayatz", size=60).value(table), 3)
    0.078
    """

    memory: ClassVar[Memory] = "none"
    model: Literal["dankar", "pitman", "zayatz", "snb"] = Field(default="dankar", description="the estimator")
    size: int | None = Field(
        default=None, ge=1, description="number of people in the population; else from the weights"
    )
    seed: int = Field(default=0, ge=0, description="seed of the draws behind the interval")
    examples: ClassVar = ({"model": "zayatz", "size": 40}, {"model": "zayatz", "weights": True})

    def value(self, table: Table) -> float:
        """Return the estimated share of population uniques."""
        return self._estimable(table).share

    def evidence(self, table: Table) -> PopulationUniquesEvidence:
        """Return the share with its interval, the model used, and the estimates of the other models."""
        from celosia.kernels.disclosure.uniqueness.population_uniqueness import ESTIMATORS

        estimate = self._estimable(table)
        others = {name: self._estimate(table, name) for name in ESTIMATORS if name != "dankar"}
        return {
            "value": estimate.share,
            "interval": list(estimate.interval),
            "uniques": estimate.uniques,
            "population": estimate.population,
            "model": estimate.model,
            "stays": estimate.stays,
            "models": {name: (e.share if e.available else None) for name, e in others.items()},
            "reasons": {name: e.reason for name, e in others.items() if not e.available},
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Return the chance of each record to be a population unique, and whether it is unique in the sample."""
        import polars as pl

        classes = table.classes
        alone = classes.on_records(classes.histogram.persons == 1, suppressed=False)
        return pl.DataFrame({"risk": np.where(alone, self._estimable(table).stays, 0.0), "unique": alone})

    def _estimable(self, table: Table) -> Estimate:
        estimate = self._estimate(table, self.model)
        if not estimate.available:
            raise NotApplicable(f"population-uniques: the {estimate.model} model has no estimate: {estimate.reason}.")
        return estimate

    def _estimate(self, table: Table, model: str) -> Estimate:
        from celosia.kernels.disclosure.uniqueness.population_uniqueness import ESTIMATORS
        from celosia.views.population import population_size

        def make() -> Estimate:
            classes = table.classes
            sizes = classes.histogram.persons
            if not len(sizes):
                raise NotApplicable("population-uniques: the table has no records that are not suppressed.")
            if (classes.codes < 0).any():
                raise NotApplicable("population-uniques: missing values must be read as a category of their own.")
            N = population_size(table, self.size)
            return ESTIMATORS[model](sizes, N, np.random.default_rng(self.seed))

        return table.compute_once(("population uniques", model, self.size, self.seed), make)
