"""δ-presence."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.catalogue import Model
from celosia.errors import ParameterError
from celosia.source import Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.search.classes import ClassCounts
    from celosia.table import Table


class DeltaPresence(Model):
    r"""From the release nobody learns with high certainty whether a person of the population is in it.

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

    @model_validator(mode="after")
    def _ordered(self) -> DeltaPresence:
        if self.lowest > self.highest:
            raise ValueError(f"delta-presence: lowest ({self.lowest:g}) must not exceed highest ({self.highest:g}).")
        return self

    def bound(self) -> float:
        """The largest allowed presence."""
        return self.highest

    def scores(self, classes: ClassCounts) -> NDArray[np.float64]:
        """The share of its population class that each class is."""
        if classes.population is None:
            raise ParameterError("delta-presence: the classes were counted without the population table.")
        return np.asarray(classes.size / np.maximum(classes.population, 1), dtype=np.float64)

    def judge(self, classes: ClassCounts) -> NDArray[np.bool_]:
        """Whether the presence of each class lies between the bounds."""
        scores = self.scores(classes)
        return np.asarray((scores >= self.lowest) & (scores <= self.highest), dtype=np.bool_)

    def value(self, table: Table) -> float:
        """The largest presence."""
        return self.score(self._counted(table)[1])

    def holds(self, table: Table) -> bool:
        """Whether every class lies between the bounds."""
        _, counts, outside = self._counted(table)
        return bool(self.judge(counts).all()) and (self.lowest == 0 or outside == 0)

    def classes(self, table: Table) -> pl.DataFrame:
        """One row per class with its size, the people of the population in it, and the share."""
        import polars as pl

        keys, counts, _ = self._counted(table)
        columns = {"size": counts.size, "population": counts.population, "delta": self.scores(counts)}
        return keys.with_columns(pl.Series(name, values) for name, values in columns.items())

    def wish(self) -> str:
        """Both bounds."""
        return f"delta between {self.lowest:g} and {self.highest:g}"

    def _counted(self, table: Table) -> tuple[pl.DataFrame, ClassCounts, int]:
        from celosia.views.population import with_population

        return with_population(table, self.population)
