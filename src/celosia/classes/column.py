"""One column as whole numbers, and combinations of columns as single ones: grouping and joining are array operations.

This is the only place where values become codes. Codes follow the order of the values (of the declared kind where it
matters), and a missing value is a value like any other, the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.schema import Kind

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_ROOM = 2**62


@dataclass(frozen=True, eq=False)
class Encoded:
    """The codes of a column and the values that they stand for, a missing one last.

    >>> import polars as pl
    >>> column = encode(pl.Series(["b", None, "a", "b"]))
    >>> column.codes.tolist(), column.values.to_list(), column.masked.tolist(), column.present.to_list()
    ([1, 2, 0, 1], ['a', 'b', None], [1, -1, 0, 1], ['a', 'b'])
    """

    codes: NDArray[np.int32]
    values: pl.Series

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def missing(self) -> bool:
        """Whether some value is missing."""
        return len(self.values) > 0 and self.values[-1] is None

    @cached_property
    def present(self) -> pl.Series:
        """The values without the missing one."""
        return self.values[:-1] if self.missing else self.values

    @cached_property
    def masked(self) -> NDArray[np.int32]:
        """The codes with -1 where the value is missing, for work that has no place for missing values."""
        if not self.missing:
            return self.codes
        return np.where(self.codes == len(self.values) - 1, np.int32(-1), self.codes)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Encoded:
        """Some of the rows; the values stay."""
        return Encoded(self.codes[rows], self.values)

    def ordered(self, kind: Kind | None, order: Sequence[str]) -> Encoded:
        """The same column with its values in the order of a kind."""
        other = encode(self.values, kind, order)
        return self if other.values.equals(self.values) else Encoded(other.codes[self.codes], other.values)

    def cells(self) -> pl.Series:
        """The column itself."""
        return self.values.gather(self.codes.astype(np.uint32))


def encode(series: pl.Series, kind: Kind | None = None, order: Sequence[str] = ()) -> Encoded:
    """Encode a column; an ordinal one with a declared ``order`` follows that order."""
    import polars as pl

    if series.dtype == pl.String:  # text is hashed once per row and compared once per distinct value
        hashed = series.cast(pl.Categorical)
        distinct = hashed.unique()
        values, codes, seen = distinct.cast(pl.String), hashed.to_physical(), distinct.to_physical()
    elif (low := _offset(series)) is not None:
        codes = series.cast(pl.Int64) - low
        seen = codes.unique()
        values = (seen + low).cast(series.dtype)
    else:
        codes = series.rank("dense")
        first = codes.arg_unique()
        seen, values = codes[first], series[first]
    gone = int(seen.max() or 0) + 1  # type: ignore[arg-type]
    place = _declared(values, order) if kind == Kind.ORDINAL and order else values.arg_sort(nulls_last=True)
    table = np.zeros(gone + 1, dtype=np.int32)
    table[seen[place].fill_null(gone).to_numpy()] = np.arange(len(place), dtype=np.int32)
    filled = codes.fill_null(gone) if codes.null_count() else codes
    return Encoded(table[filled.to_numpy()], values[place].alias(series.name))


def recode(column: Encoded, values: pl.Series) -> NDArray[np.int32]:
    """The codes of a column among other ``values``; -1 for one that they lack."""
    import polars as pl

    place = pl.DataFrame({"value": values, "code": np.arange(len(values), dtype=np.int32)})
    own = column.values.to_frame("value").join(place, on="value", how="left", nulls_equal=True, maintain_order="left")
    return own["code"].fill_null(-1).to_numpy()[column.codes]


def _declared(values: pl.Series, order: Sequence[str]) -> pl.Series:
    """The positions of the values in the declared order; others follow in their own, a missing one is last."""
    import polars as pl

    ranked = pl.Series(order).cast(values.dtype, strict=False)
    rank = values.replace_strict(ranked, np.arange(len(ranked)), default=len(ranked), return_dtype=pl.Int64)
    table = pl.DataFrame({"rank": rank, "value": values}).with_row_index("at")
    return table.sort(pl.col("value").is_null(), "rank", "value")["at"]


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


_FEW = 1 << 22
"""Below so many possible combinations they are found in an array of all of them, without a sort."""


def group(columns: Sequence[NDArray[np.int32] | NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The combinations of some columns in their order: where each is first seen, and the combination of each row.

    >>> first, place = group([np.array([7, 7, 3, 7]), np.array([0, 2, 2, 0])])
    >>> first.tolist(), place.tolist()
    ([2, 0, 1], [1, 2, 0, 1])
    """
    key = pack(columns)
    size = int(key.max(initial=-1)) + 1
    if size > _FEW:
        steps = np.diff(key, prepend=-1)
        if (steps >= 0).all():  # in order already: combinations end where the number changes
            return np.flatnonzero(steps), np.cumsum(steps > 0) - 1
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return first, place.reshape(-1)
    seen = np.full(size, -1, dtype=np.int64)
    seen[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    present = np.flatnonzero(seen >= 0)
    places = np.zeros(size, dtype=np.int64)
    places[present] = np.arange(len(present))
    return seen[present], places[key]


def ranked(columns: Sequence[NDArray[np.int32] | NDArray[np.int64]]) -> NDArray[np.int64] | slice:
    """What brings the rows of some columns into order, the first column deciding first; rows in order stay as they are.

    >>> ranked([np.array([1, 0, 1]), np.array([0, 5, 0])]).tolist(), ranked([np.array([0, 1]), np.array([5, 5])])
    ([1, 0, 2], slice(None, None, None))
    """
    key = pack(columns)
    return slice(None) if (key[1:] >= key[:-1]).all() else np.argsort(key, kind="stable")


def number(columns: Sequence[NDArray[np.int32] | NDArray[np.int64]]) -> NDArray[np.int64]:
    """Number the combinations of some columns from 0, in their order, leaving no number out.

    >>> number([np.array([7, 7, 3]), np.array([0, 2, 2])]).tolist()
    [1, 2, 0]
    """
    return group(columns)[1]
