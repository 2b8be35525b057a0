"""Digest of a table's content that does not depend on the engine or the file type.

Rows are digested in blocks of :data:`BLOCK`, so that a cluster digests them in parallel; the digest of a table of
several blocks is that of their digests. Numbers are digested as numbers, whatever their type, and everything else as
text. A column with few distinct cells in a block is digested as these cells and a byte per row, which its codes give
without reading the cells again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from celosia.hierarchy.text import text_expression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    CodesAndValues: TypeAlias = tuple[NDArray[np.int64], pl.Series]
    """Codes of a column, and the value of each code."""

BLOCK = 1 << 16
"""Rows of a block."""
FEW = 255
"""Largest number of distinct cells with a byte each; this byte itself is a missing cell."""
EXACT = 2.0**53
"""Whole numbers below this are exact as 64-bit floats; a block with a larger number is digested as text."""


def fingerprint(frame: pl.LazyFrame) -> bytes:
    """SHA-256 of the column names and the cells, in the order of the rows, in one streaming pass.

    >>> one, other = pl.LazyFrame({"a": ["", None]}), pl.LazyFrame({"a": [None, ""]})
    >>> fingerprint(one) == fingerprint(one.clone()), fingerprint(one) == fingerprint(other)
    (True, False)
    >>> fingerprint(pl.LazyFrame({"a": [1]})) == fingerprint(pl.LazyFrame({"a": [1.0]}))
    True
    """
    blocks = frame.collect_batches(chunk_size=BLOCK, maintain_order=True)
    return whole([block_digest(block) for block in blocks] or [block_digest(frame.head(0).collect())])


def block_digest(block: pl.DataFrame | Mapping[str, pl.Series | CodesAndValues]) -> bytes:
    """Digest of the rows of one block, whose columns may be codes and their values.

    >>> values = pl.Series(["x", "y", None])
    >>> block_digest({"a": (np.array([1, 0, 2]), values)}) == block_digest({"a": pl.Series(["y", "x", None])})
    True
    """
    columns = block.to_dict() if isinstance(block, pl.DataFrame) else block
    digest = hashlib.sha256(json.dumps(list(columns)).encode())
    for column in columns.values():
        for piece in _encoded_pieces(*column) if isinstance(column, tuple) else _pieces(_digest_form(column)):
            digest.update(piece)
    return digest.digest()


def digests_in_order(batches: Iterable[pl.DataFrame], numbers: str, rows: int) -> Iterator[tuple[int, bytes | None]]:
    """Iterate over the blocks in successive batches of a table: their numbers, and digests where they are complete.

    ``numbers`` is the column of the row numbers, which is not digested, and ``rows`` the length of the table. If the
    rows are not in order the last block is -1.

    >>> batches = [pl.DataFrame({"row": range(7, BLOCK + 5)}), pl.DataFrame({"row": range(BLOCK + 5, BLOCK + 9)})]
    >>> [(block, digest is None) for block, digest in digests_in_order(batches, "row", BLOCK + 9)]
    [(0, True), (1, False)]
    """
    pending: pl.DataFrame | None = None
    for batch in batches:
        pending = batch if pending is None else pl.concat([pending, batch], rechunk=False)
        while len(pending):
            start = int(pending[numbers][0])
            size = min((start // BLOCK + 1) * BLOCK, rows) - start
            if len(pending) < size:
                break
            number, digest = _number_and_digest(pending.head(size), numbers, whole=start % BLOCK == 0)
            yield number, digest
            if number < 0:
                return
            pending = pending.slice(size)
    if pending is not None and len(pending):
        yield _number_and_digest(pending, numbers, whole=False)


def _number_and_digest(block: pl.DataFrame, numbers: str, *, whole: bool) -> tuple[int, bytes | None]:
    """Return the number of a block (-1 if its rows are not in order), and its digest if it is ``whole``."""
    start = int(block[numbers][0])
    if not np.array_equal(block[numbers].to_numpy(), np.arange(start, start + len(block))):
        return -1, None
    return start // BLOCK, block_digest(block.drop(numbers)) if whole else None


def whole(digests: Sequence[bytes]) -> bytes:
    """Digest of a table, from the digests of its blocks in order."""
    return digests[0] if len(digests) == 1 else hashlib.sha256(b"".join(digests)).digest()


def _digest_form(column: pl.Series) -> pl.Series:
    """Cells of a column in the form that is digested: numbers as 64-bit floats if that is exact, others as text."""
    dtype = column.dtype
    if dtype.is_integer() or dtype.is_float():
        shortest = column.cast(pl.String) if dtype == pl.Float32 else column  # 0.1 is no float of 32 bits
        numbers = shortest.cast(pl.Float64)
        if not ((numbers.abs() >= EXACT) & numbers.is_not_nan()).any():
            # there is one NaN and one zero
            return numbers if dtype.is_integer() else numbers.fill_nan(np.nan).set(numbers == 0.0, 0.0)
    return column.to_frame("cell").select(_digested_text("cell", dtype).cast(pl.String)).to_series()


def _encoded_pieces(codes: NDArray[np.int64], values: pl.Series) -> Iterator[bytes]:
    """Bytes of a column by its codes, from the values that occur."""
    occurs = np.bincount(codes, minlength=len(values)) > 0
    yield from _pieces(_digest_form(values.filter(pl.Series(occurs))), (np.cumsum(occurs) - 1)[codes])


def _pieces(cells: pl.Series, rows: NDArray[np.int64] | None = None) -> Iterator[bytes]:
    """Bytes of a column; ``rows`` is the position of the cell of each row, None for one cell per row."""
    what = "texts" if cells.dtype == pl.String else "numbers"
    count = len(cells) if rows is None else len(rows)
    present = cells.unique().drop_nulls()
    if len(present) > FEW:
        yield json.dumps(["many", what, count]).encode()
        yield from (_texts if what == "texts" else _numbers)(cells if rows is None else cells.gather(rows))
        return
    small = _places(cells, present := present.sort())
    yield json.dumps(["few", what, count, *present.to_list()]).encode()
    yield (small if rows is None else small[rows]).tobytes()


def _places(cells: pl.Series, present: pl.Series) -> NDArray[np.uint8]:
    """Position of each cell among the sorted cells that occur."""
    missing = cells.is_null().to_numpy()
    if len(present) == 0:
        places: NDArray[Any] = np.zeros(len(cells))
    elif cells.dtype == pl.String:
        places = cells.cast(pl.Enum(present)).to_physical().fill_null(0).to_numpy()
    else:
        places = np.searchsorted(present.to_numpy(), cells.fill_null(present[0]).to_numpy())
    return np.where(missing, FEW, places).astype(np.uint8)


def _numbers(cells: pl.Series) -> Iterator[bytes]:
    """Bytes of a column of numbers: which are missing, then the numbers."""
    yield np.packbits(cells.is_null().to_numpy()).tobytes()
    yield cells.fill_null(0.0).to_numpy().astype("<f8").tobytes()


def _texts(cells: pl.Series) -> Iterator[bytes]:
    """Bytes of a column of texts: their lengths, -1 for a missing one, then all texts without separators."""
    yield cells.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy().astype("<i8").tobytes()
    yield (cells.str.join("").item() or "").encode()


def _digested_text(name: str, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_nested():
        return pl.struct(name).struct.json_encode().alias(name)
    if dtype == pl.Binary:
        return pl.col(name).bin.encode("hex")
    if dtype in (pl.Duration, pl.Time):
        return pl.col(name).to_physical()
    return text_expression(name, dtype)
