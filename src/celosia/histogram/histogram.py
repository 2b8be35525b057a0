"""Histogram: the combinations of values that occur in some columns, with their rows, persons and weights.

A histogram is closed under ``project``, ``recode`` and ``filter``, also for persons. Persons whose rows are all in one
entry are only counted (``single``). The others are listed as pairs of an entry and a person (``pairs``), so that a
person with several entries counts once when these are merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celosia.histogram.combinations import group, pack
from celosia.histogram.domain import Encoded
from celosia.histogram.fixed_point import means, sums, to_floats

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.histogram.fixed_point import Parts

    Ints = NDArray[np.int64]


class CountAgain(Exception):
    """Raised where the persons that a histogram lists do not determine a count: count the rows again."""


class PersonPairs(NamedTuple):
    """Persons with several entries: one pair per entry of each, sorted by person and entry."""

    entry: Ints
    person: Ints
    """Numbers below the number of listed persons."""
    rows: Ints
    weight: Parts | None
    """Sum of the weights of the rows of each pair, in parts."""

    @classmethod
    def of(cls, entry: Ints, person: Ints, rows: Ints, weight: Parts | None = None) -> PersonPairs:
        """Merge pairs of equal entry and person, sort them and number the persons from 0."""
        entry, person = np.asarray(entry, dtype=np.int64), np.asarray(person, dtype=np.int64)
        rows = np.asarray(rows, dtype=np.int64)
        if len(person) == 0:
            return cls(entry, person, rows, weight)
        seen = np.zeros(int(person.max()) + 1, dtype=np.int64)
        seen[person] = 1
        person = (np.cumsum(seen) - 1)[person]
        size = int(entry.max()) + 1
        key = person * size + entry
        if (key[1:] > key[:-1]).all():  # sorted and unique
            return cls(entry, person, rows, weight)
        order = np.argsort(key, kind="stable")  # fast on nearly sorted keys
        key = key[order]
        start = np.flatnonzero(np.diff(key, prepend=-1))
        total = None if weight is None else np.add.reduceat(weight[order], start, axis=0)
        return cls(key[start] % size, key[start] // size, np.add.reduceat(rows[order], start), total)

    @property
    def persons(self) -> int:
        """Number of listed persons."""
        return int(self.person.max(initial=-1)) + 1

    def take(self, chosen: NDArray[np.bool_]) -> PersonPairs:
        """Select some of the pairs."""
        weight = None if self.weight is None else self.weight[chosen]
        return PersonPairs(self.entry[chosen], self.person[chosen], self.rows[chosen], weight)


def count_persons(
    entry: Ints, person: Ints, size: int, weight: Parts | None = None
) -> tuple[Ints, Parts | None, PersonPairs]:
    """Count persons per entry: those with this entry only, the sum of their mean weights, and the pairs of the others.

    ``entry`` (below ``size``) and ``person`` have one number per row.

    >>> single, _, pairs = count_persons(np.array([0, 0, 1, 1]), np.array([7, 7, 7, 8]), 2)
    >>> single.tolist(), pairs.entry.tolist(), pairs.rows.tolist()
    ([0, 1], [0, 1], [2, 1])
    """
    both = person * max(1, size) + entry
    order = None if weight is None else np.argsort(both)
    both = np.sort(both) if order is None else both[order]
    start = np.flatnonzero(np.diff(both, prepend=-1))
    whose, own = np.divmod(both[start], max(1, size))
    rows = np.diff(start, append=len(both))
    total = None if weight is None or not len(start) else np.add.reduceat(weight[order], start, axis=0)
    first = np.diff(whose, prepend=-1) != 0
    alone = first & np.append(first[1:], True)[: len(first)]
    single = np.bincount(own[alone], minlength=size).astype(np.int64)
    if weight is not None and total is None:
        total = np.zeros((0, 2), dtype=np.int64)
    weights = None if total is None else sums(means(total[alone], rows[alone]), own[alone], size)
    number = (np.cumsum(first & ~alone) - 1)[~alone]
    return single, weights, PersonPairs.of(own[~alone], number, rows[~alone], None if total is None else total[~alone])


@dataclass(frozen=True, eq=False)
class Histogram:
    """One entry per combination, in the lexicographic order of the codes.

    >>> import polars as pl
    >>> from celosia.histogram.domain import encode
    >>> cells = {"sex": encode(pl.Series(["F", "M", "M"])), "ill": encode(pl.Series(["a", "a", "b"]))}
    >>> pairs = PersonPairs.of(np.array([1, 2]), np.array([0, 0]), np.array([1, 1]))  # one person has both ills
    >>> both = Histogram(cells, rows=np.array([3, 1, 1]), single=np.array([2, 0, 0]), pairs=pairs)
    >>> both.persons.tolist(), both.project(["sex"]).persons.tolist()
    ([2, 1, 1], [2, 1])
    """

    columns: Mapping[str, Encoded]
    rows: Ints
    single: Ints | None = None
    """Persons who have this entry and no other; None without a person column."""
    weight: Parts | None = None
    """Sum of weights, in parts (:mod:`celosia.histogram.fixed_point`); of the mean weights of ``single`` if counted."""
    pairs: PersonPairs | None = None
    person_keys: frozenset[str] | None = None
    """Columns of which listed persons have several combinations; None for all. Other columns must be kept as they are:
    a person who is not listed may have several entries that differ in them only."""

    @classmethod
    def of_entries(
        cls,
        columns: Mapping[str, Encoded],
        rows: Ints,
        single: Ints | None = None,
        weight: Parts | None = None,
        pairs: PersonPairs | None = None,
        person_keys: frozenset[str] | None = None,
    ) -> Histogram:
        """Build a histogram from entries in any order; equal ones are merged."""
        return cls(columns, rows, single, weight, pairs, person_keys).sort()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    def column(self, name: str) -> Encoded:
        """Return one column: the code of each entry and its domain."""
        return self.columns[name]

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Combinations as a frame."""
        import polars as pl

        return pl.DataFrame([column.cells().alias(name) for name, column in self.columns.items()])

    @cached_property
    def persons(self) -> Ints:
        """Number of persons of each entry; without a person column, of rows."""
        if self.single is None:
            return self.rows
        if self.pairs is None or not len(self.pairs.entry):
            return self.single
        return self.single + np.bincount(self.pairs.entry, minlength=len(self))

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """Sum of the weights of each entry, one per person as the mean of their rows; None without weights."""
        if self.weight is None:
            return None
        if self.pairs is None or self.pairs.weight is None or not len(self.pairs.entry):
            return to_floats(self.weight)
        return to_floats(self.weight + sums(means(self.pairs.weight, self.pairs.rows), self.pairs.entry, len(self)))

    @property
    def total(self) -> int:
        """Number of persons of the table; without a person column, of rows."""
        if self.single is None:
            return int(self.rows.sum())
        if self.person_keys is not None and not set(self.names) <= self.person_keys:
            raise CountAgain
        return int(self.single.sum()) + (0 if self.pairs is None else self.pairs.persons)

    def project(self, names: Sequence[str]) -> Histogram:
        """Count the combinations of some of the columns, in the given order."""
        if tuple(names) == self.names:
            return self
        if not self.can_project(names):
            raise CountAgain
        return self._regroup({name: self.columns[name] for name in names})

    def can_project(self, names: Sequence[str]) -> bool:
        """Return whether the persons of these columns can be computed from the listed ones."""
        return self.person_keys is None or set(self.names) - self.person_keys <= set(names)

    def recode(self, columns: Mapping[str, Encoded]) -> Histogram:
        """Replace or add columns of the entries, and merge entries that become equal."""
        keys = self.person_keys
        if keys is not None and not set(columns) & set(self.names) <= keys:
            raise CountAgain
        wider = self if keys is None else replace(self, person_keys=keys | set(columns))
        return replace(wider, columns={**self.columns, **columns}).sort()

    def filter(self, mask: NDArray[np.bool_]) -> Histogram:
        """Keep some of the entries, with the rows of persons in them."""
        place = np.where(mask, np.cumsum(mask) - 1, -1)
        kept = np.flatnonzero(mask)
        return self._place({name: column.take(kept) for name, column in self.columns.items()}, place, len(kept))

    def merge(self, place: Ints, size: int) -> Histogram:
        """Merge entries with equal place (-1 drops an entry), without columns."""
        return self._place({}, place, size)

    def sort(self) -> Histogram:
        """Sort the entries and merge equal ones."""
        return self._regroup(dict(self.columns))

    def without_persons(self) -> Histogram:
        """Drop the persons and weights."""
        return Histogram(self.columns, self.rows)

    def find(self, finer: Histogram) -> Ints:
        """Return the entry of each entry of a histogram of the same records over more columns."""
        own = list(self.columns.values())
        theirs = [finer.columns[name].recode(column.domain) for name, column in self.columns.items()]
        if len(self) == len(finer) and all(map(np.array_equal, (column.codes for column in own), theirs)):
            return np.arange(len(self))
        if not own:
            return np.zeros(len(finer), dtype=np.int64)
        # packed together, because the largest code of a column may be in one of them only
        key = pack([np.concatenate([column.codes, codes]) for column, codes in zip(own, theirs, strict=True)])
        return np.searchsorted(key[: len(self)], key[len(self) :])

    def matrix(self, names: Sequence[str], *, open_missing: Sequence[str] = ()) -> NDArray[np.int32]:
        """Return the codes, entries × columns; a missing value is -1 in the columns ``open_missing``."""
        columns = [self.columns[name].masked if name in open_missing else self.columns[name].codes for name in names]
        return np.ascontiguousarray(np.column_stack(columns), dtype=np.int32)

    def _regroup(self, columns: dict[str, Encoded]) -> Histogram:
        """Replace the columns, sort the entries and merge equal ones."""
        if not columns:
            some = min(1, len(self))
            return self._place({}, np.zeros(len(self), dtype=np.int64), some)
        codes = [column.codes for column in columns.values()]
        key = pack(codes)
        if (key[1:] > key[:-1]).all():  # sorted and unique
            return replace(self, columns=columns)
        first, place = group(codes)
        return self._place({name: column.take(first) for name, column in columns.items()}, place, len(first))

    def _place(self, columns: Mapping[str, Encoded], place: Ints, size: int) -> Histogram:
        """Sum entries by place (-1 drops an entry), and list only persons who still have several."""
        kept = place >= 0
        where = place if kept.all() else place[kept]
        rows = sums(self.rows if len(where) == len(place) else self.rows[kept], where, size)
        single, weight, pairs = self.single, self.weight, self.pairs
        single = None if single is None else sums(single if len(where) == len(place) else single[kept], where, size)
        weight = None if weight is None else sums(weight if len(where) == len(place) else weight[kept], where, size)
        if pairs is not None and single is not None:
            entry = place[pairs.entry]
            inside = entry >= 0
            pairs = pairs if inside.all() else pairs.take(inside)
            pairs = PersonPairs.of(entry[inside], pairs.person, pairs.rows, pairs.weight)
            alone = np.bincount(pairs.person)[pairs.person] == 1 if len(pairs.person) else np.zeros(0, dtype=np.bool_)
            if alone.any():
                single += np.bincount(pairs.entry[alone], minlength=size)
                if weight is not None and pairs.weight is not None:
                    weight += sums(means(pairs.weight[alone], pairs.rows[alone]), pairs.entry[alone], size)
                pairs = PersonPairs.of(*pairs.take(~alone))
        keys = None if self.person_keys is None else self.person_keys & set(columns)
        return Histogram(columns, rows, single, weight, pairs, keys)


__all__ = ["CountAgain", "Histogram", "PersonPairs", "count_persons"]
