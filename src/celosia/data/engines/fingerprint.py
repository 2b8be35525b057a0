"""A digest of a table's content that does not depend on the engine or the file type.

Rows are digested in blocks of :data:`BLOCK`, so that a cluster digests them side by side; the digest of a table of
several blocks is that of their digests. Numbers are digested as numbers, whatever their type, and everything else as
text. A column that has few different cells in a block is digested as those cells and a byte per row: where its codes
are known already no cell is looked at row by row.
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

    Looked: TypeAlias = tuple[NDArray[np.int64], pl.Series]
    """A column as codes, and the value of each code."""

BLOCK = 1 << 16
"""Rows of a block."""
FEW = 255
"""Up to so many different cells have a byte each; the byte after them says that there is none."""
EXACT = 2.0**53
"""Below this a whole number is a 64-bit float as well; a block with a larger number is digested as text."""


def fingerprint(frame: pl.LazyFrame) -> bytes:
    """SHA-256 of the names and of the cells, rows in their order, in one streaming pass.

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
    """Blocks of a table of so many rows with their digests, from batches that follow one another.

    ``numbers`` is the column of the rows' numbers in the table, and no part of the digests. A block of which not all
    rows come has none. Where the rows are not in order the last thing told is a block -1.

    >>> batches = [pl.DataFrame({"row": range(7, BLOCK + 5)}), pl.DataFrame({"row": range(BLOCK + 5, BLOCK + 9)})]
    >>> [(block, digest is None) for block, digest in digests_in_order(batches, "row", BLOCK + 9)]
    [(0, True), (1, False)]
    """
    held: pl.DataFrame | None = None
    for batch in batches:
        held = batch if held is None else pl.concat([held, batch], rechunk=False)
        while len(held):
            start = int(held[numbers][0])
            size = min((start // BLOCK + 1) * BLOCK, rows) - start
            if len(held) < size:
                break
            number, digest = _number_and_digest(held.head(size), numbers, whole=start % BLOCK == 0)
            yield number, digest
            if number < 0:
                return
            held = held.slice(size)
    if held is not None and len(held):
        yield _number_and_digest(held, numbers, whole=False)


def _number_and_digest(block: pl.DataFrame, numbers: str, *, whole: bool) -> tuple[int, bytes | None]:
    """The number of a block, and its digest where all of it is there."""
    start = int(block[numbers][0])
    if not np.array_equal(block[numbers].to_numpy(), np.arange(start, start + len(block))):
        return -1, None
    return start // BLOCK, block_digest(block.drop(numbers)) if whole else None


def whole(digests: Sequence[bytes]) -> bytes:
    """The digest of a table, from those of its blocks in order."""
    return digests[0] if len(digests) == 1 else hashlib.sha256(b"".join(digests)).digest()


def _digest_form(column: pl.Series) -> pl.Series:
    """The cells of a column as they are digested: numbers as 64-bit floats where that loses nothing, others as text."""
    dtype = column.dtype
    if dtype.is_integer() or dtype.is_float():
        shortest = column.cast(pl.String) if dtype == pl.Float32 else column  # 0.1 is no float of 32 bits
        numbers = shortest.cast(pl.Float64)
        if not ((numbers.abs() >= EXACT) & numbers.is_not_nan()).any():
            return (
                numbers if dtype.is_integer() else numbers.fill_nan(np.nan).set(numbers == 0.0, 0.0)
            )  # one NaN, one 0
    return column.to_frame("cell").select(_digested_text("cell", dtype).cast(pl.String)).to_series()


def _encoded_pieces(codes: NDArray[np.int64], values: pl.Series) -> Iterator[bytes]:
    """The bytes of a column that is given by codes: only the values that occur are looked at."""
    held = np.bincount(codes, minlength=len(values)) > 0
    yield from _pieces(_digest_form(values.filter(pl.Series(held))), (np.cumsum(held) - 1)[codes])


def _pieces(cells: pl.Series, rows: NDArray[np.int64] | None = None) -> Iterator[bytes]:
    """The bytes of a column; ``rows`` says which of the cells each row has, unless each has its own."""
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
    """The place of each cell among those that occur, which are sorted."""
    missing = cells.is_null().to_numpy()
    if len(present) == 0:
        places: NDArray[Any] = np.zeros(len(cells))
    elif cells.dtype == pl.String:
        places = cells.cast(pl.Enum(present)).to_physical().fill_null(0).to_numpy()
    else:
        places = np.searchsorted(present.to_numpy(), cells.fill_null(present[0]).to_numpy())
    return np.where(missing, FEW, places).astype(np.uint8)


def _numbers(cells: pl.Series) -> Iterator[bytes]:
    """Whether there is one, and the number."""
    yield np.packbits(cells.is_null().to_numpy()).tobytes()
    yield cells.fill_null(0.0).to_numpy().astype("<f8").tobytes()


def _texts(cells: pl.Series) -> Iterator[bytes]:
    """The length of each text, a missing one being shorter than an empty one, and all of them in a row."""
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
