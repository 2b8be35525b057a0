"""Suppress records, and the readings of a table with suppressed records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celosia.classes import STAR, EngineFrame
from celosia.classes.rows import all_missing, all_stars
from celosia.data.engines.engine import Engine
from celosia.data.engines.lazy_frames import RECORD, SUPPRESSED, as_text, frame_types, select_columns, with_columns
from celosia.table.derive import changed_table, extend_lineage, with_frame, with_provenance, with_record_ids

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from celosia.parts import Model
    from celosia.table.table import Table

HIT = "__hit__"


def suppress_records(table: Table, mask: NDArray[np.bool_], *, drop: bool = False, blank: Sequence[str] = ()) -> Table:
    """Suppress the records of a mask: stars in the quasi-identifiers, ``blank`` columns emptied; or drop them."""
    import polars as pl

    if drop:
        return table.take(table.ids()[~mask])
    marked = with_record_ids(table)
    small = pl.DataFrame({RECORD: marked.ids(), HIT: mask})
    hit = table.engine.attach(marked.rows.frame, small, [RECORD])
    return changed_table(marked, _star_hits(hit, table.schema.need_quasi(), blank))


def suppress_classes(table: Table, classes: pl.DataFrame, *, drop: bool = False, blank: Sequence[str] = ()) -> Table:
    """Suppress the records of some classes; ``classes`` has the present quasi-identifiers of each."""
    import narwhals as nw
    import polars as pl

    keys = list(table.schema.need_quasi())
    small = classes.select(*keys, pl.lit(value=True).alias(HIT))

    def change(engine: Engine[Any], frame: EngineFrame) -> EngineFrame:
        joined = nw.from_native(engine.attach(frame, small, keys))
        hit = joined.with_columns(nw.col(HIT).fill_null(value=False).alias(HIT))
        if drop:
            return hit.filter(~nw.col(HIT)).drop(HIT).to_native()
        return _star_hits(hit.to_native(), keys, [name for name in blank if name in frame_types(frame)])

    marked = with_record_ids(table)
    changed = changed_table(marked, change(table.engine, marked.rows.frame))
    return extend_lineage(changed, table, lambda lineage: lineage.then([*keys, *blank], change, drops_rows=drop))


def _star_hits(frame: EngineFrame, quasi: Sequence[str], blank: Sequence[str]) -> EngineFrame:
    """Suppress the rows that ``HIT`` marks."""
    import narwhals as nw

    types, hit = frame_types(frame), nw.col(HIT)
    changes = {name: nw.when(hit).then(nw.lit(STAR)).otherwise(as_text(name, types[name])) for name in quasi}
    changes |= {name: nw.when(~hit).then(nw.col(name)) for name in blank}
    changes[SUPPRESSED] = (nw.col(SUPPRESSED) | hit) if SUPPRESSED in types else hit
    return nw.from_native(frame).with_columns(**changes).drop(HIT).to_native()


def blank_suppressed(table: Table, models: Sequence[Model]) -> Table:
    """Empty the sensitive cells of suppressed records where a requirement does not hold with them as a class."""
    names = _sensitive_cells(table)
    if not (names and table.counts.some_suppressed) or all(model.holds(table) for model in models):
        return table
    mark = table.counts.mark

    def change(_engine: Engine[Any], frame: EngineFrame) -> EngineFrame:
        import narwhals as nw

        return with_columns(frame, {name: nw.when(~mark).then(nw.col(name)) for name in names})

    changed = changed_table(table, change(table.engine, table.rows.frame))
    return extend_lineage(changed, table, lambda lineage: lineage.then([*table.schema.quasi, *names], change))


def drop_marks(table: Table) -> Table:
    """Remove the marks of suppressed records where every record has nothing but stars, as in a file."""
    if not (table.counts.some_suppressed and table.counts.all_suppressed):
        return table
    names = [name for name in table.rows.types if name != SUPPRESSED]
    return changed_table(table, select_columns(table.rows.frame, names))


def unmark_refilled(table: Table) -> Table:
    """Remove the mark from suppressed records in which a later step put values: a reader of the file sees no stars."""
    names = table.rows.suppression_columns
    if not (table.rows.has_marks and names):
        return table

    def change(_engine: Engine[Any], frame: EngineFrame) -> EngineFrame:
        import narwhals as nw

        return with_columns(frame, {SUPPRESSED: nw.col(SUPPRESSED) & all_stars(names)})

    changed = changed_table(table, change(table.engine, table.rows.frame))
    return extend_lineage(changed, table, lambda lineage: lineage.then(names, change))


def readings(table: Table) -> list[Table]:
    """Return the readings of a table, over which models and risks take the worst value; see :meth:`Table.readings`."""
    names = _sensitive_cells(table)
    single = [replace(table, rows=replace(table.rows, single=True))]
    if names and table.counts.some_suppressed:
        single.append(_suppressed_as_class(table, names))
    if table.counts.unidentified < 2:
        return single
    return [*map(_unidentified_as_persons, single), *single]


def _suppressed_as_class(table: Table, names: Sequence[str]) -> Table:
    """Make the suppressed records that show a sensitive value a class of their own."""
    mark = table.counts.mark

    def change(_engine: Engine[Any], frame: EngineFrame) -> EngineFrame:
        return with_columns(frame, {SUPPRESSED: mark & all_missing(names)})

    view = with_frame(table, change(table.engine, table.rows.frame))
    view = replace(view, rows=replace(view.rows, stars=(), single=True))
    return extend_lineage(view, table, lambda lineage: lineage.then([*table.schema.quasi, *names], change))


def _unidentified_as_persons(table: Table) -> Table:
    """Make each row without a person's id a person of its own, in the input table too."""
    import narwhals as nw

    person = str(table.schema.person)
    identified = nw.concat_str([nw.lit("person "), nw.col(person).cast(nw.String)])
    own = nw.concat_str([nw.lit("row "), nw.col(RECORD).cast(nw.String)])
    value = nw.when(nw.col(person).is_null()).then(own).otherwise(identified)
    frame = with_columns(with_record_ids(table).rows.frame, {person: value})
    original = table.provenance.input
    view = replace(table, rows=replace(table.rows, frame=frame, single=True), _cache={})
    return with_provenance(view, input=None if original is None else _unidentified_as_persons(original), lineage=None)


def _sensitive_cells(table: Table) -> list[str]:
    """List the sensitive columns that a suppressed record still shows."""
    return [name for name in table.schema.sensitive if name not in table.schema.quasi]
