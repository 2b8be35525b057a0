"""Average class size."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import class_cells, lost_records

if TYPE_CHECKING:
    from celosia.classes.counts import ClassCounts, Verdict
    from celosia.search.lattice.objective import ClassObjective, LevelMaps
    from celosia.table import Table


class AverageClassSize(SearchObjective, Loss):
    r"""How many records share a class on average; the suppressed ones count as one class.

    .. math:: C = \frac{n}{|\{E\}|}, \qquad \text{with } k:\; C_{AVG} = \frac{n}{k\,|\{E\}|}

    The smallest value is that of the unchanged table. It says nothing about how coarse the cells are. References:
    LeFevre, DeWitt & Ramakrishnan (2006).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31, 32]}), celosia.Schema.of(quasi=["age"]))
    >>> AverageClassSize().value(table, table)
    1.3333333333333333
    """

    memory: ClassVar[Memory] = "none"
    k: int | None = Field(default=None, ge=1, description="divide by this k, so that the ideal is 1")
    bounded: ClassVar[bool] = False
    examples: ClassVar = ({}, {"k": 2})

    def value(self, original: Table, protected: Table) -> float:
        """Return the average class size of the protected table."""
        parts = self.parts(original, protected)
        return float(len(original) / max(1, parts["classes"])) / (self.k or 1)

    def identity_value(self, original: Table) -> float:
        """Return the average class size of the table itself."""
        return self.value(original, original)

    def parts(self, original: Table, protected: Table) -> dict[str, int]:
        """Return the number of classes (the suppressed records are one) and of suppressed records."""
        lost = lost_records(original, protected)
        return {"classes": len(class_cells(protected)) + (lost > 0), "suppressed": lost}

    def objective(self, domain: LevelMaps) -> ClassObjective:
        r"""Return the objective of a search: minus the number of classes *c*, for which bounds add up.

        With *k* the size of a kept class at least, node *u* finer than *v* finer than *w*, :math:`a_u` classes of *u*
        with *k* records or more, :math:`r_u` records in its others, and :math:`s_w` records in classes of *w* smaller
        than *k*,

        .. math:: c_v \le a_u + (r_u - s_w) / k + 1.

        Each class of *v* is a union of classes of *u* and lies in one class of *w*. A class kept at *v* holds one of
        the :math:`a_u`, or it is made of small classes of *u* alone, with *k* records or more. None of these records is
        one of the :math:`s_w`, whose classes are too small at *v* and at *u*, too. The suppressed records are one more.
        """
        from celosia.kernels.grouping.class_measures import split_by_size
        from celosia.search.lattice.objective import ClassObjective, Measures

        def measure(classes: ClassCounts, kept: Verdict, certain: Verdict) -> Measures:  # noqa: ARG001
            several, rest = split_by_size(classes.size, classes.least)
            count = int(np.count_nonzero(kept)) + (0 if kept.all() and not domain.suppressed_before else 1)
            most = several + rest / max(1, classes.least) + (1 if rest or domain.suppressed_before else 0)
            return Measures(-count, -most, rest / max(1, classes.least))

        def loss(measured: float) -> float:
            return domain.n / max(1.0, -measured) / (self.k or 1)

        return ClassObjective(measure, codes=False, whole=True, scale=loss)
