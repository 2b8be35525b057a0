"""Units that a method treats as one: records, or the groups of records of one household or one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from celosia.histogram import group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    T = TypeVar("T", bound=np.generic)
    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Units:
    """Records, or groups of records, that are treated as one."""

    member: Ints
    """The unit of each record."""
    first: Ints
    """The first record of each unit, which stands for it."""
    each: bool = False
    """Whether every record is a unit, in order: then nothing needs to be copied."""

    @classmethod
    def records(cls, n: int) -> Units:
        """Every record as a unit."""
        return cls(np.arange(n), np.arange(n), each=True)

    def pick(self, values: NDArray[T]) -> NDArray[T]:
        """One entry per unit from one per record."""
        return values if self.each else values[self.first]

    def expand(self, values: NDArray[T]) -> NDArray[T]:
        """One entry per record from one per unit."""
        return values if self.each else values[self.member]

    def count_differing(self, table: Table, name: str) -> int:
        """Count the records whose value of a column differs from that of the first record of their unit."""
        if self.each:
            return 0
        column = table.column(name)
        return int(column.ne_missing(column.gather(self.first[self.member])).sum())

    def __len__(self) -> int:
        return len(self.first)


def units_of(table: Table, column: str | None) -> Units:
    """Units of the records with equal values of a column; a record without a value is a unit of its own.

    >>> import polars as pl, celosia
    >>> homes = units_of(celosia.read(pl.DataFrame({"home": [7, None, 7, None]})), "home")
    >>> homes.member.tolist(), homes.first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    n = len(table)
    if column is None:
        return Units.records(n)
    codes = np.asarray(table.codes(column)[0], dtype=np.int64)
    alone = codes < 0
    codes = np.where(alone, codes.max(initial=-1) + np.cumsum(alone), codes)
    first, member = group([codes])
    return Units.records(n) if len(first) == n else Units(member, first)


def distinct_counts(of: Ints, keys: Ints) -> Ints:
    """Count the distinct values of ``of`` in each group of ``keys``, whose groups are numbered from 0.

    >>> distinct_counts(np.array([5, 5, 6]), np.array([0, 0, 0])).tolist()
    [2]
    """
    first, _ = group([keys, of])
    return np.bincount(keys[first], minlength=1).astype(np.int64)
