"""Combinations of columns as single whole numbers, so that grouping and joining are array operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_ROOM = 2**62


def encode(series: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """Codes that follow the order of the values, a missing value last, and the values they stand for.

    >>> import polars as pl
    >>> codes, values = encode(pl.Series(["b", None, "a", "b"]))
    >>> codes.tolist(), values.to_list()
    ([1, 2, 0, 1], ['a', 'b', None])
    """
    import polars as pl

    if series.dtype == pl.String:  # text is hashed once per row and compared once per distinct value
        hashed = series.cast(pl.Categorical)
        present = hashed.unique()
        values, codes, known = present.cast(pl.String), hashed.to_physical(), present.to_physical()
    elif (low := _offset(series)) is not None:
        codes = series.cast(pl.Int64) - low
        known = codes.unique()
        values = (known + low).cast(series.dtype)
    else:
        codes = series.rank("dense")
        first = codes.arg_unique()
        known, values = codes[first], series[first]
    gone = int(known.max() or 0) + 1  # type: ignore[arg-type]
    order = values.arg_sort(nulls_last=True)
    table = np.zeros(gone + 1, dtype=np.int32)
    table[known[order].fill_null(gone).to_numpy()] = np.arange(len(order), dtype=np.int32)
    place = codes.fill_null(gone) if codes.null_count() else codes
    return table[place.to_numpy()], values[order].alias(series.name)


def _offset(series: pl.Series) -> int | None:
    """The smallest of whole numbers that lie close together; they are codes already."""
    if not series.dtype.is_integer() or len(series) == series.null_count():
        return None
    low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
    return low if high - low < 4 * len(series) and abs(low) < 2**62 else None


def pack(columns: Sequence[NDArray[np.int32] | NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number per row whose order is that of the rows, the first column deciding first.

    >>> pack([np.array([0, 1, 0]), np.array([5, 0, 2])]).tolist()
    [5, 6, 2]
    """
    key = columns[0].astype(np.int64)
    size = int(key.max(initial=0)) + 1
    for codes in columns[1:]:
        width = int(codes.max(initial=0)) + 1
        if size > _ROOM // width:  # close the gaps first; ranks keep the order
            _, key = np.unique(key, return_inverse=True)
            size = int(key.max(initial=0)) + 1
        key = key * width + codes
        size *= width
    return key
