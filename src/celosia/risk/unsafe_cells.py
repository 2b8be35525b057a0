"""Unsafe cells of the key tables."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.histogram import number
from celosia.parts import Evidence, Memory, Risk

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class UnsafeCellsEvidence(Evidence):
    """Share of records in unsafe cells, number of tables, and unsafe cells by table."""

    tables: int
    unsafe: dict[str, int]


class UnsafeCells(Risk):
    r"""The share of records in a rare cell of some small table of the quasi-identifiers.

    .. math:: \frac1n \big|\{i : f_i(S) < k \text{ for some } S,\ |S| \le w\}\big|

    Every table of one to ``ways`` (w) quasi-identifiers is made; a cell with fewer than ``k`` records is unsafe. With a
    person column persons are counted, each once in a cell, and once in n for each combination of all columns she
    has. An intruder who knows only a few columns of a person meets such cells first. Missing values are compared as
    the schema reads them; one that is a wildcard is in no cell.

    References: Willenborg & de Waal (2001); Hundepool et al. (2012).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": ["F", "F", "F", "M"], "age": [30, 30, 31, 30]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["sex", "age"]))
    >>> UnsafeCells(k=2).value(table), UnsafeCells(k=2).tables(table)["unsafe"].to_list()
    (0.5, [1, 1, 2])
    """

    memory: ClassVar[Memory] = "none"
    k: int = Field(default=3, ge=2, description="smallest safe number of records in a cell")
    ways: int = Field(default=3, ge=1, le=4, description="largest number of columns of a table")
    examples: ClassVar = ({"k": 2}, {"k": 3, "ways": 1})

    def value(self, table: Table) -> float:
        """Return the share of records that are in an unsafe cell."""
        persons = table.classes.histogram.persons
        hit, _ = self._count(table)
        return float(persons[hit > 0].sum() / persons.sum()) if len(persons) else 0.0

    def evidence(self, table: Table) -> UnsafeCellsEvidence:
        """Return the share, and the number of unsafe cells of each table that has some."""
        _, rows = self._count(table)
        unsafe = {row["columns"]: row["unsafe"] for row in rows if row["unsafe"]}
        return {"value": self.value(table), "tables": len(rows), "unsafe": unsafe}

    def records(self, table: Table) -> pl.DataFrame:
        """Return the number of tables in which each record is in an unsafe cell."""
        import polars as pl

        return pl.DataFrame({"unsafe": table.classes.on_records(self._count(table)[0], suppressed=0)})

    def tables(self, table: Table) -> pl.DataFrame:
        """One row per table: its columns, its non-empty cells, the unsafe ones, and the records in them."""
        import polars as pl

        return pl.DataFrame(self._count(table)[1], orient="row")

    def _count(self, table: Table) -> tuple[NDArray[np.int64], list[dict[str, Any]]]:
        def make() -> tuple[NDArray[np.int64], list[dict[str, Any]]]:
            classes = table.classes
            codes = classes.codes.astype(np.int64)
            hit = np.zeros(len(classes.histogram.persons), dtype=np.int64)
            rows = []
            for ways in range(1, min(self.ways, len(classes.histogram.names)) + 1):
                for columns in combinations(range(len(classes.histogram.names)), ways):
                    cell = _cells(codes[:, columns])
                    size = classes.persons_in(cell)
                    unsafe = (cell >= 0) & (size[cell] < self.k) if len(size) else np.zeros(len(cell), dtype=bool)
                    hit += unsafe
                    few = (size > 0) & (size < self.k)
                    rows.append(
                        {
                            "columns": ", ".join(classes.histogram.names[j] for j in columns),
                            "ways": ways,
                            "cells": int((size > 0).sum()),
                            "unsafe": int(few.sum()),
                            "records": int(size[few].sum()),
                        }
                    )
            return hit, rows

        return table.compute_once(("unsafe cells", self.k, self.ways), make)


def _cells(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cell of each class in the table of these columns; -1 with a missing value."""
    return np.where((codes < 0).any(axis=1), -1, number(list(codes.T + 1)))
