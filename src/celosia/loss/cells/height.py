"""Height."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.parts import Loss
from celosia.views.comparing.coverage import coverages

if TYPE_CHECKING:
    from celosia.search.lattice.objective import ColumnObjective, Domain
    from celosia.table import Table


class Height(Loss):
    r"""The sum of the levels of the columns, averaged over the records.

    .. math:: \sum_j \frac1n \sum_i h_{ij}

    Under one level per column this is the sum of the levels. A suppressed record stands at the top of every
    hierarchy; ``suppressed=False`` leaves such records out, as ARX does. References: Samarati (2001).

    >>> import polars as pl, celosia
    >>> schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=2)"})
    >>> table = celosia.read(pl.DataFrame({"age": [0, 1, 2, 3]}), schema)
    >>> Height().value(table, celosia.protect(table, celosia.methods.Recode(column="age", level=1), seed=1))
    1.0
    """

    suppressed: bool = Field(default=True, description="whether suppressed records count, at the top")
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """The mean over the records of the sum of levels."""
        return float(sum(self.parts(original, protected).values()))

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:
        """The mean level of each column."""
        found = {}
        for cover in coverages(original, protected):
            heights = cover.levels.heights_of(cover.cells).astype(np.float64)
            kept = int(cover.records.sum())
            if self.suppressed:
                found[cover.name] = cover.mean(heights, suppressed=cover.levels.height)
            else:
                found[cover.name] = float(cover.records @ heights) / kept if kept else 0.0
        return found

    def objective(self, domain: Domain) -> ColumnObjective:
        """What a search minimises."""
        from celosia.search.lattice.objective import ColumnObjective

        base = tuple(np.arange(domain.height(j) + 1, dtype=np.float64) for j in range(len(domain)))
        extra = tuple(
            tuple(
                np.full(domain.width(j, at), (domain.height(j) - at) / max(1, domain.n)) for at in range(len(base[j]))
            )
            for j in range(len(domain))
        )
        return ColumnObjective(
            base, lambda x: np.asarray(x.sum(axis=-1), dtype=np.float64), extra if self.suppressed else None
        )
