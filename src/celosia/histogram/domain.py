"""Dictionary encoding: the distinct values of a column, and columns as codes of them.

Codes follow the order of the values, or a declared order. A missing value is a value like any other, and the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Domain:
    """Distinct values in order, a missing one last.

    >>> import polars as pl
    >>> domain = Domain(pl.Series(["a", "b", None]))
    >>> domain.encode(pl.Series(["b", "x", None])).tolist(), domain.missing_code, domain.present.to_list()
    ([1, -1, 2], 2, ['a', 'b'])
    """

    values: pl.Series

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def has_missing(self) -> bool:
        """Whether a missing value is among them."""
        return len(self.values) > 0 and self.values[-1] is None

    @property
    def missing_code(self) -> int:
        """Code of a missing value; -1 if none is missing."""
        return len(self.values) - 1 if self.has_missing else -1

    @cached_property
    def present(self) -> pl.Series:
        """The values without the missing one."""
        return self.values[:-1] if self.has_missing else self.values

    def encode(self, cells: pl.Series) -> NDArray[np.int32]:
        """Encode cells, -1 for a value that is not in the domain."""
        import polars as pl

        codes = pl.DataFrame({"value": self.values, "code": np.arange(len(self.values), dtype=np.int32)})
        own = cells.to_frame("value").join(codes, on="value", how="left", nulls_equal=True, maintain_order="left")
        return own["code"].fill_null(-1).to_numpy()

    def recode(self, other: Domain) -> NDArray[np.int32]:
        """Return the code of each value in another domain, -1 for values that it lacks."""
        return other.encode(self.values)

    def equals(self, other: Domain) -> bool:
        """Return whether both have the same values in the same order."""
        return self is other or (self.values.dtype == other.values.dtype and self.values.equals(other.values))


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column as codes of a domain: one code per record, or per entry of a histogram.

    >>> import polars as pl
    >>> column = encode(pl.Series(["b", None, "a", "b"]))
    >>> column.codes.tolist(), column.values.to_list(), column.masked.tolist(), column.present.to_list()
    ([1, 2, 0, 1], ['a', 'b', None], [1, -1, 0, 1], ['a', 'b'])
    """

    codes: NDArray[np.int32]
    domain: Domain

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def values(self) -> pl.Series:
        """Values of the codes, a missing one last."""
        return self.domain.values

    @property
    def present(self) -> pl.Series:
        """The values without the missing one."""
        return self.domain.present

    @cached_property
    def masked(self) -> NDArray[np.int32]:
        """Codes with -1 where the value is missing."""
        if not self.domain.has_missing:
            return self.codes
        return np.where(self.codes == self.domain.missing_code, np.int32(-1), self.codes)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Encoded:
        """Select some of the rows; the domain stays."""
        return Encoded(self.codes[rows], self.domain)

    def recode(self, domain: Domain) -> NDArray[np.int32]:
        """Return the codes in another domain, -1 for values that it lacks."""
        return self.codes if domain.equals(self.domain) else self.domain.recode(domain)[self.codes]

    def reorder(self, order: Sequence[str]) -> Encoded:
        """Encode by a domain in a declared order; an empty one is the order of the values."""
        other = encode(self.values, order)
        return self if other.domain.equals(self.domain) else Encoded(other.codes[self.codes], other.domain)

    def cells(self) -> pl.Series:
        """Decode the column."""
        return self.values.gather(self.codes.astype(np.uint32))


def encode(series: pl.Series, order: Sequence[str] = ()) -> Encoded:
    """Encode a column. Values in a declared ``order`` are first, in that order; a missing one is last."""
    import polars as pl

    if series.dtype == pl.String:  # one hash per row, comparisons of distinct values only
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
    place = _order_positions(values, order) if order else values.arg_sort(nulls_last=True)
    table = np.zeros(gone + 1, dtype=np.int32)
    table[seen[place].fill_null(gone).to_numpy()] = np.arange(len(place), dtype=np.int32)
    filled = codes.fill_null(gone) if codes.null_count() else codes
    return Encoded(table[filled.to_numpy()], Domain(values[place].alias(series.name)))


def _order_positions(values: pl.Series, order: Sequence[str]) -> pl.Series:
    """Return the positions that sort values by a declared order; other values follow, a missing one is last."""
    import polars as pl

    ranked = pl.Series(order).cast(values.dtype, strict=False)
    rank = values.replace_strict(ranked, np.arange(len(ranked)), default=len(ranked), return_dtype=pl.Int64)
    table = pl.DataFrame({"rank": rank, "value": values}).with_row_index("at")
    return table.sort(pl.col("value").is_null(), "rank", "value")["at"]


def _offset(series: pl.Series) -> int | None:
    """Return the smallest of whole numbers whose range is small enough to use them as codes; None otherwise."""
    if not series.dtype.is_integer() or len(series) == series.null_count():
        return None
    low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
    return low if high - low < 4 * len(series) and abs(low) < 2**62 else None
