"""Marketer risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import Evidence, Memory, Risk
from celosia.table.source import Source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class MarketerEvidence(Evidence):
    """Share and expected number of re-identified records (persons)."""

    expected: float
    records: int


class Marketer(Risk):
    r"""The share of records that an intruder who links the whole file would re-identify.

    .. math:: \frac1n \sum_E \frac{f_E}{F_E}, \qquad n = \sum_E f_E

    with :math:`f_E` the records of class *E* and :math:`F_E` the people of the population in it: counted in a
    ``population`` table, scaled up by the ``size`` of the population, or summed from the weight column. With a person
    column f and n count persons, whatever number of rows they have, and the weight of a person counts once; a person
    with rows in several classes counts in each. Without a population the file is all of it (:math:`F = f`), and the
    value is the number of classes over n. References: Dankar & El Emam (2010).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> round(Marketer().value(table), 4), Marketer(size=30).evidence(table)["expected"]
    (0.6667, 0.2...)
    """

    memory: ClassVar[Memory] = "none"
    population: Source = Field(default=None, description="table of the population with the raw quasi-identifiers")
    size: int | None = Field(default=None, ge=1, description="number of people in the population")
    examples: ClassVar = ({}, {"size": 40}, {"population": 30}, {"weights": True})

    def value(self, table: Table) -> float:
        """Return the expected share of records (persons) that are re-identified; suppressed records do not count."""
        return float(self.evidence(table)["value"])

    def evidence(self, table: Table) -> MarketerEvidence:
        """Return the share and the expected number of re-identified records (persons)."""
        risk = self._risk(table)
        counted = table.classes.histogram.persons
        expected, n = float((risk * counted).sum()), int(counted[risk > 0].sum())
        return {"value": expected / n if n else 0.0, "expected": expected, "records": n}

    def records(self, table: Table) -> pl.DataFrame:
        """Return the chance of each record to be linked rightly."""
        import polars as pl

        return pl.DataFrame({"risk": table.classes.on_records(self._risk(table), suppressed=0.0)})

    def _risk(self, table: Table) -> NDArray[np.float64]:
        """Return the chance of the records of each class."""
        from celosia.views.population import class_people

        if self.population is None and self.size is None and table.schema.weight is None:
            people = table.classes.frequencies()
        else:
            people = class_people(table, self.population, self.size)
        risk = np.divide(1.0, people, out=np.zeros(len(people)), where=people > 0)
        return np.minimum(risk, 1.0)
