"""Derive a table from another one: a new frame, with the schema and the provenance that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celosia.classes import EngineFrame, Lineage, Rows
from celosia.data.engines.lazy_frames import RECORD, column_kinds, without_negative_zero
from celosia.data.schema import Role

if TYPE_CHECKING:
    import polars as pl

    from celosia.table.provenance import Change
    from celosia.table.table import Table


def with_provenance(table: Table, **fields: Any) -> Table:  # noqa: ANN401  (those of a dataclass)
    """Replace fields of the provenance."""
    return replace(table, provenance=replace(table.provenance, **fields))


def with_frame(table: Table, frame: EngineFrame) -> Table:
    """Return the same records in another frame."""
    rows = Rows(table.engine, frame, table.schema)
    return with_provenance(replace(table, rows=rows, _cache={}), lineage=None)


def changed_table(table: Table, frame: EngineFrame) -> Table:
    """Return the result of a change, whose input is that of the table."""
    return with_provenance(with_frame(table, frame), input=table.first)


def extend_lineage(table: Table, former: Table, extend: Callable[[Lineage], Lineage]) -> Table:
    """Set the lineage to that of a former table and one more change."""
    lineage = former.provenance.lineage
    if lineage is None and former.provenance.input is None:
        lineage = Lineage(former.counts)
    return table if lineage is None else with_provenance(table, lineage=extend(lineage))


def record_changes(table: Table, changes: Mapping[str, Change]) -> Table:
    """Record changes of the values of some columns."""
    former = table.provenance.value_changes
    further = {name: (*former.get(name, ()), change) for name, change in changes.items()}
    return with_provenance(table, value_changes={**former, **further})


def mark_synthesised(table: Table, names: Sequence[str]) -> Table:
    """Mark columns that do not follow from values of the input: their baseline is what they are now."""
    marked = [name for name in names if name not in table.schema.quasi]
    others = {*table.names} - {*marked, table.schema.person}
    now = table.drop([name for name in table.names if name in others])
    now = with_provenance(now, input=None, value_changes={}, history=(), lineage=None)
    changes = {name: (lambda _: now,) for name in marked}
    return with_provenance(table, value_changes={**table.provenance.value_changes, **changes})


def rebind_schema(table: Table) -> Table:
    """Adapt the schema to columns that were added or changed their type."""
    schema = table.schema.bind(column_kinds(table.rows.frame))
    return replace(table, rows=Rows(table.engine, table.rows.frame, schema))


def rewrite_columns(table: Table, frame: EngineFrame, names: Sequence[str]) -> Table:
    """Return the same records in a frame of their ids and cells, with new cells in some columns."""
    changed = rebind_schema(changed_table(table, frame))
    return mark_synthesised(extend_lineage(changed, table, lambda lineage: lineage.rewrite(names)), names)


def with_record_ids(table: Table) -> Table:
    """Add record ids, so that rows may be reordered."""
    if RECORD in table.rows.types:
        return table
    numbered = with_frame(table, table.engine.identify(table.rows.frame))
    return with_provenance(numbered, lineage=table.provenance.lineage)


def with_quasi_identifiers(table: Table, names: Sequence[str]) -> Table:
    """Add quasi-identifiers; the same records are suppressed."""
    schema = table.schema
    for name in names:
        schema = schema.change(name, roles=schema[name].roles | {Role.QUASI})
    described = table.with_schema(schema)
    return replace(described, rows=replace(described.rows, stars=table.rows.suppression_columns))


def with_step(table: Table, public: Mapping[str, Any], private: Mapping[str, Any], original: Table) -> Table:
    """Add a step to the history."""
    former = table.provenance
    return with_provenance(
        table,
        history=(*former.history, public),
        private_history=(*former.private_history, private),
        input=original,
    )


def new_records(table: Table, frame: pl.DataFrame) -> Table:
    """Return a table of new records under the same schema."""
    new = table.engine.identify(table.engine.accept(without_negative_zero(frame)))
    bound = table.schema.keep(frame.columns).bind(column_kinds(new))
    changed = with_provenance(changed_table(table, new), family=object())
    unordered = replace(changed.origin, ordered=False)
    return mark_synthesised(replace(changed, rows=Rows(table.engine, new, bound), origin=unordered), frame.columns)
