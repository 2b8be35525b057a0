"""Classes as arrays of counts: the input of requirements.

A search passes the classes of every candidate to the requirements as one :class:`ClassCounts`; a requirement returns
one verdict per class (or one for the whole file). Nothing here depends on a table: the arrays come from a grouped
frame, from the integer codes of a lattice search or from a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import UnknownName

Counts = NDArray[np.int64]
Codes = NDArray[np.int32]
Shares = NDArray[np.float64]
Verdict = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """Counts of each value of one sensitive column in each class, as compressed rows.

    Class ``c`` holds the values ``value[start[c]:start[c + 1]]`` (codes, ascending, each at most once), each
    ``count`` times; a value that a class does not hold has no entry. Codes follow the order of the column's kind
    (numbers by size, text by the alphabet), so ordered distances may sum over codes.

    >>> v = ValueCounts.of(np.array([[2, 0], [1, 3]]))
    >>> v.value.tolist(), v.count.tolist(), v.owner.tolist(), v.share.round(2).tolist()
    ([0, 0, 1], [2, 1, 3], [0, 1, 1], [1.0, 0.25, 0.75])
    """

    start: Counts
    value: Codes
    count: Counts
    baseline: Shares
    """The distribution of the column in the input table (records later suppressed included)."""
    ancestors: Codes | None = None
    """The column's hierarchy: ``ancestors[level, value]`` is the generalised code; level 0 has one for each value."""
    numbers: Shares | None = None
    """The values as numbers, where the column is numeric (for distances between values)."""
    missing_code: int = -1
    """The code of a missing value; -1 where none is missing."""
    persons: Counts | None = None
    """Persons of each class, who may have several values; the sum of ``count`` unless given."""
    known: Counts | None = None
    """Persons of each class who have a known value; the sum of the counts of known values unless given."""
    prevalence: Shares | None = None
    """Share of the persons of the input table who have each value; the baseline unless given."""

    @classmethod
    def of(
        cls,
        matrix: NDArray[np.integer],
        baseline: Shares | None = None,
        ancestors: Codes | None = None,
        numbers: Shares | None = None,
    ) -> ValueCounts:
        """Make the compressed form of a classes × values matrix; the baseline is its column sum unless given."""
        full = np.asarray(matrix, dtype=np.int64)
        rows, values = np.nonzero(full)
        start = np.zeros(len(full) + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=len(full)), out=start[1:])
        if baseline is None:
            baseline = full.sum(axis=0) / max(1, int(full.sum()))
        return cls(start, values.astype(np.int32), full[rows, values], baseline, ancestors, numbers)

    @property
    def owner(self) -> Counts:
        """The class of each entry."""
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int64), np.diff(self.start))

    @property
    def distinct(self) -> Counts:
        """Number of distinct values of each class."""
        return np.diff(self.start)

    @property
    def pairs(self) -> Counts:
        """Sum of the counts of each class: more than its persons where some have several values."""
        return np.bincount(self.owner, weights=self.count, minlength=len(self.start) - 1).astype(np.int64)

    @property
    def size(self) -> Counts:
        """Records (persons) of each class that this column counts."""
        return self.pairs if self.persons is None else self.persons

    @property
    def share(self) -> Shares:
        """The share of the records (persons) of its class that have the value of each entry.

        With a person column persons may have several values, and the shares of a class sum to more than 1.
        """
        return np.asarray(self.count / self.size[self.owner], dtype=np.float64)

    @property
    def largest_share(self) -> Shares:
        """The largest share of a value in each class."""
        return np.maximum.reduceat(self.share, self.start[:-1]) if len(self.start) > 1 else np.zeros(0)

    @property
    def prior(self) -> Shares:
        """The share of the records (persons) of the input table that have each value."""
        return self.baseline if self.prevalence is None else self.prevalence

    @property
    def has_repeated_persons(self) -> Verdict:
        """Whether some person of a class, or of the input table, has several values."""
        return (self.pairs > self.size) | (self.prevalence is not None)

    def dense(self) -> Counts:
        """Return the classes × values matrix; meant for few values or few classes."""
        full = np.zeros((len(self.start) - 1, len(self.baseline)), dtype=np.int64)
        full[self.owner, self.value] = self.count
        return full

    def take(self, classes: NDArray[np.intp] | Verdict) -> ValueCounts:
        """Keep some of the classes, given by position or mask; the baseline stays."""
        index = np.arange(len(self.start) - 1)[classes]
        lengths = np.diff(self.start)[index]
        start = np.zeros(len(index) + 1, dtype=np.int64)
        np.cumsum(lengths, out=start[1:])
        entry = np.arange(start[-1]) + np.repeat(self.start[index] - start[:-1], lengths)
        persons = None if self.persons is None else self.persons[index]
        non_missing = None if self.known is None else self.known[index]
        some = {"value": self.value[entry], "count": self.count[entry], "persons": persons, "known": non_missing}
        return replace(self, start=start, **some)

    def without_missing(self) -> ValueCounts:
        """Drop missing values; a class in which every value is missing keeps them.

        >>> start, value, count = np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([2, 5, 4])
        >>> ValueCounts(start, value, count, np.ones(2), missing_code=1).without_missing().count.tolist()
        [2, 4]
        """
        stays = (self.value != self.missing_code) | (self.distinct[self.owner] == 1)
        start = np.concatenate([[0], np.cumsum(np.bincount(self.owner[stays], minlength=len(self.start) - 1))])
        persons = self.persons if self.known is None else np.where(self.known > 0, self.known, self.size)
        some = {"value": self.value[stays], "count": self.count[stays], "persons": persons}
        return replace(self, start=start.astype(np.int64), **some)


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """Classes of one table, as arrays with one entry per class.

    ``size`` counts records, or persons where the table declares a person column. No class is empty.

    >>> c = ClassCounts(size=np.array([4, 2]), values={"disease": ValueCounts.of(np.array([[2, 2], [2, 0]]))})
    >>> c.total, c.of("disease").distinct.tolist(), len(c)
    (6, [2, 1], 2)
    """

    size: Counts
    values: Mapping[str, ValueCounts] = field(default_factory=dict)
    """One :class:`ValueCounts` per sensitive column that a requirement asked for."""
    total: int = -1
    """Records (persons) of the whole input table, suppressed ones included; the sum of ``size`` unless given."""
    members: Counts | None = None
    """Records (persons) that each entry stands for, where that is not its size: with missing values read as wildcards
    the entries are patterns, ``size`` their frequency."""
    target: Counts | None = None
    """Largest class size that a member of the class requires, where records have targets of their own."""
    population: Counts | None = None
    """Records of the population table that fall into the class, where a population is given."""
    population_total: int | None = None
    """Records of the population (known size of the population, or rows of its table)."""
    population_outside: int | None = None
    """Those in no class, where a population record may belong to several; else the total less those in the classes."""
    codes: Codes | None = None
    """classes × quasi-identifiers: the generalised code of each column, where a search made the classes."""
    levels: tuple[int, ...] | None = None
    """The level of each quasi-identifier, where a search made the classes."""
    squares: Counts | None = None
    """Per class, the sum over its original combinations of their squared record counts."""
    least: int = 1
    """Smallest class that may be kept."""

    def __post_init__(self) -> None:
        if self.total < 0:
            object.__setattr__(self, "total", int(self.size.sum()))

    def __len__(self) -> int:
        return len(self.size)

    @property
    def records(self) -> Counts:
        """Records (persons) of each entry."""
        return self.size if self.members is None else self.members

    @property
    def outside(self) -> int:
        """Records of the population that fall into none of these classes."""
        if self.population_outside is not None:
            return self.population_outside
        if self.population is None or self.population_total is None:
            return 0
        return max(0, self.population_total - int(self.population.sum()))

    def of(self, column: str | None = None) -> ValueCounts:
        """Return the counts of one sensitive column; without a name, of the only one."""
        if column is None and len(self.values) == 1:
            return next(iter(self.values.values()))
        if column is None or column not in self.values:
            raise UnknownName.of("sensitive column", column or "", self.values)
        return self.values[column]

    def take(self, classes: NDArray[np.intp] | Verdict) -> ClassCounts:
        """Keep some of the classes, given by position or mask; totals and baselines stay those of the input.

        People of the population in a removed class count as outside, though some may be in one that stays as well.
        """
        population = None if self.population is None else self.population[classes]
        outside = self.population_outside
        if outside is not None and self.population is not None and population is not None:
            outside += int(self.population.sum()) - int(population.sum())
            if self.population_total is not None:
                outside = min(outside, self.population_total - int(population.max(initial=0)))
        return ClassCounts(
            size=self.size[classes],
            values={name: counts.take(classes) for name, counts in self.values.items()},
            total=self.total,
            members=None if self.members is None else self.members[classes],
            target=None if self.target is None else self.target[classes],
            population=population,
            population_total=self.population_total,
            population_outside=outside,
            codes=None if self.codes is None else self.codes[classes],
            levels=self.levels,
            squares=None if self.squares is None else self.squares[classes],
            least=self.least,
        )
