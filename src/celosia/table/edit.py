"""Change the values of a column on any engine: by expressions, by a mapping, or batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celosia.classes import STAR, EngineFrame
from celosia.data.engines.engine import Engine
from celosia.data.engines.lazy_frames import RECORD, with_columns, without_negative_zero
from celosia.table.columns import column_types
from celosia.table.derive import (
    changed_table,
    extend_lineage,
    rebind_schema,
    record_changes,
    rewrite_columns,
    with_record_ids,
)

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

    from celosia.table.table import Table


def replace_by_expressions(table: Table, columns: Mapping[str, nw.Expr]) -> Table:
    """Replace columns by Narwhals expressions of themselves, row by row."""
    for name in columns:
        table.schema[name]

    def change(_engine: Engine[Any], frame: EngineFrame) -> EngineFrame:
        return without_negative_zero(with_columns(frame, columns), columns)

    changed = changed_table(table, change(table.engine, table.rows.frame))
    changed = extend_lineage(changed, table, lambda lineage: lineage.then(columns, change))
    return record_changes(changed, {name: (lambda each: replace_by_expressions(each, columns)) for name in columns})


def map_values(
    table: Table, name: str, values: Sequence[object] | pl.Series, labels: Sequence[object] | pl.Series
) -> Table:
    """Replace each of ``values`` in a column by its label, and all others by a missing value."""
    import polars as pl

    table.schema[name]
    identified = with_record_ids(table)  # a join may move rows
    small = pl.DataFrame({name: values, "label": labels}).cast({name: column_types(table)[name]})
    if small["label"].dtype == pl.Null:  # no value, or missing ones only: labels are text all the same
        small = small.cast({"label": pl.String})
    if name in table.schema.quasi and table.suppressed() and STAR not in small[name]:  # suppressed rows keep stars
        small = pl.concat([small, pl.DataFrame({name: [STAR], "label": [STAR]})], how="vertical_relaxed")

    def change(engine: Engine[Any], frame: EngineFrame) -> EngineFrame:
        return without_negative_zero(engine.map(frame, name, small[name], small["label"]), [name])

    mapped = rebind_schema(changed_table(identified, change(table.engine, identified.rows.frame)))
    mapped = extend_lineage(mapped, table, lambda lineage: lineage.then([name], change))
    return record_changes(mapped, {name: lambda each: map_values(each, name, values, labels)})


def replace_by_batches(
    table: Table,
    name: str,
    function: Callable[[pl.DataFrame], pl.Series],
    *,
    further: Sequence[str] = (),
    dtype: pl.DataType | None = None,
) -> Table:
    """Replace a column by a function of batches of rows of any size: of itself, the record id and further columns.

    The function is sent to other processes on Spark; random numbers must come from the record id (``RECORD``).
    """
    import polars as pl

    table.schema[name]
    identified = with_record_ids(table)
    inputs = list(dict.fromkeys([RECORD, name, *further]))
    new_type = column_types(table)[name] if dtype is None else dtype

    def replace_batch(batch: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({name: function(batch)}, schema={name: new_type})

    frame = table.engine.map_batches(identified.rows.frame, inputs, {name: new_type}, replace_batch)
    return rewrite_columns(identified, without_negative_zero(frame, [name]), [name])
