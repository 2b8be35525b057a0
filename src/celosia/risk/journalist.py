"""Journalist risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import Evidence, Risk
from celosia.table.source import Same, Source

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table


class JournalistEvidence(Evidence):
    """Highest and average risk, and the records that are unique in the population."""

    average: float
    unique: int
    records: int


class Journalist(Risk):
    r"""The chance to name the right person for a record when the intruder does not know who is in the file.

    .. math:: r_i = 1 / F_i

    with :math:`F_i` the people of the population who share the quasi-identifiers of record *i*: counted in a
    ``population`` table, scaled up from the sample by the ``size`` of the population (:math:`F_i = f_i N / n`), or
    summed from the weight column. With a person column persons are counted, in the population too where it has that
    column, and the weight of a person counts once. The value is the highest risk. Scaling up is unbiased over
    classes but poor for small ones. References: El Emam & Dankar (2008).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": ["30-39", "40-49"]}), celosia.Schema.of(quasi=["age"]))
    >>> people = pl.DataFrame({"age": [31, 35, 38, 42, 47]})
    >>> Journalist(population=people).value(table), Journalist(size=20).value(table)
    (0.5, 0.1)
    """

    population: Source = Field(default=None, description="table of the population with the raw quasi-identifiers")
    size: int | None = Field(default=None, ge=1, description="number of people in the population")
    examples: ClassVar = ({"size": 40}, {"population": 30}, {"weights": True})

    def value(self, table: Table) -> float:
        """Return the highest risk of a record; 0 without records."""
        return float(self.records(table)["risk"].max() or 0.0)  # type: ignore[arg-type]

    def evidence(self, table: Table) -> JournalistEvidence:
        """Highest and average risk, and the records that are unique in the population."""
        from celosia.views.persons import person_shares

        risk = self.records(table)["risk"].to_numpy()
        share = np.where(risk > 0, person_shares(table), 0.0)
        n = float(share.sum())
        return {
            "value": float(risk.max(initial=0.0)),
            "average": float((risk * share).sum() / n) if n else 0.0,
            "unique": round(float(share[risk >= 1].sum())),
            "records": round(n),
        }

    def records(self, table: Table) -> pl.DataFrame:
        """Return the risk of each record, and the people it could be."""
        import polars as pl

        from celosia.views.population import population_frequencies

        people = table.compute_once(
            ("people", Same(self.population), self.size),
            lambda: population_frequencies(table, self.population, self.size),
        )
        risk = np.divide(1.0, people, out=np.zeros(len(people)), where=people > 0)
        return pl.DataFrame({"risk": np.minimum(risk, 1.0), "F": people})
