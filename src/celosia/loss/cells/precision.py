"""Precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.loss.bases.column_loss import _ColumnLoss
from celosia.parts import Memory, SearchObjective
from celosia.views.comparing.coverage import coverages

if TYPE_CHECKING:
    from celosia.search.lattice.objective import ColumnObjective, LevelMaps
    from celosia.table import Table


class Precision(SearchObjective, _ColumnLoss):
    r"""The mean height of the values in their hierarchies: one minus Sweeney's precision.

    .. math:: 1 - \mathrm{Prec} = \frac{1}{n m} \sum_j \sum_i \frac{h_{ij}}{H_j}

    with :math:`h_{ij}` the level of a cell and :math:`H_j` the height of its hierarchy; a suppressed record has
    the top level. A cell that no level has counts as the lowest level that is as wide. It depends on the number of
    levels of a hierarchy, not on their shares of the domain. References: Sweeney (2002).

    >>> import polars as pl, celosia
    >>> schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=2)"})
    >>> table = celosia.read(pl.DataFrame({"age": [0, 1, 2, 3]}), schema)
    >>> safe = celosia.protect(table, celosia.methods.Recode(column="age", level=1), seed=1)
    >>> Precision().value(table, safe)
    0.5
    """

    memory: ClassVar[Memory] = "none"

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the mean relative height of each column."""
        mean_heights = {}
        for cover in coverages(original, protected):
            height = max(1, cover.levels.height)
            mean_heights[cover.name] = cover.mean(cover.levels.heights_of(cover.cells) / height)
        return mean_heights

    def objective(self, domain: LevelMaps) -> ColumnObjective:
        """Return the objective of a search."""
        from celosia.search.lattice.objective import per_cell

        return per_cell(domain, lambda j, level: domain.heights(j, level) / max(1, domain.height(j)), np.mean)
