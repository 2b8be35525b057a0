"""Columns of a table: codes, values, persons and hierarchy levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.classes import EngineFrame, Sensitive
from celosia.data.engines.engine import CELL_BYTES, RESIDENT
from celosia.data.engines.lazy_frames import ROWS, select_columns
from celosia.errors import SchemaError
from celosia.histogram import Encoded, encode

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from celosia.hierarchy import Levels
    from celosia.table.table import Table


def column_types(table: Table) -> dict[str, pl.DataType]:
    """Return the Polars types of the visible columns."""
    engine = table.engine
    return table.compute_once("types", lambda: engine.polars_types(select_columns(table.rows.frame, table.names)))


def encoded_column(table: Table, name: str) -> Encoded:
    """Encode a column in the order of its kind, a missing value last, in the order of the records."""
    info, codes = table.schema[name], table.counts.codes
    if codes is not None:
        return codes.column(name)
    return table.compute_once(("encoded", name), lambda: encode(table.column(name), info.value_order))


def sensitive_codes(table: Table, name: str) -> Sensitive:
    """Encode a sensitive column over its domain, with the distribution of the input table."""
    return Sensitive.of(encoded_column(table, name), table.classes.baseline(name))


def declared_persons(table: Table) -> NDArray[np.int32] | None:
    """Encode the person of each record; None without a person column. Records without an id are one person."""
    person = table.schema.person
    return None if person is None else encoded_column(table, person).codes


def hierarchy_levels(table: Table, name: str, values: pl.Series | None = None) -> Levels:
    """Return the hierarchy of a column over some values, or over those that :meth:`Table.codes` index."""
    hierarchy = table.schema.hierarchy(name)
    if hierarchy is None:
        raise SchemaError(f"column {name!r} has no hierarchy: declare one under `hierarchies`.")
    if values is not None:
        return hierarchy.levels(values)
    return table.compute_once(("levels", name), lambda: hierarchy.levels(table.codes(name)[1]))


def count_values(table: Table, name: str) -> pl.DataFrame:
    """Count the rows (``ROWS``) of each value of a column."""
    import polars as pl

    if table.counts.frame is not None:
        return table.column(name).to_frame().group_by(name).agg(pl.len().alias(ROWS))
    counted = table.counts.histogram([name], rows_only=True)
    return counted.cells.with_columns(pl.Series(ROWS, counted.rows))


def count_distinct(table: Table, name: str) -> int:
    """Count the distinct values of a column in the engine; a missing value is one of them."""
    return table.compute_once(("distinct", name), lambda: table.rows.count_distinct(name))


def has_many_values(table: Table, name: str) -> bool:
    """Whether a column has more distinct values than may be collected from the engine.

    Never where they were collected already, or follow from those of the input.
    """
    lineage, engine = table.provenance.lineage, table.engine
    if table.counts.frame is not None or engine.refusal(len(table)) is None:
        return False
    if lineage is not None:
        changed = lineage.changes_column(name)
        if name not in lineage.rewritten if changed else name in lineage.base.domains:
            return False
    return name not in table.counts.domains and engine.refusal(count_distinct(table, name)) is not None


def can_read_columns(table: Table) -> bool:
    """Return whether the columns of a table may be read one at a time, for numbers and pictures of its records."""
    engine = table.engine
    if table.counts.frame is not None or not engine.can_preview():
        return table.counts.frame is not None
    return len(table) <= RESIDENT and (engine.memory is None or len(table) * CELL_BYTES <= engine.memory)


def cheapest_frame_with(table: Table, names: Sequence[str]) -> EngineFrame:
    """Return the frame of the input if no step changed these columns, else the frame of the table."""
    lineage = table.provenance.lineage
    if lineage is not None and all(lineage.keeps_column(name) for name in names):
        return lineage.base.rows.frame
    return table.rows.frame
