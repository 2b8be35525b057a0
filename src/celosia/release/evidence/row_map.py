"""Row map of a private record: the record of the input and the person of each released row, compressed."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.engines.fingerprint import BLOCK
from celosia.data.engines.lazy_frames import RECORD
from celosia.data.engines.row_codes import NO_PERSON, PERSON
from celosia.errors import DataError
from celosia.streams import keyed_words
from celosia.table.derive import with_record_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.release.evidence.certificate import Order, RecordDraft
    from celosia.table import Table

MOST_ROWS = 1 << 30
"""Largest number of rows of a private record that are unpacked."""
PIECE = 1 << 20


def first_records_of_persons(protected: Table, ids: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return for each of these ascending records the first record of its person; None without a person column."""
    person = protected.schema.person
    if person is None:
        return None
    if protected.counts.frame is None:
        return _first_records_in_engine(protected, person, ids)
    codes = np.asarray(protected.codes(person)[0], dtype=np.int64)
    own = np.asarray(protected.ids(), dtype=np.int64)
    order = np.argsort(own)
    codes = codes[order[np.searchsorted(own, ids, sorter=order)]]
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return np.where(codes < 0, NO_PERSON, ids[first][which])


def _first_records_in_engine(protected: Table, person: str, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Compute the first records where the engine holds the rows; no value of the person column is read."""
    import narwhals as nw

    frame = _stored_first_records(protected, person)
    if frame is None:
        named, first = ~nw.col(person).is_null(), nw.col(RECORD).min().over(person)
        own = nw.from_native(with_record_ids(protected).rows.frame).select(RECORD, person)
        whose = nw.when(named).then(first).otherwise(nw.lit(NO_PERSON)).cast(nw.Int64)
        frame = own.select(RECORD, whose.alias(PERSON)).to_native()
    numbers = np.full(int(ids.max(initial=-1)) + 1, NO_PERSON, dtype=np.int64)
    rows = protected.engine.to_polars_lazy(frame, rows=len(protected))
    for batch in rows.collect_batches(chunk_size=BLOCK):
        wanted = batch.filter(batch[RECORD] < len(numbers))
        numbers[wanted[RECORD].to_numpy()] = wanted[PERSON].to_numpy()
    return numbers[ids]


def _stored_first_records(protected: Table, person: str) -> object | None:
    """Return the first records that were stored with the row codes; None if a step changed the person column."""
    lineage = protected.provenance.lineage
    if lineage is None or lineage.changes_column(person) or lineage.base.stored is None:
        return None
    return lineage.base.stored.first_records()


def pack_rows(ids: NDArray[np.int64]) -> str:
    """Pack a row map into a text: differences, compressed."""
    steps = np.diff(ids, prepend=0).astype("<i8")
    return base64.b64encode(zlib.compress(steps.tobytes(), 1)).decode()


def unpack_rows(text: str, rows: int = MOST_ROWS) -> NDArray[np.int64]:
    """Unpack a row map; raise if it has more than ``rows`` rows."""
    return np.cumsum(np.frombuffer(_inflate(text, 8 * rows), dtype="<i8")).astype(np.int64)


def _inflate(text: str, most: int) -> bytes:
    """Decompress a part of a private record; raise if it has more than ``most`` bytes."""
    decompressor = zlib.decompressobj()
    content = decompressor.decompress(base64.b64decode(text), most + 1)
    if len(content) > most:
        raise DataError(
            f"the private record is damaged: a part of it unpacks to more than the {most} bytes that its rows need."
        )
    if not decompressor.eof:
        raise DataError("the private record is damaged: a part of it ends too early.")
    return content


def pack_persons(ids: NDArray[np.int64], first: NDArray[np.int64]) -> str:
    """Pack the first record of each record's person into a text: its distance, byte plane by byte plane, compressed.

    Most persons have few records, often next to each other: nearly all bytes are 0.
    """
    back = np.where(first == NO_PERSON, -1, ids - first).astype("<i8")
    planes = np.ascontiguousarray(back.view(np.uint8).reshape(-1, 8).T)
    return base64.b64encode(zlib.compress(planes.tobytes(), 1)).decode()


def unpack_persons(ids: NDArray[np.int64], text: str) -> NDArray[np.int64]:
    """Unpack the first record of each record's person."""
    planes = np.frombuffer(_inflate(text, 8 * len(ids)), dtype=np.uint8).reshape(8, len(ids))
    back = np.ascontiguousarray(planes.T).view("<i8").ravel().astype(np.int64)
    return np.where(back < 0, NO_PERSON, ids - back)


def pack_remaining(ids: NDArray[np.int64]) -> str:
    """Pack the records that remain of the input into a text: one bit for each record of the input, compressed."""
    remaining = np.zeros(int(ids.max(initial=-1)) + 1, dtype=np.bool_)
    remaining[ids] = True
    return base64.b64encode(zlib.compress(np.packbits(remaining).tobytes(), 1)).decode()


def row_map(record: RecordDraft) -> NDArray[np.int64]:
    """Return the record of the input that each released row is.

    The rows are ordered by a keyed stream, so that its key is enough. Earlier records contain the map itself.
    """
    if record.rows:
        return unpack_rows(record.rows)
    if record.order is None:
        raise DataError("the private record does not state the order of the released rows.")
    ids = remaining_ids(record.order)
    if record.order.key is None:
        return ids
    return ids[np.argsort(keyed_words(bytes.fromhex(record.order.key), ids)[:, 0], kind="stable")]


def remaining_ids(order: Order) -> NDArray[np.int64]:
    """Return the records of the input that were released, in the order of the input."""
    if order.rows > MOST_ROWS:
        raise DataError(f"the private record states {order.rows} rows; at most {MOST_ROWS} can be read.")
    if not order.left:
        return np.arange(order.rows, dtype=np.int64)
    return _set_bits(np.frombuffer(_inflate(order.left, MOST_ROWS // 8), dtype=np.uint8), order.rows)


def _set_bits(bits: NDArray[np.uint8], expected: int) -> NDArray[np.int64]:
    """Return the positions of the bits that are set, unpacked in pieces; raise if they are not ``expected`` many."""
    positions, count = [np.zeros(0, dtype=np.int64)], 0
    for start in range(0, len(bits), PIECE):
        positions.append(np.flatnonzero(np.unpackbits(bits[start : start + PIECE])).astype(np.int64) + 8 * start)
        count += len(positions[-1])
        if count > expected:
            break
    if count != expected:
        raise DataError("the private record is damaged: it names other records than it has rows.")
    return np.concatenate(positions)


def released_persons(record: RecordDraft, rows: int | None = None) -> NDArray[np.int64] | None:
    """Return a number for the person of each released row; None if the record does not identify them.

    ``rows`` is the number of rows of the released file: a record of another file is not unpacked.
    """
    if record.persons:
        return unpack_rows(record.persons, MOST_ROWS if rows is None else rows)
    if not record.owners or (rows is not None and record.order is not None and record.order.rows != rows):
        return None
    released = row_map(record)
    ids = np.sort(released)
    return unpack_persons(ids, record.owners)[np.searchsorted(ids, released)]
