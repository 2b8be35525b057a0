"""The columns of a table in memory as codes, each encoded once, for grouping without touching values again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from celosia.classes.column import Encoded, encode, pack
from celosia.data.schema import Schema

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


_FEW = 1 << 16
"""Up to so many possible combinations, or as many as rows, are counted in an array of all, without a group-by."""


_SOON = 1 << 16
"""Up to so many rows are counted before compiled code would be loaded."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The combinations of some columns, in order: a number for each, its rows, and the row where it is first seen."""

    key: NDArray[np.int64]
    count: NDArray[np.int64]
    first: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coded:
    """The rows of a frame, in the order of the records; groups are of those that are kept.

    >>> import polars as pl
    >>> data = pl.DataFrame({"sex": ["F", "M", "F"], "age": [30, 31, 30]})
    >>> coded = Coded(data, Schema.of(quasi=["sex", "age"]))
    >>> coded.groups(("sex", "age")).count.tolist(), coded.place(("sex", "age")).tolist()
    ([2, 1], [0, 1, 0])
    """

    frame: pl.DataFrame
    schema: Schema
    kept: NDArray[np.int64] | None = None
    """Positions of the records that take part; None when all do."""
    _columns: dict[str, Encoded] = field(default_factory=dict, repr=False)
    _keys: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict, repr=False)
    _groups: dict[tuple[str, ...], Groups] = field(default_factory=dict, repr=False)

    def everyone(self) -> Coded:
        """The same columns with all records taking part."""
        return self if self.kept is None else Coded(self.frame, self.schema, _columns=self._columns)

    def column(self, name: str) -> Encoded:
        """A column over all records."""
        if name not in self._columns:
            info = self.schema[name]
            self._columns[name] = encode(self.frame[name], info.kind, info.order)
        return self._columns[name]

    def codes(self, name: str) -> NDArray[np.int32]:
        """The codes of the kept records."""
        codes = self.column(name).codes
        return codes if self.kept is None else codes[self.kept]

    def key(self, names: Sequence[str]) -> NDArray[np.int64]:
        """One number per kept record that stands for its values in these columns."""
        wanted = tuple(names)
        if wanted not in self._keys:
            start = wanted[:-1] if wanted[:-1] in self._keys else ()
            begin = [self._keys[start]] if start else []
            self._keys[wanted] = pack([*begin, *(self.codes(name) for name in wanted[len(start) :])])
        return self._keys[wanted]

    def groups(self, names: Sequence[str]) -> Groups:
        """The combinations that occur."""
        wanted = tuple(names)
        if wanted not in self._groups:
            key = self.key(wanted)
            self._groups[wanted] = _tallied(key) if _few(key) else _grouped(key)
        return self._groups[wanted]

    def place(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The group of each kept record."""
        groups, key = self.groups(names).key, self.key(names)
        if not _few(key):
            return np.searchsorted(groups, key)
        number = np.zeros(int(key.max(initial=-1)) + 1, dtype=np.int64)
        number[groups] = np.arange(len(groups))
        return number[key]

    def persons(self, names: Sequence[str], person: str) -> NDArray[np.int64]:
        """How many different persons each group has."""
        return np.bincount(self._pairs(names, person)[1], minlength=len(self.groups(names).key)).astype(np.int64)

    def weights(self, names: Sequence[str], weight: str, person: str | None) -> NDArray[np.float64]:
        """The sum of the weights of each group; a person's counts once, as the mean of their rows there."""
        values = self.frame[weight].cast(float).fill_null(0.0).to_numpy()
        values = values if self.kept is None else values[self.kept]
        size = len(self.groups(names).key)
        if person is None:
            return np.asarray(np.bincount(self.place(names), weights=values, minlength=size), dtype=np.float64)
        pairs, owner = self._pairs(names, person)
        both = tuple(dict.fromkeys((*names, person)))
        mean = np.bincount(self.place(both), weights=values, minlength=len(pairs.key)) / pairs.count
        return np.asarray(np.bincount(owner, weights=mean, minlength=size), dtype=np.float64)

    def _pairs(self, names: Sequence[str], person: str) -> tuple[Groups, NDArray[np.int64]]:
        """The pairs of a group and a person that occur, and the group of each."""
        pairs = self.groups(tuple(dict.fromkeys((*names, person))))
        return pairs, np.searchsorted(self.groups(names).key, self.key(names)[pairs.first])


def _few(key: NDArray[np.int64]) -> bool:
    return int(key.max(initial=0)) < max(_FEW, len(key))


def _tallied(key: NDArray[np.int64]) -> Groups:
    """The groups of small numbers, counted in place."""
    size = int(key.max(initial=-1)) + 1
    if len(key) <= _SOON:
        count, first = np.bincount(key, minlength=size), np.zeros(size, dtype=np.int64)
        first[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    else:
        from celosia.mathematics.kernels.grouping.group_counts import tally

        count, first = tally(key, size)
    present = np.flatnonzero(count)
    return Groups(present, count[present], first[present])


def _grouped(key: NDArray[np.int64]) -> Groups:
    """The groups of any numbers."""
    import polars as pl

    rows = pl.DataFrame({"key": key}).with_row_index("row")
    groups = rows.group_by("key").agg(pl.len().alias("count"), pl.col("row").first()).sort("key")
    return Groups(*(groups[name].cast(pl.Int64).to_numpy() for name in ("key", "count", "row")))
