"""Ambiguity."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import log_areas, lost_records

if TYPE_CHECKING:
    from celosia.classes.counts import ClassCounts, Verdict
    from celosia.search.lattice.objective import ClassObjective, LevelMaps
    from celosia.table import Table


class Ambiguity(SearchObjective, Loss):
    r"""The number of combinations of domain values that the cells of each record cover, summed over the records.

    .. math:: \sum_i \prod_j D_j \cdot \mathrm{share}(\tilde x_{ij})

    A suppressed record could be any combination. The smallest value is the number of records. References: Nergiz &
    Clifton (2007).

    >>> import polars as pl, celosia
    >>> schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=2)"})
    >>> table = celosia.read(pl.DataFrame({"age": [0, 1, 2, 3]}), schema)
    >>> safe = celosia.protect(table, celosia.methods.Recode(column="age", level=1), seed=1)
    >>> Ambiguity().value(table, table), Ambiguity().value(table, safe)
    (4.0, 8.0)
    """

    memory: ClassVar[Memory] = "none"
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """Return the sum of combinations over the records."""
        bits, records, largest = log_areas(original, protected)
        return float(
            records @ np.round(np.exp2(bits), 9) + lost_records(original, protected) * np.round(np.exp2(largest))
        )

    def identity_value(self, original: Table) -> float:
        """Return the number of records."""
        return float(len(original))

    def parts(self, original: Table, protected: Table) -> dict[str, float]:
        """Return the mean number of combinations per record."""
        return {"per_record": self.value(original, protected) / max(1, len(original))}

    def objective(self, domain: LevelMaps) -> ClassObjective:
        """Return the objective of a search."""
        from celosia.kernels.grouping.class_measures import cell_products
        from celosia.search.lattice.objective import ClassObjective, ColumnObjective, Measures, cell_numbers

        areas = [
            [domain.share(j, at) * domain.size(j) for at in range(domain.height(j) + 1)] for j in range(len(domain))
        ]
        largest = float(np.prod([float(domain.size(j)) for j in range(len(domain))]))
        n, before = domain.searched, domain.suppressed_before * largest
        cells = cell_numbers(areas)

        def measure(classes: ClassCounts, kept: Verdict, certain: Verdict) -> Measures:
            areas_of = cell_products(*cells(classes))
            return Measures(
                float(classes.size @ np.where(kept, areas_of, largest)) + before,
                float(classes.size @ areas_of) + before,
                float(classes.size[certain] @ (largest - areas_of[certain])),
            )

        # the mean of the areas is at least their geometric mean, which adds up over the columns
        base = tuple(
            np.array(
                [float(domain.frequency(j, at) @ np.log2(np.maximum(area, 1.0))) for at, area in enumerate(areas[j])]
            )
            for j in range(len(domain))
        )
        columns = ColumnObjective(
            base, lambda x: np.asarray(n * np.exp2(x.sum(axis=-1) / max(1, n)) * (1 - 1e-9) + before)
        )
        return ClassObjective(measure, columns)
