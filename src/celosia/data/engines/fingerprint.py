"""A digest of a table's content that does not depend on the engine, the file type or the types of the columns.

Rows are digested in blocks of :data:`BLOCK`, so that a cluster digests them side by side; the digest of a table of
several blocks is that of their digests.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from typing import IO, Any, cast

import polars as pl

from celosia.hierarchy.text import text_expression

BLOCK = 1 << 16
"""Rows of a block."""


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


def block_digest(block: pl.DataFrame) -> bytes:
    """The digest of the rows of one block."""
    types = block.schema
    sink = _Digest(json.dumps(list(types)).encode())
    texts = block.lazy().select(_digested_text(name, dtype) for name, dtype in types.items())
    texts.sink_csv(cast("IO[bytes]", sink), include_header=False)
    return sink.digest.digest()


def whole(digests: Sequence[bytes]) -> bytes:
    """The digest of a table, from those of its blocks in order."""
    return digests[0] if len(digests) == 1 else hashlib.sha256(b"".join(digests)).digest()


def _digested_text(name: str, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_nested():
        return pl.struct(name).struct.json_encode().alias(name)
    if dtype == pl.Binary:
        return pl.col(name).bin.encode("hex")
    if dtype in (pl.Duration, pl.Time):
        return pl.col(name).to_physical()
    return text_expression(name, dtype)


class _Digest(io.RawIOBase):
    """A file that keeps nothing but the digest of what is written to it."""

    def __init__(self, start: bytes) -> None:
        self.digest = hashlib.sha256(start)

    def writable(self) -> bool:
        """It can only be written to."""
        return True

    def write(self, data: Any) -> int:
        """Take more bytes."""
        self.digest.update(data)
        return len(data)
