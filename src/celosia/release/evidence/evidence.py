"""The release: the protected table with its evidence, in a public and a private part.

The *certificate* may be published: requirements, methods, parameters, aggregate numbers, and commitments: keyed hashes
of the input, the policy and the private record that reveal nothing until their key is shown. The *private record*
holds what would undo the protection: the seed, the transformation, the row map, the keys. Its file mode is 0600.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import math
import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia import __version__
from celosia.data.engines.engine import RECORD
from celosia.data.engines.fingerprint import BLOCK
from celosia.data.engines.row_codes import NO_PERSON, PERSON
from celosia.data.io.atomic import replaced, settle, together
from celosia.errors import DataError
from celosia.release.evidence.certificate import Certificate, Record, journal_of
from celosia.show.blocks import Block, Shown, change_blocks, release_blocks
from celosia.streams import keyed_words
from celosia.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.release.evidence.findings import Assessment, Comparison
    from celosia.release.evidence.signing import Signer
    from celosia.table.changes import ColumnChange

MOST_ROWS = 1 << 30
"""Rows of a private record that are unpacked."""
PIECE = 1 << 20
PRIVATE = frozenset({"record", "internal"})
"""Files of a release that only its owner may read."""


@dataclass(frozen=True, eq=False, repr=False)
class Release(Shown):
    """A protected table with its evidence. ``holds`` tells whether every requirement is met."""

    table: Table
    original: Table = field(repr=False)
    assessment: Assessment = field(repr=False)
    before: Assessment = field(repr=False)
    comparison: Comparison = field(repr=False)
    certificate: Mapping[str, Any] = field(repr=False)
    record: Mapping[str, Any] = field(repr=False)
    paths: Mapping[str, Path] = field(default_factory=dict)
    """Where each thing was written: data, certificate, record, report, internal."""
    further: Mapping[str, Assessment] = field(default_factory=dict, repr=False)
    """Requirements and risks of each further table with the columns of the main one, by the name of the table."""

    def blocks(self) -> list[Block]:
        """What there is to show."""
        from celosia.table.changes import ENGLISH

        return release_blocks(self, change_blocks(self.changes, ENGLISH))

    @property
    def changes(self) -> tuple[ColumnChange, ...]:
        """What happened to each column of the original."""
        from celosia.table.changes import column_changes

        return column_changes(self.original, self.table)

    @property
    def holds(self) -> bool:
        """Whether every requirement is met."""
        return self.assessment.holds and all(each.holds for each in self.further.values())

    def spec(self) -> dict[str, Any]:
        """The certificate and where things are, as plain data."""
        return {"holds": self.holds, "paths": {k: str(v) for k, v in self.paths.items()}, **self.certificate}


def commitment(key: bytes, content: bytes) -> str:
    """A keyed hash: binds to the content, and tells nothing about it without the key."""
    return hmac.new(key, content, hashlib.sha256).hexdigest()


def opened(record: Mapping[str, Any]) -> dict[str, str]:
    """The commitments that a private record opens: to its input, to what decided the result, and to itself."""
    key = bytes.fromhex(record["key"])
    parts = {"input": str(record["input"]["sha256"])}
    parts |= {"policy": record["policy"]} if "policy" in record else {}
    parts |= record.get("committed", {})
    content = {name: value for name, value in record.items() if name not in {"key", "certificate"}}
    return {
        **{name: commitment(key, text.encode()) for name, text in parts.items()},
        "record": commitment(key, canonical(content)),
    }


def sealed(
    certificate: Mapping[str, Any],
    record: Mapping[str, Any],
    file: str,
    digest: str,
    beside: Sequence[Mapping[str, Any]] = (),
    signer: Signer | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The certificate with the hash of the written file, the commitments and a signature, and its record."""
    certificate = {**certificate, "release": {"file": file, "sha256": digest, **certificate["release"]}}
    if beside:
        certificate["tables"] = list(beside)
    certificate["commitments"] = {"how": "HMAC-SHA-256 with a key that the private record holds", **opened(record)}
    if signer is not None:
        certificate["signature"] = signer.signature(certificate)
    record = {**record, "certificate": hashlib.sha256(canonical(certificate)).hexdigest()}
    # nothing is written that could not be read: a field that the forms do not know is a mistake of ours
    Certificate.model_validate(plain(certificate))
    Record.model_validate(plain(record))
    return certificate, record


