"""Rows of a table as frames, batches and a fingerprint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from celosia.classes import EngineFrame
from celosia.data.engines.fingerprint import BLOCK
from celosia.data.engines.lazy_frames import RECORD, select_columns, sort_by_record

if TYPE_CHECKING:
    import polars as pl

    from celosia.table.table import Table

STREAM = "stream"


def visible_frame(table: Table) -> EngineFrame:
    """Return the engine's frame of the visible columns, in the order of the records."""
    frame = table.rows.frame
    return select_columns(sort_by_record(frame) if RECORD in table.rows.types else frame, table.names)


def stream_rows(table: Table) -> pl.LazyFrame:
    """Return the visible columns as a lazy Polars frame that is streamed without being in memory."""
    if STREAM in table._cache:
        frame: pl.LazyFrame = table._cache[STREAM]()
        return frame
    return _stream(table, table.names)


def row_batches(table: Table, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield batches of some columns, in any order and of any size, without having them in memory whole."""
    yield from _stream(table, names).collect_batches(chunk_size=BLOCK)


def _stream(table: Table, names: Sequence[str]) -> pl.LazyFrame:
    return table.engine.to_polars_lazy(select_columns(table.rows.frame, names), rows=len(table))


def table_fingerprint(table: Table) -> bytes:
    """Digest of the visible names and cells in the order of the records; the same on every engine."""
    return table.compute_once("fingerprint", lambda: _fingerprint(table))


def _fingerprint(table: Table) -> bytes:
    in_order = table.provenance.input is None  # an input table: nothing to sort
    return table.engine.fingerprint(
        table.rows.frame, table.names, in_order=in_order, stored=table.counts.stored, rows=len(table)
    )


def exceeds_memory(table: Table) -> bool:
    """Whether a table has more cells than are kept in memory."""
    return table.engine.exceeds_memory(len(table) * len(table.rows.types))
