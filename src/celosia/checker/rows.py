"""Tables as plain rows, from which every second implementation starts.

Nothing here uses the rest of Celosia. A row is a dictionary; classes are built by comparing keys one by one. Two rules
hold for all numbers: a suppressed record belongs to no class, and with a person column persons are counted, each once
per class (and once per sensitive value of a class), however many rows they have. Where that may be too favourable
:meth:`Plain.readings` gives further interpretations of the rows, and the worst number is stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

Row = dict[str, Any]
STAR = "*"


@dataclass(frozen=True)
class Plain:
    """Rows, the roles of their columns, and the input that distributions are compared with."""

    rows: tuple[Row, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    person: str | None = None
    weight: str | None = None
    household: str | None = None
    missing: dict[str, str] = field(default_factory=dict)
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    numeric: frozenset[str] = frozenset()
    trees: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """column → one path per value of its domain: the value, its label on each level, the root."""
    recoded: frozenset[str] = frozenset()
    """Columns that hold labels of a hierarchy, or other words, instead of the values that were read."""
    suppressed: frozenset[int] = frozenset()
    before: tuple[Row, ...] | None = None
    """Rows of the input table, where steps were applied since; columns that were recoded are recoded here too."""
    shares_before: Mapping[str, Mapping[Any, Fraction]] = field(default_factory=dict)
    """Distributions of columns in the input table, where they are known without its rows."""
    shares_each: Mapping[str, Mapping[Any, Fraction]] | None = None
    """``shares_before`` with each row without a person's id as a person of its own."""
    prevalence_before: Mapping[str, Mapping[Any, Fraction]] = field(default_factory=dict)
    """Shares of the persons of the input table who have each value, where ``shares_before`` has the distribution."""
    prevalence_each: Mapping[str, Mapping[Any, Fraction]] | None = None
    """``prevalence_before`` with each row without a person's id as a person of its own."""
    each_unknown: bool = False
    """Whether rows without a person's id belong each to another person; otherwise to one."""
    people: int | None = None
    """Persons of the whole table, where these rows are some of its classes."""

    @cached_property
    def in_classes(self) -> list[int]:
        """Numbers of the rows that belong to a class: all of them where all are suppressed."""
        return self.unsuppressed or list(range(len(self.rows)))

    @cached_property
    def unsuppressed(self) -> list[int]:
        """Numbers of the rows that are not suppressed."""
        return [i for i in range(len(self.rows)) if i not in self.suppressed]

    def readings(self) -> list[Plain]:
        """Return the interpretations of the table over which the worst number is taken.

        The suppressed rows belong to no class, or those that show a sensitive value form one (their quasi-identifiers
        are equal). Rows without a person's id belong to one person, or each to another.
        """
        sensitive = [name for name in self.sensitive if name not in self.quasi]
        empty = frozenset(i for i in self.suppressed if all(self.rows[i][name] is None for name in sensitive))
        apart = [self] if empty == self.suppressed else [self, replace(self, suppressed=empty)]
        if self.each_unknown or self.person is None or sum(row[self.person] is None for row in self.rows) < 2:
            return apart
        before = self.shares_before if self.shares_each is None else self.shares_each
        persons = self.prevalence_before if self.prevalence_each is None else self.prevalence_each
        each = replace(self, each_unknown=True, shares_before=before, prevalence_before=persons)
        return [*(replace(each, suppressed=table.suppressed) for table in apart), *apart]

    @cached_property
    def missing_semantics(self) -> str:
        """Semantics of missing values of the quasi-identifiers, "category" columns apart."""
        return next((r for c, r in self.missing.items() if c in self.quasi and r != "category"), "category")

    def who(self, i: int) -> tuple[str, Any]:
        """Return the person of a row; without a person column every row is a person."""
        if self.person is None or (self.each_unknown and self.rows[i][self.person] is None):
            return ("row", i)
        return ("person", self.rows[i][self.person])

    def persons(self, numbers: Sequence[int]) -> int:
        """Count the persons of these rows."""
        return len({self.who(i) for i in numbers})

    def key(self, i: int) -> tuple[Any, ...]:
        """Quasi-identifiers of a row."""
        return tuple(self.rows[i][name] for name in self.quasi)

    def classes(self) -> dict[tuple[Any, ...], list[int]]:
        """Rows of each class: equal quasi-identifiers, missing equals missing."""
        return self._classes

    @cached_property
    def _classes(self) -> dict[tuple[Any, ...], list[int]]:
        rows_of: dict[tuple[Any, ...], list[int]] = {}
        for i in self.in_classes:
            rows_of.setdefault(self.key(i), []).append(i)
        return rows_of

    def compatible(self, i: int, j: int) -> bool:
        """Whether two rows are equal wherever both are observed; a missing category is a value."""
        for name in self.quasi:
            a, b = self.rows[i][name], self.rows[j][name]
            open_cell = self.missing.get(name, "category") != "category" and (a is None or b is None)
            if a != b and not open_cell:
                return False
        return True

    def blanks(self, i: int) -> int:
        """Count the cells of the row that are missing and stand for other values."""
        return sum(
            self.rows[i][name] is None and self.missing.get(name, "category") != "category" for name in self.quasi
        )

    def frequency(self, i: int) -> int:
        """Count the persons that a record could be."""
        if self.missing_semantics == "category":  # then to be compatible is to be equal
            return self.persons(self.classes().get(self.key(i), ()))
        alike = [j for j in self.in_classes if self.compatible(i, j)]
        if self.missing_semantics == "conservative" and self.blanks(i) < len(self.quasi):
            alike = [j for j in alike if self.key(j) == self.key(i) or not self.blanks(j)]
        return self.persons(alike)

    def patterns(self) -> list[tuple[int, int]]:
        """Frequency of each distinct row of quasi-identifiers, and the persons that have it."""
        return [(self.frequency(numbers[0]), self.persons(numbers)) for numbers in self.classes().values()]

    def counts(self, numbers: Sequence[int], column: str) -> dict[Any, int]:
        """Persons of each value of a column; missing is a value."""
        owners: dict[Any, set[Any]] = {}
        for i in numbers:
            owners.setdefault(self.rows[i][column], set()).add(self.who(i))
        return {value: len(people) for value, people in owners.items()}

    def counts_in_turn(self, numbers: Sequence[int], column: str) -> list[tuple[dict[Any, int], int]]:
        """Return the counts of a column and the persons counted: with missing values, and known values alone if any."""
        non_missing = [i for i in numbers if self.rows[i][column] is not None]
        return [(self.counts(rows, column), self.persons(rows)) for rows in (numbers, non_missing) if rows]

    def person_shares(self, numbers: Sequence[int], column: str) -> dict[Any, Fraction]:
        """Share of the persons of some rows who have each value: of a person with several values, each."""
        whole = self.persons(numbers)
        return {value: Fraction(count, whole) for value, count in self.counts(numbers, column).items()}

    def prevalence(self, column: str) -> dict[Any, Fraction]:
        """Share of the persons of the input table who have each value."""
        if column in self.prevalence_before:
            return dict(self.prevalence_before[column])
        if column in self.shares_before:
            return dict(self.shares_before[column])
        whole = self._input()
        return whole.person_shares(range(len(whole.rows)), column)

    def shares(self, numbers: Sequence[int], column: str) -> dict[Any, Fraction]:
        """Distribution of a column over some rows."""
        counted = self.counts(numbers, column)
        whole = sum(counted.values())
        return {value: Fraction(count, whole) for value, count in counted.items()}

    def baseline(self, column: str) -> dict[Any, Fraction]:
        """Distribution of a column in the input table, with the records that were suppressed or left out since."""
        if column in self.shares_before:
            return dict(self.shares_before[column])
        whole = self._input()
        return whole.shares(range(len(whole.rows)), column)

    def _input(self) -> Plain:
        return self if self.before is None else replace(self, rows=self.before, suppressed=frozenset(), before=None)

    def domain(self, column: str) -> list[Any]:
        """Values of a column in the input table in the order of its kind, a missing one last."""
        values = set(self.baseline(column))
        order = self.orders.get(column)
        ordered = [v for v in order if v in values] if order else sorted(v for v in values if v is not None)
        return [*ordered, *([None] if None in values else [])]

    def path(self, column: str, value: object) -> tuple[str | None, ...]:
        """Return a value with its label on each level; a missing value stays missing below the root."""
        paths = self.trees[column]
        if value is None:
            return (*([None] * (len(paths[0]) - 1)), paths[0][-1])
        for path in paths:
            if path[0] == str(value):
                return path
        raise KeyError(column)  # without the value, which may be a cell of the original

    def total(self) -> int:
        """Persons of the table, with the suppressed ones."""
        return self.persons(range(len(self.rows))) if self.people is None else self.people
