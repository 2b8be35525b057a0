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
    import polars as pl

    # text is hashed once per row and compared once per distinct value
    rank = series.cast(pl.Categorical).to_physical() if series.dtype == pl.String else series.rank("dense")
    physical = rank.cast(pl.Int64).fill_null(-1).to_numpy() + 1
    present, first = np.unique(physical, return_index=True)
    values = series[first.astype(np.uint32)]
    order = values.arg_sort(nulls_last=True).to_numpy()
    table = np.zeros(int(present.max(initial=0)) + 1, dtype=np.int64)
    table[present[order]] = np.arange(len(order))
    return table[physical], values[order]


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
