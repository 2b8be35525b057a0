"""A digest of a table's content that does not depend on the engine, the file type or the types of the columns."""

from __future__ import annotations

import hashlib
import io
import json
from typing import IO, Any, cast

import polars as pl

from celosia.hierarchy.text import text_expression


def fingerprint(frame: pl.LazyFrame) -> bytes:
    """SHA-256 of the names and of the cells as text, rows in their order, in one streaming pass.

    >>> one, other = pl.LazyFrame({"a": ["", None]}), pl.LazyFrame({"a": [None, ""]})
    >>> fingerprint(one) == fingerprint(one.clone()), fingerprint(one) == fingerprint(other)
    (True, False)
    >>> fingerprint(pl.LazyFrame({"a": [1]})) == fingerprint(pl.LazyFrame({"a": [1.0]}))
    True
    """
    types = frame.collect_schema()
    sink = _Digest(json.dumps(list(types)).encode())
    texts = frame.select(_text(name, dtype) for name, dtype in types.items())
    texts.sink_csv(cast("IO[bytes]", sink), include_header=False)
    return sink.digest.digest()


def _text(name: str, dtype: pl.DataType) -> pl.Expr:
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