@contextlib.contextmanager
def drafted(
    paths: Mapping[str, Path], stale: Callable[[], Iterable[Path]] = tuple, *, overwrite: bool = False
) -> Iterator[dict[str, Path]]:
    """A draft for each file of a release; all of them appear in one step when the block ends well, else none.

    ``stale`` tells which files of an earlier release go in the same step.
    """
    modes = dict.fromkeys(PRIVATE, 0o600)
    journal = journal_of(paths["certificate"])
    with together(paths, journal, modes, stale=stale, fresh=not overwrite) as drafts:
        yield drafts


def settled(paths: Mapping[str, Path]) -> None:
    """Finish the release at these paths if a kill left it half renamed."""
    settle(journal_of(paths["certificate"]))


def fresh_key() -> bytes:
    """256 bits from the operating system."""
    return secrets.token_bytes(32)


def file_hash(path: Path) -> str:
    """SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def version() -> str:
    """The version of Celosia that made the release."""
    return __version__


def persons_of(protected: Table, ids: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The first record of the person of each of these records, which ascend; None when no person column is declared."""
    person = protected.schema.person
    if person is None:
        return None
    if protected.memory() is None:
        return _first_records(protected, person, ids)
    codes = np.asarray(protected.codes(person)[0], dtype=np.int64)
    own = np.asarray(protected.ids(), dtype=np.int64)
    order = np.argsort(own)
    codes = codes[order[np.searchsorted(own, ids, sorter=order)]]
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return np.where(codes < 0, NO_PERSON, ids[first][which])


