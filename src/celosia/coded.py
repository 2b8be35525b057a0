"""The columns of a table in memory as whole numbers, encoded once, for grouping without touching text again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from celosia.packing import encode, pack

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Groups:
    """The combinations of some columns, in order: a number for each, its rows, and where it is first seen."""

    key: NDArray[np.int64]
    count: NDArray[np.int64]
    first: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coded:
    """The rows of a frame that are not suppressed.

    >>> import polars as pl
    >>> coded = Coded(pl.DataFrame({"sex": ["F", "M", "F"], "age": [30, 31, 30]}))
    >>> coded.groups(("sex", "age")).count.tolist(), coded.cells(("sex",), np.array([1]))["sex"].to_list()
    ([2, 1], ['M'])
    """

    frame: pl.DataFrame
    _columns: dict[str, tuple[NDArray[np.int32], pl.Series]] = field(default_factory=dict, repr=False)
    _keys: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict, repr=False)
    _groups: dict[tuple[str, ...], Groups] = field(default_factory=dict, repr=False)

    def has(self, names: Sequence[str]) -> bool:
        """Whether all these columns are here."""
        return all(name in self.frame.columns for name in names)

    def column(self, name: str) -> tuple[NDArray[np.int32], pl.Series]:
        """Codes in the order of the values, a missing value last, and the values."""
        if name not in self._columns:
            self._columns[name] = encode(self.frame[name])
        return self._columns[name]

    def key(self, names: Sequence[str]) -> NDArray[np.int64]:
        """One number per row that stands for its values in these columns."""
        wanted = tuple(names)
        if wanted not in self._keys:
            start = wanted[:-1] if wanted[:-1] in self._keys else ()
            begin = [self._keys[start]] if start else []
            self._keys[wanted] = pack([*begin, *(self.column(name)[0] for name in wanted[len(start) :])])
        return self._keys[wanted]

    def groups(self, names: Sequence[str]) -> Groups:
        """The combinations that occur."""
        import polars as pl

        wanted = tuple(names)
        if wanted not in self._groups:
            rows = pl.DataFrame({"key": self.key(wanted)}).with_row_index("row")
            found = rows.group_by("key").agg(pl.len().alias("count"), pl.col("row").first())
            key = found["key"].to_numpy()
            order = np.argsort(key)
            count, first = found["count"].to_numpy()[order], found["row"].to_numpy()[order]
            self._groups[wanted] = Groups(key[order], count.astype(np.int64), first.astype(np.int64))
        return self._groups[wanted]

    def cells(self, names: Sequence[str], rows: NDArray[np.int64]) -> pl.DataFrame:
        """The values of some rows in these columns."""
        import polars as pl

        return pl.DataFrame([self.column(n)[1][self.column(n)[0][rows].astype(np.uint32)].alias(n) for n in names])
