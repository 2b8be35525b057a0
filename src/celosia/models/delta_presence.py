"""δ-presence."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import ParameterError
from celosia.parts import Condition, CountsPopulation, Model, SearchHints, Verdict
from celosia.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts


class DeltaPresence(SearchHints, CountsPopulation, Model):
    r"""The chance that a person of the population is in the release lies between two bounds.

    .. math:: \delta_{\min} \le \frac{|E|}{F_E} \le \delta_{\max}

    with :math:`F_E` the people of the ``population`` table (raw values, containing the people of the table) that
    fall into class *E*. The value is the largest presence. A lower bound above 0 also asks that every person of the
    population falls into some class. References: Nergiz, Atzori & Clifton (2007).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": ["30-39", "30-39", "40-49"]}), celosia.Schema.of(quasi=["age"]))
    >>> people = pl.DataFrame({"age": [31, 35, 38, 42, 47]})
    >>> round(DeltaPresence(highest=0.5, population=people).value(table), 3)
    0.667
    """

    lowest: float = Field(default=0.0, ge=0, le=1, description="smallest allowed share of a population class")
    highest: float = Field(gt=0, le=1, description="largest allowed share of a population class")
    population: Source = Field(description="table of the population with the raw quasi-identifiers")

    symbol: ClassVar[str] = "delta"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    monotone_generalisation: ClassVar[bool] = True
    examples: ClassVar = ({"population": True}, {"lowest": 0.2, "population": True})

    @property
    def scope(self) -> Literal["class", "file"]:  # type: ignore[override]
        """Unit of judgement: with a lower bound, which people of the population without a class violate, the file."""
        return "file" if self.lowest > 0 else "class"

    @model_validator(mode="after")
    def _bounds_in_order(self) -> DeltaPresence:
        if self.lowest > self.highest:
            raise ValueError(f"delta-presence: lowest ({self.lowest:g}) must not exceed highest ({self.highest:g}).")
        return self

    def bound(self) -> float:
        """Return the largest allowed presence."""
        return self.highest

    def scores(self, classes: ClassCounts) -> NDArray[np.float64]:
        """Return the share of its population class that each class is."""
        if classes.population is None:
            raise ParameterError("delta-presence: the classes were counted without the population table.")
        return np.asarray(classes.size / np.maximum(classes.population, 1), dtype=np.float64)

    def judge(self, classes: ClassCounts, scores: NDArray[np.float64] | None = None) -> NDArray[np.bool_]:
        """Whether the presence of each class lies between the bounds."""
        scores = self.scores(classes) if scores is None else scores
        return np.asarray((scores >= self.lowest) & (scores <= self.highest), dtype=np.bool_)

    def measure(self, classes: ClassCounts) -> Verdict:
        """Return whether every class lies between the bounds; a lower one requires a class for the whole population."""
        within = bool(self.judge(classes).all())
        return Verdict(self.score(classes), within and (self.lowest == 0 or classes.outside == 0))

    def conditions(self) -> tuple[Condition, ...]:
        """Return the upper bound, and the lower one where there is one."""
        lower = (Condition(self.symbol, "at least", self.lowest),) if self.lowest > 0 else ()
        return (*super().conditions(), *lower)
