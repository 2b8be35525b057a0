"""Average class size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from celosia.catalogue import Loss
from celosia.views.coverage import lost_records

if TYPE_CHECKING:
    from celosia.search.classes import ClassCounts, Verdict
    from celosia.search.objective import ClassObjective, Domain
    from celosia.table import Table


class AverageClassSize(Loss):
    r"""How many records share a class on average; the suppressed ones count as one class.

    .. math:: C = \frac{n}{|\{E\}|}, \qquad \text{with } k:\; C_{AVG} = \frac{n}{k\,|\{E\}|}

    The smallest value is that of the unchanged table. It says nothing about how coarse the cells are. References:
    LeFevre, DeWitt & Ramakrishnan (2006).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31, 32]}), celosia.Schema.of(quasi=["age"]))
    >>> AverageClassSize().value(table, table)
    1.3333333333333333
    """

    k: int | None = Field(default=None, ge=1, description="divide by this k, so that the ideal is 1")
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """The average class size of the protected table."""
        found = self.parts(original, protected)
        return float(len(original) / max(1, found["classes"])) / (self.k or 1)

    def least(self, original: Table) -> float:
        """The average class size of the table itself."""
        return self.value(original, original)

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:
        """The number of classes (the suppressed records are one) and of suppressed records."""
        lost = lost_records(original, protected)
        return {"classes": len(protected.sizes()[0]) + (lost > 0), "suppressed": lost}

    def objective(self, domain: Domain) -> ClassObjective:  # noqa: ARG002
        """What a search minimises."""
        from celosia.search.objective import ClassObjective

        def score(classes: ClassCounts, kept: Verdict) -> float:
            return float(classes.total / (kept.sum() + (0 if kept.all() else 1)) / (self.k or 1))

        def floor(classes: ClassCounts) -> float:
            # a class kept at a coarser node holds one that is large enough here, or enough records of small ones
            large = classes.size >= classes.least
            rest = int(classes.size[~large].sum())
            most = int(large.sum()) + rest // max(1, classes.least) + (1 if rest else 0)
            return float(classes.total / max(1, most) / (self.k or 1))

        return ClassObjective(score, floor=floor, codes=False)
