"""Materialise the rows of a protected table from the codes of the input and the mapped entries of its histogram.

Each row of the input is one number, the packed key of its codes. The numbers are moved to their new places, and there
the new cells of each combination are looked up. So no text is moved or compared row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes import EngineFrame
from celosia.data.engines.lazy_frames import RECORD
from celosia.data.engines.record_order import sort_by_draw
from celosia.data.engines.row_codes import KEY, fits_in_key, pack_codes
from celosia.table.columns import column_types
from celosia.table.derive import with_frame, with_provenance
from celosia.table.frames import STREAM, exceeds_memory

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes import Derived
    from celosia.histogram import Domain
    from celosia.streams import Stream
    from celosia.table.table import Table

PLACE = "__place__"
WRITTEN = 1 << 16
"""Rows of a batch whose cells are looked up."""


@dataclass(frozen=True, eq=False)
class Materialised:
    """Table, the derived combinations of its input, and the key of each."""

    table: Table
    derived: Derived
    domains: Mapping[str, Domain]
    """Columns that a key encodes."""
    keys: NDArray[np.int64]
    """Keys of the combinations that are left, in rising order."""
    entry: NDArray[np.int64]
    """Combination of each key."""
    read: Callable[[], Iterator[pl.DataFrame]]
    """Reader of the rows of the input in the order of the records: their keys, and columns without codes."""

    @classmethod
    def of(cls, table: Table) -> Materialised | None:
        """Materialise a table whose steps gave equal cells to equal cells; None for others."""
        lineage = table.provenance.lineage
        if lineage is None or not set(table.names) <= set(lineage.base.names):
            return None
        base = lineage.base
        touched = [name for name in table.names if lineage.changes_column(name)]
        derived = lineage.derive(list(dict.fromkeys([*touched, *base.joint])), rows_only=True)
        if derived is None or not len(derived.before.names):
            return None
        domains = {name: column.domain for name, column in derived.before.columns.items()}
        if not fits_in_key(domains):
            return None
        others = [name for name in table.names if name not in domains]
        read = table.engine.keyed_batches(base.rows.frame, domains, others, rows=base.length, stored=base.stored)
        if read is None:
            return None
        keys = pack_codes({name: column.codes for name, column in derived.before.columns.items()}, domains)
        keys = keys[derived.kept]
        entry = np.argsort(keys, kind="stable")
        return cls(table, derived, domains, keys[entry], entry, read)

    @classmethod
    def shuffled_rows(cls, table: Table, stream: Stream) -> pl.LazyFrame:
        """Return the rows of a table that can be materialised, in the order drawn from a stream."""
        materialised = cls.of(table)
        assert materialised is not None
        return materialised.rows_in_order(stream)

    def rows_in_order(self, stream: Stream) -> pl.LazyFrame:
        """Return the visible columns, rows in the order drawn from the stream and the ids of the records."""
        import polars as pl
        from polars.io.plugins import register_io_source

        def batches(
            columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _size: int | None
        ) -> Iterator[pl.DataFrame]:
            names = self.table.names if columns is None else columns
            for rows in sort_by_draw(self._rows_with_entries(), len(self.table), stream):
                for some in rows.iter_slices(WRITTEN):
                    cells = self._cells(some if most is None else some.head(most), names)
                    most = None if most is None else most - len(cells)
                    yield cells if predicate is None else cells.filter(predicate)
                    if most == 0:
                        return

        types = column_types(self.table)
        return register_io_source(batches, schema=pl.Schema({name: types[name] for name in self.table.names}))

    def _rows_with_entries(self) -> Iterator[pl.DataFrame]:
        """Yield the rows that are left: the combination of each, its id, and the columns without codes."""
        import polars as pl

        from celosia.kernels.grouping.locate import locate, range_starts

        first = 0
        starts, shift = range_starts(self.keys)
        for batch in self.read():
            place = locate(self.keys, starts, shift, batch[KEY].to_numpy())
            ids = np.arange(first, first + len(batch))
            first += len(batch)
            placed = batch.drop(KEY).with_columns(pl.Series(PLACE, place), pl.Series(RECORD, ids))
            yield placed if (place >= 0).all() else placed.filter(pl.col(PLACE) >= 0)

    def _cells(self, rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Return the visible cells of some rows."""
        import polars as pl

        place = rows[PLACE].to_numpy()
        own = self._columns
        cells = {n: own[n][1].gather(own[n][0][place].astype(np.uint32)) if n in own else rows[n] for n in names}
        return pl.DataFrame(cells)

    @cached_property
    def _columns(self) -> dict[str, tuple[NDArray[Any], pl.Series]]:
        """New code of each combination in each column, in the smallest integer type, and the values."""
        columns = {name: self.derived.column(name) for name in self.table.names if name in self.domains}
        return {
            name: (column.codes[self.entry].astype(np.min_scalar_type(max(1, len(column.values)))), column.values)
            for name, column in columns.items()
        }


def materialise(table: Table) -> Table:
    """Compute the rows once, so that measures do not compute them again; a table beyond memory stays as it is."""
    if _is_large(table):
        return table
    computed = with_frame(table, table.engine.materialise(table.rows.frame))
    computed = with_provenance(computed, lineage=table.provenance.lineage)
    counted = "counts" in table._cache and table.counts.is_collected
    outdated = {"polars"} if counted else {"polars", "counts", "classes"}
    computed._cache.update({key: value for key, value in table._cache.items() if key not in outdated})
    return computed


def _is_large(table: Table) -> bool:
    """Whether the table is known, without counting rows, to exceed memory."""
    lineage = table.provenance.lineage
    return lineage is not None and lineage.base.frame is None and exceeds_memory(table)


def shuffle(table: Table, stream: Stream, domains: Callable[[], Mapping[str, pl.Series]] | None = None) -> Table:
    """Order the records by the stream and their ids alone.

    ``domains`` returns the values of some columns, so that codes can be moved instead of texts.
    """
    frame = table.engine.shuffle(table.rows.frame, stream, domains)
    if not _is_large(table):
        return reorder(table, table.engine.materialise(frame))
    shuffled = reorder(table, frame)  # counting the rows would shuffle them
    if Materialised.of(table) is not None:
        # computed for every read of the rows: keeping them would take memory
        shuffled._cache[STREAM] = lambda: Materialised.shuffled_rows(table, stream)
    return shuffled


def reorder(table: Table, frame: EngineFrame) -> Table:
    """Return the same records in a frame with another order; cached values that do not depend on it are kept."""
    kept = ("classes", "counts", "names", "types") if table.counts.frame is None else ()
    cache = {key: value for key, value in table._cache.items() if key in kept}
    return replace(table, rows=replace(table.rows, frame=frame), _cache=cache)
