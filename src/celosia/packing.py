"""Combinations of columns as single whole numbers, so that grouping and joining are array operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_ROOM = 2**62


def encode(series: pl.Series) -> tuple[NDArray[np.int64], pl.Series]:
    """Codes that follow the order of the values, a missing value last, and the values they stand for.

    >>> import polars as pl
    >>> codes, values = encode(pl.Series(["b", None, "a", "b"]))
    >>> codes.tolist(), values.to_list()
    ([1, 2, 0, 1], ['a', 'b', None])
    """

    physical = _identities(series)
    first = np.full(int(physical.max(initial=0)) + 1, -1, dtype=np.int64)
    first[physical[::-1]] = np.arange(len(physical) - 1, -1, -1)
    present = np.flatnonzero(first >= 0)
    values = series[first[present].astype(np.uint32)]
    order = values.arg_sort(nulls_last=True).to_numpy()
    table = np.zeros(len(first), dtype=np.int64)
    table[present[order]] = np.arange(len(order))
    return table[physical], values[order]


def _identities(series: pl.Series) -> NDArray[np.int64]:
    """Small whole numbers, equal where the values are, 0 for a missing one; found without sorting where possible."""
    import polars as pl

    if series.dtype == pl.String:
        codes = series.cast(pl.Categorical).to_physical()
    elif series.dtype.is_integer() and len(series) > series.null_count():
        low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
        small = high - low < 4 * len(series)
        codes = series.cast(pl.Int64) - low if small else series.rank("dense")
    else:
        codes = series.rank("dense")
    return codes.cast(pl.Int64).fill_null(-1).to_numpy() + 1


def pack(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number per row whose order is that of the rows, the first column deciding first.

    >>> pack([np.array([0, 1, 0]), np.array([5, 0, 2])]).tolist()
    [5, 6, 2]
    """
    key = columns[0]
    size = int(key.max(initial=0)) + 1
    for codes in columns[1:]:
        width = int(codes.max(initial=0)) + 1
        if size > _ROOM // width:  # close the gaps first; ranks keep the order
            _, key = np.unique(key, return_inverse=True)
            size = int(key.max(initial=0)) + 1
        key = key * width + codes
        size *= width
    return key
