"""Population uniqueness."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from celosia.errors import ParameterError, SchemaError
from celosia.parts import Model

if TYPE_CHECKING:
    from celosia.classes.counts import ClassCounts


class PopulationUniqueness(Model):
    r"""Few people of the population are unique on the quasi-identifiers, by an estimate from the sample.

    .. math:: \hat S_1 / N \le \text{share}

    with the estimator ``model`` (see the risk ``population-uniques``). The requirement is about the point estimate; its
    interval is in the risk. Where the model has no estimate the value is not a number and the requirement does not
    hold; it is never taken as 0. A table without sample uniques has the estimate 0.

    References: Dankar, El Emam, Neisa & Roffey (2012).

    >>> import polars as pl, celosia
    >>> ages = [20] * 6 + [21] * 4 + [22] * 2 + [23, 24, 25]
    >>> table = celosia.read(pl.DataFrame({"age": ages}), celosia.Schema.of(quasi=["age"]))
    >>> PopulationUniqueness(share=0.01, size=60, model="zayatz").holds(table)
    False
    """

    share: float = Field(ge=0, le=1, description="largest allowed share of the population that is unique")
    size: int = Field(ge=1, description="number of people in the population")
    model: Literal["dankar", "pitman", "zayatz", "snb"] = Field(default="dankar", description="the estimator")

    symbol: ClassVar[str] = "unique share of the population"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    scope: ClassVar[Literal["class", "file"]] = "file"
    examples: ClassVar = ({"size": 100, "model": "zayatz"},)

    def bound(self) -> float:
        """Return the largest allowed share."""
        return self.share

    def score(self, classes: ClassCounts) -> float:
        """Return the estimated share; 0 without records or sample uniques, not a number without an estimate."""
        from celosia.kernels.disclosure.uniqueness.population_uniqueness import ESTIMATORS

        if classes.members is not None:
            raise SchemaError(
                "population-uniqueness: it is estimated from the sizes of classes, which need missing = 'category'."
            )
        records = int(classes.size.sum())
        if self.size < records:
            raise ParameterError(
                f"population-uniqueness: size must be at least the {records} records of the table, got {self.size}."
            )
        if not len(classes) or not (classes.size == 1).any():
            return 0.0
        estimate = ESTIMATORS[self.model](classes.size, self.size, None)
        return estimate.share if estimate.available else math.nan
