"""Suppressed records and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

import numpy as np
from pydantic import Field

from celosia.hierarchy.values import Everything, parse
from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import Coverage, column_counts, coverages, lost_records

if TYPE_CHECKING:
    from celosia.search.lattice.objective import ColumnObjective, LevelMaps
    from celosia.table import Table


class SuppressedCounts(TypedDict):
    """Numbers of suppressed records, of cells, and of cells by column."""

    records: int
    cells: int
    columns: dict[str, int]


class Suppression(SearchObjective, Loss):
    r"""The share of records that are suppressed or deleted, or of quasi-identifier cells without a value.

    .. math:: s / n, \qquad \text{cells: } \frac{1}{n m} \sum_j (\text{stars}_j + \text{newly missing}_j)

    A suppressed record counts with all its cells.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31, 32]}), celosia.Schema.of(quasi=["age"]))
    >>> safe = celosia.protect(table, celosia.methods.SuppressRecords(require=["k-anonymity(k=2)"]), seed=1)
    >>> Suppression().value(table, safe)
    0.5
    """

    memory: ClassVar[Memory] = "none"
    of: Literal["records", "cells"] = Field(default="records", description="unit that is counted")
    examples: ClassVar = ({}, {"of": "cells"})

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of suppressed records or cells."""
        suppressed = self.parts(original, protected)
        if self.of == "records":
            return float(suppressed["records"] / max(1, len(original)))
        return float(suppressed["cells"] / max(1, len(original) * len(original.schema.quasi)))

    def parts(self, original: Table, protected: Table) -> SuppressedCounts:
        """Return the number of suppressed records, of cells, and of cells by column."""
        by_column = {cover.name: _cells(original, cover) for cover in coverages(original, protected)}
        return {"records": lost_records(original, protected), "cells": sum(by_column.values()), "columns": by_column}

    def objective(self, domain: LevelMaps) -> ColumnObjective:
        """Return the objective of a search."""
        from celosia.search.lattice.objective import per_cell

        blank = domain.stars if self.of == "cells" else (lambda j, level: np.zeros(domain.width(j, level)))
        return per_cell(domain, blank, np.mean)


def _cells(original: Table, cover: Coverage) -> int:
    """Count the stars and newly missing cells of one column."""
    values, counts = column_counts(original, cover.name)
    before = sum(int(c) for v, c in zip(values, counts, strict=True) if v is None)
    stars = missing = 0
    for cell, records in zip(cover.cells, cover.records.tolist(), strict=True):
        if cell is None:
            missing += records
        elif isinstance(parse(cell), Everything):
            stars += records
    return stars + max(0, missing - before) + cover.suppressed
