"""Coverage: the share of a column's domain that each protected cell covers, the basis of class-based losses.

Such a loss is a function of two things: the number of records of each cell of a column, and the share of the
column's domain (the rows of its hierarchy, or the values of the original) that the cell covers. No pairing of
records is needed. A record that is suppressed, or gone, belongs to no cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes import STAR
from celosia.data.engines.lazy_frames import ROWS
from celosia.errors import NotApplicable
from celosia.hierarchy import Levels
from celosia.hierarchy.text import text_expression, texts
from celosia.histogram import encode

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


@dataclass(frozen=True, eq=False)
class Coverage:
    """Cells of one quasi-identifier of a protected table."""

    name: str
    cells: list[str | None]
    records: NDArray[np.int64]
    """Records of each cell, without suppressed ones."""
    share: NDArray[np.float64]
    """Share of the domain that each cell covers."""
    levels: Levels
    """Hierarchy over the original values; without one: the values and ``*``."""
    suppressed: int
    """Records that are suppressed or gone."""
    total: int
    """Records of the original."""

    @property
    def domain(self) -> int:
        """Number of values of the domain."""
        return max(1, len(self.levels.domain))

    def mean(self, per_cell: NDArray[np.float64], suppressed: float = 1.0) -> float:
        """Mean over the original records of a number per cell; a suppressed record has ``suppressed``."""
        return float((self.records @ per_cell + self.suppressed * suppressed) / max(1, self.total))


def coverages(original: Table, protected: Table) -> list[Coverage]:
    """Cover every quasi-identifier of the original."""
    names = original.schema.need_quasi()
    gone = [name for name in names if name not in protected.names]
    if gone:
        raise NotApplicable(f"the protected table has no column {gone[0]!r}, so what it lost there cannot be told.")
    return [
        protected.compute_once(("coverage", original.rows, name), partial(_cover, original, protected, name))
        for name in names
    ]


def lost_records(original: Table, protected: Table) -> int:
    """Count the records of the original that are suppressed in the protected table or gone from it."""
    return protected.suppressed() + max(0, len(original) - len(protected))


def column_counts(table: Table, name: str) -> tuple[list[str | None], NDArray[np.int64]]:
    """Count the values of a column as text, without suppressed records."""
    return table.compute_once(("column counts", name), partial(_column_counts, table, name))


def original_levels(original: Table, name: str) -> Levels:
    """Return the hierarchy of a column over the values of the original; without one, the values and ``*``."""
    return original.compute_once(("original levels", name), partial(_original_levels, original, name))


def class_cells(table: Table) -> pl.DataFrame:
    """One row per class: its cells, and the number of its records (rows); without suppressed records."""
    return table.compute_once("class cells", partial(_class_cells, table))


def _cover(original: Table, protected: Table, name: str) -> Coverage:
    levels = original_levels(original, name)
    cells, records = _count_emptied_as_stars(*column_counts(protected, name), *column_counts(original, name))
    share = np.array([levels.share_of(cell) for cell in cells], dtype=np.float64)
    return Coverage(name, cells, records, share, levels, lost_records(original, protected), len(original))


def _count_emptied_as_stars(
    cells: list[str | None], records: NDArray[np.int64], before: list[str | None], had: NDArray[np.int64]
) -> tuple[list[str | None], NDArray[np.int64]]:
    """Count cells that were emptied as stars: a missing value that the original does not have has no information."""
    if None not in cells:
        return cells, records
    own = int(had[before.index(None)]) if None in before else 0
    emptied = max(0, int(records[cells.index(None)]) - own)
    if emptied == 0:
        return cells, records
    named = cells if STAR in cells else [*cells, STAR]
    counts = np.append(records, np.zeros(len(named) - len(cells), dtype=np.int64))
    counts[named.index(None)] -= emptied
    counts[named.index(STAR)] += emptied
    return named, counts


def _column_counts(table: Table, name: str) -> tuple[list[str | None], NDArray[np.int64]]:
    return _by_text(_count_unsuppressed(table, [name]), name)


def _count_unsuppressed(table: Table, names: list[str]) -> pl.DataFrame:
    """Count combinations of columns without suppressed records, also where all are suppressed."""
    import polars as pl

    patterns = table.counts.histogram(names, suppressed=False, rows_only=True)
    counted = patterns.cells.with_columns(pl.Series(ROWS, patterns.rows))
    return counted.clear() if table.suppressed() == len(table) else counted


def _by_text(counted: pl.DataFrame, name: str) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the distinct values as text and their row counts; NaN and missing are merged."""
    import polars as pl

    by_text = (
        counted.select(text_expression(name, counted.schema[name]).alias("cell"), pl.col(ROWS).cast(pl.Int64))
        .group_by("cell")
        .agg(pl.col(ROWS).sum())
        .sort("cell", nulls_last=True)
    )
    return by_text["cell"].to_list(), by_text[ROWS].to_numpy()


def _original_levels(original: Table, name: str) -> Levels:
    values, counts = column_counts(original, name)
    declared = original.schema.hierarchy(name)
    if declared is not None:
        return declared.levels(values, counts.tolist(), name)
    return Levels.flat(values)


def _class_cells(table: Table) -> pl.DataFrame:
    return _count_unsuppressed(table, list(table.schema.need_quasi()))


def log_areas(original: Table, protected: Table) -> tuple[NDArray[np.float64], NDArray[np.int64], float]:
    """Per class: log2 of the domain combinations that it covers, and its records; and log2 of all combinations."""
    return protected.compute_once(("areas", original.rows), partial(_log_areas, original, protected))


def _log_areas(original: Table, protected: Table) -> tuple[NDArray[np.float64], NDArray[np.int64], float]:
    classes = class_cells(protected)
    total = np.zeros(len(classes))
    largest = 0.0
    for cover in coverages(original, protected):
        bits = np.log2(np.maximum(cover.share * cover.domain, 1e-300))
        column = encode(classes[cover.name])
        bits_of = dict(zip(cover.cells, bits.tolist(), strict=True))
        if STAR in bits_of and None not in column_counts(original, cover.name)[0]:
            bits_of[None] = bits_of[STAR]  # an emptied cell
        total += np.array([bits_of.get(cell, 0.0) for cell in texts(column.values)])[column.codes]
        largest += float(np.log2(cover.domain))
    return total, classes[ROWS].to_numpy(), largest