def _first_records(protected: Table, person: str, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same where the engine holds the rows: no id is read."""
    import narwhals as nw

    frame = _told_before(protected, person)
    if frame is None:
        named, first = ~nw.col(person).is_null(), nw.col(RECORD).min().over(person)
        own = nw.from_native(protected.identified().rows.frame).select(RECORD, person)
        whose = nw.when(named).then(first).otherwise(nw.lit(NO_PERSON)).cast(nw.Int64)
        frame = own.select(RECORD, whose.alias(PERSON)).to_native()
    numbers = np.full(int(ids.max(initial=-1)) + 1, NO_PERSON, dtype=np.int64)
    rows = protected.engine.streamed(frame, rows=len(protected))
    for batch in rows.collect_batches(chunk_size=BLOCK):
        there = batch.filter(batch[RECORD] < len(numbers))
        numbers[there[RECORD].to_numpy()] = there[PERSON].to_numpy()
    return numbers[ids]


def _told_before(protected: Table, person: str) -> Any | None:
    """The first record of each record's person, where the input was numbered and no step changed who they are."""
    lineage = protected.lineage
    if lineage is None or lineage.changes_column(person) or lineage.base.stored is None:
        return None
    return lineage.base.stored.first_records()


def pack_rows(ids: NDArray[np.int64]) -> str:
    """The row map as text: differences, compressed."""
    steps = np.diff(ids, prepend=0).astype("<i8")
    return base64.b64encode(zlib.compress(steps.tobytes(), 1)).decode()


def unpack_rows(text: str, rows: int = MOST_ROWS) -> NDArray[np.int64]:
    """The row map back from its text; refused where it has more than so many rows."""
    return np.cumsum(np.frombuffer(_inflate(text, 8 * rows), dtype="<i8")).astype(np.int64)


def _inflate(text: str, most: int) -> bytes:
    """Unpack a part of a private record that must not have more than so many bytes."""
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(base64.b64decode(text), most + 1)
    if len(content) > most:
        raise DataError(
            f"the private record is damaged: a part of it unpacks to more than the {most} bytes that its rows need."
        )
    if not unpacking.eof:
        raise DataError("the private record is damaged: a part of it ends too early.")
    return content


def pack_owners(ids: NDArray[np.int64], owners: NDArray[np.int64]) -> str:
    """The first record of the person of each record as text: how far before it that is, byte by byte, compressed.

    Most persons have few records, and these often stand together: nearly all bytes are 0.
    """
    back = np.where(owners == NO_PERSON, -1, ids - owners).astype("<i8")
    planes = np.ascontiguousarray(back.view(np.uint8).reshape(-1, 8).T)
    return base64.b64encode(zlib.compress(planes.tobytes(), 1)).decode()


def unpack_owners(ids: NDArray[np.int64], text: str) -> NDArray[np.int64]:
    """The first records back from their text."""
    planes = np.frombuffer(_inflate(text, 8 * len(ids)), dtype=np.uint8).reshape(8, len(ids))
    back = np.ascontiguousarray(planes.T).view("<i8").ravel().astype(np.int64)
    return np.where(back < 0, NO_PERSON, ids - back)


def pack_left(ids: NDArray[np.int64]) -> str:
    """Which records are left, as text: one bit for each record of the input, compressed."""
    left = np.zeros(int(ids.max(initial=-1)) + 1, dtype=np.bool_)
    left[ids] = True
    return base64.b64encode(zlib.compress(np.packbits(left).tobytes(), 1)).decode()


def row_map(record: Mapping[str, Any]) -> NDArray[np.int64]:
    """Which record of the input each released one is, from the private record.

    The order is that of the words of the stream that shuffled them, so that its key tells all of it. Records that
    were written before that have the map itself.
    """
    if record.get("rows"):
        return unpack_rows(record["rows"])
    order = record["order"]
    if order["rows"] > MOST_ROWS:
        raise DataError(f"the private record states {order['rows']} rows; at most {MOST_ROWS} can be read.")
    if order.get("left"):
        ids = _places(np.frombuffer(_inflate(order["left"], MOST_ROWS // 8), dtype=np.uint8), order["rows"])
    else:
        ids = np.arange(order["rows"], dtype=np.int64)
    if not order.get("key"):
        return ids
    return ids[np.argsort(keyed_words(bytes.fromhex(order["key"]), ids)[:, 0], kind="stable")]


def _places(bits: NDArray[np.uint8], rows: int) -> NDArray[np.int64]:
    """The places of the bits that are set, of which there must be so many; unpacked piece by piece."""
    places, count = [], 0
    for start in range(0, len(bits), PIECE):
        places.append(np.flatnonzero(np.unpackbits(bits[start : start + PIECE])).astype(np.int64) + 8 * start)
        count += len(places[-1])
        if count > rows:
            break
    if count != rows:
        raise DataError("the private record is damaged: it names other records than it has rows.")
    return np.concatenate([np.zeros(0, dtype=np.int64), *places])


def released_persons(record: Mapping[str, Any], rows: int | None = None) -> NDArray[np.int64] | None:
    """A number for the person of each released record, from the private record; None where it does not tell.

    They are kept in the order of the input. ``rows`` is the number of rows of the released file: a record of another
    file is not unpacked.
    """
    if record.get("persons"):
        return unpack_rows(record["persons"], MOST_ROWS if rows is None else rows)
    if not record.get("owners") or (rows is not None and (record.get("order") or {"rows": rows})["rows"] != rows):
        return None
    ids_released = row_map(record)
    ids = np.sort(ids_released)
    return unpack_owners(ids, record["owners"])[np.searchsorted(ids, ids_released)]


def plain(value: Any) -> Any:
    """Anything a part may report, as JSON can write it."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Path):
        return value.name
    if isinstance(value, Table):
        return {"rows": len(value), "columns": list(value.names)}
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def canonical(data: Any) -> bytes:
    """One way to write plain data, so that hashes agree."""
    return json.dumps(plain(data), sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def write_json(data: Mapping[str, Any], path: Path, mode: int | None = None) -> None:
    """Write plain data whole or not at all."""
    with replaced(path, mode) as draft:
        draft.write_text(json.dumps(plain(data), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
