"""A digest of a table's content that does not depend on the engine, the file type or the types of the columns.

Rows are digested in blocks of :data:`BLOCK`, so that a cluster digests them side by side; the digest of a table of
several blocks is that of their digests. A column that has few different texts in a block is digested as those texts
and a byte per row: where its codes are known already no text is made row by row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from celosia.hierarchy.text import text_expression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Looked: TypeAlias = tuple[NDArray[np.int64], Sequence[str | None]]
    """A column as codes, and the text of each code."""

BLOCK = 1 << 16
"""Rows of a block."""
FEW = 255
"""Up to so many different texts have a byte each; the byte after them says that there is none."""


def fingerprint(frame: pl.LazyFrame) -> bytes:
    """SHA-256 of the names and of the cells as text, rows in their order, in one streaming pass.

    >>> one, other = pl.LazyFrame({"a": ["", None]}), pl.LazyFrame({"a": [None, ""]})
    >>> fingerprint(one) == fingerprint(one.clone()), fingerprint(one) == fingerprint(other)
    (True, False)
    >>> fingerprint(pl.LazyFrame({"a": [1]})) == fingerprint(pl.LazyFrame({"a": [1.0]}))
    True
    """
    blocks = frame.collect_batches(chunk_size=BLOCK, maintain_order=True)
    return whole([block_digest(block) for block in blocks] or [block_digest(frame.head(0).collect())])


def block_digest(block: pl.DataFrame | Mapping[str, pl.Series | Looked]) -> bytes:
    """The digest of the rows of one block, whose columns may be codes already.

    >>> block_digest({"a": (np.array([1, 0, 2]), ["x", "y", None])}) == block_digest({"a": pl.Series(["y", "x", None])})
    True
    """
    columns = block.to_dict() if isinstance(block, pl.DataFrame) else block
    digest = hashlib.sha256(json.dumps(list(columns)).encode())
    for column in columns.values():
        for piece in _looked_up(*column) if isinstance(column, tuple) else _series(cell_texts(column)):
            digest.update(piece)
    return digest.digest()


def whole(digests: Sequence[bytes]) -> bytes:
    """The digest of a table, from those of its blocks in order."""
    return digests[0] if len(digests) == 1 else hashlib.sha256(b"".join(digests)).digest()


def cell_texts(column: pl.Series) -> pl.Series:
    """The cells of a column as the texts that are digested."""
    return column.to_frame("cell").select(_digested_text("cell", column.dtype).cast(pl.String)).to_series()


def _looked_up(codes: NDArray[np.int64], texts: Sequence[str | None]) -> Iterator[bytes]:
    """The bytes of a column that is given by codes."""
    held = np.flatnonzero(np.bincount(codes, minlength=len(texts))).tolist()
    present = sorted({text for i in held if (text := texts[i]) is not None})
    if len(present) > FEW:
        yield from _many(pl.Series(texts, dtype=pl.String).gather(codes))
        return
    place = {text: i for i, text in enumerate(present)}
    byte = np.full(len(texts), FEW, dtype=np.uint8)
    byte[held] = [FEW if (text := texts[i]) is None else place[text] for i in held]
    yield from _few(present, byte[codes])


def _series(texts: pl.Series) -> Iterator[bytes]:
    """The bytes of a column that is given by its texts."""
    present = texts.unique().drop_nulls().sort()
    if len(present) > FEW:
        yield from _many(texts)
    elif len(present) == 0:
        yield from _few([], np.full(len(texts), FEW, dtype=np.uint8))
    else:
        codes = texts.cast(pl.Enum(present)).to_physical().cast(pl.UInt8).fill_null(FEW)
        yield from _few(present.to_list(), codes.to_numpy())


def _few(texts: Sequence[str], codes: NDArray[np.uint8]) -> Iterator[bytes]:
    yield json.dumps(["few", len(codes), *texts]).encode()
    yield codes.tobytes()


def _many(texts: pl.Series) -> Iterator[bytes]:
    """The length of each text, a missing one being shorter than an empty one, and all of them in a row."""
    yield json.dumps(["many", len(texts)]).encode()
    yield texts.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy().astype("<i8").tobytes()
    yield (texts.str.join("").item() or "").encode()


def _digested_text(name: str, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_nested():
        return pl.struct(name).struct.json_encode().alias(name)
    if dtype == pl.Binary:
        return pl.col(name).bin.encode("hex")
    if dtype in (pl.Duration, pl.Time):
        return pl.col(name).to_physical()
    return text_expression(name, dtype)
