"""Height."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import coverages

if TYPE_CHECKING:
    from celosia.classes.counts import ClassCounts, Verdict
    from celosia.search.lattice.objective import LevelMaps, Objective
    from celosia.table import Table


class Height(SearchObjective, Loss):
    r"""The sum of the levels of the columns, averaged over the records.

    .. math:: \sum_j \frac1n \sum_i h_{ij}

    Under one level per column this is the sum of the levels. A suppressed record has the top level of every
    hierarchy; ``suppressed=False`` leaves such records out, as ARX does. References: Samarati (2001).

    >>> import polars as pl, celosia
    >>> schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=2)"})
    >>> table = celosia.read(pl.DataFrame({"age": [0, 1, 2, 3]}), schema)
    >>> Height().value(table, celosia.protect(table, celosia.methods.Recode(column="age", level=1), seed=1))
    1.0
    """

    memory: ClassVar[Memory] = "none"
    suppressed: bool = Field(default=True, description="whether suppressed records count, at the top")
    bounded: ClassVar[bool] = False
    examples: ClassVar = ({}, {"suppressed": False})

    def value(self, original: Table, protected: Table) -> float:
        """Return the mean over the records of the sum of levels."""
        return float(sum(self.parts(original, protected).values()))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the mean level of each column."""
        mean_levels = {}
        for cover in coverages(original, protected):
            heights = cover.levels.heights_of(cover.cells).astype(np.float64)
            kept = int(cover.records.sum())
            if self.suppressed:
                mean_levels[cover.name] = cover.mean(heights, suppressed=cover.levels.height)
            else:
                mean_levels[cover.name] = float(cover.records @ heights) / kept if kept else 0.0
        return mean_levels

    def objective(self, domain: LevelMaps) -> Objective:
        """Return the objective of a search."""
        from celosia.search.lattice.objective import ClassObjective, ColumnObjective, cell_numbers, per_cell

        if self.suppressed:
            return per_cell(domain, domain.heights, np.sum, top=domain.height)
        heights = [[domain.heights(j, level) for level in range(domain.height(j) + 1)] for j in range(len(domain))]
        if all((each == each[:1]).all() for by_level in heights for each in by_level):
            base = tuple(np.array([each[0] for each in by_level]) for by_level in heights)
            return ColumnObjective(base, lambda x: np.asarray(x.sum(axis=-1), dtype=np.float64))
        cells = cell_numbers(heights)  # missing values have lower heights, so the mean depends on the kept classes

        def score(classes: ClassCounts, kept: Verdict) -> float:
            codes, start, flat = cells(classes)
            size = classes.size * kept
            return float(size @ flat[start[:, None] + codes].sum(axis=0) / max(1, size.sum()))

        return ClassObjective.of(score)
