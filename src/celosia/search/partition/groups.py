"""Counts of groups of records for requirements, and refusal of requirements that cannot be met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.classes import ClassCounts, Sensitive, ValueCounts
from celosia.errors import ParameterError, RequirementError
from celosia.parts import Model, describe, population_table, search_hints

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """The columns that are counted in a group: sensitive values, persons, and required class sizes.

    >>> counted = Groups(4, {"disease": Sensitive(np.array([0, 1, 1, 1], np.int32), 2)})
    >>> classes = counted.counts(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    >>> classes.size.tolist(), classes.of("disease").distinct.tolist()
    ([2, 2], [2, 1])
    """

    n: int
    sensitive: Mapping[str, Sensitive] = field(default_factory=dict)
    person: NDArray[np.int32] | None = None
    target: Ints | None = None
    total: int = -1
    """Records (persons) of the whole table with those that an earlier step suppressed; these ones unless given."""

    def __post_init__(self) -> None:
        if self.total < 0:
            object.__setattr__(self, "total", self.n if self.person is None else len(np.unique(self.person)))

    def counts(self, records: Ints, group: Ints) -> ClassCounts:
        """Return the counts of groups; ``group`` is ascending and has no gaps."""
        from celosia.kernels.grouping.group_counts import group_sizes, value_counts

        begin = np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int64)
        person = np.empty(0, np.int32) if self.person is None else self.person
        values = {
            name: ValueCounts(
                *value_counts(begin, records, column.codes, column.width, person),
                column.share(),
                column.ancestors,
                column.numbers,
                column.missing_code,
                *self._persons(column, begin, records, group),
                column.prevalence,
            )
            for name, column in self.sensitive.items()
        }
        target = None if self.target is None else np.maximum.reduceat(self.target[records], begin[:-1])
        return ClassCounts(group_sizes(begin, records, person), values, self.total, target=target)

    def _persons(self, column: Sensitive, begin: Ints, records: Ints, group: Ints) -> tuple[Ints | None, Ints | None]:
        """Count the persons of each group, and those with a value in the column; (None, None) without persons."""
        from celosia.kernels.grouping.group_counts import group_sizes

        if self.person is None:
            return None, None
        non_missing = column.codes[records] != column.missing_code
        some = np.concatenate([[0], np.cumsum(np.bincount(group[non_missing], minlength=len(begin) - 1))]).astype(
            np.int64
        )
        return group_sizes(begin, records, self.person), group_sizes(some, records[non_missing], self.person)

    def of_labels(self, label: Ints) -> ClassCounts:
        """Return the counts of the groups of a labelling; a record labelled -1 is in none."""
        order = np.argsort(label, kind="stable")[int((label < 0).sum()) :]
        return self.counts(order, label[order])

    def accepts(self, requirements: Sequence[Model], label: Ints) -> bool:
        """Return whether a file with these classes meets every requirement and every required class size."""
        if not requirements:
            return True
        classes = self.of_labels(label)
        enough = classes.target is None or bool((classes.size >= classes.target).all())
        return enough and all(requirement.measure(classes).holds for requirement in requirements)

    def accepted_groups(self, requirements: Sequence[Model], records: Ints, group: Ints) -> NDArray[np.bool_]:
        """Return a mask of the groups that meet every requirement on classes and every required class size."""
        counts = self.counts(records, group)
        kept = np.ones(len(counts), np.bool_) if counts.target is None else counts.size >= counts.target
        for requirement in requirements:
            if requirement.scope == "class":
                kept &= requirement.judge(counts)
        return kept


def check_possible(who: str, requirements: Sequence[Model], groups: Groups) -> None:
    """Raise if not even all records in one group would meet the requirements, with the value they would reach."""
    if groups.n == 0:
        return
    whole = groups.of_labels(np.zeros(groups.n, np.int64))
    what = "persons" if groups.person is not None else "records"
    if whole.target is not None and whole.target[0] > whole.size[0]:
        raise RequirementError(
            f"{who}: a record requires a class of {int(whole.target[0])}, but the table has only "
            f"{int(whole.size[0])} {what}. Targets up to {int(whole.size[0])} can be met."
        )
    for requirement in requirements:
        if not requirement.measure(whole).holds:
            reached = requirement.score(whole)
            raise RequirementError(
                f"{who}: {requirement.name} requires {describe(requirement)}, but even with all {int(whole.size[0])} "
                f"{what} in one class the value is {reached:g}. Ask for {reached:g}, or leave the requirement out."
            )


def least_size(requirements: Sequence[Model], groups: Groups) -> int:
    """Return the size that every class must have at least for the requirements to hold."""
    totals = ClassCounts(np.zeros(0, np.int64), {}, groups.total)
    return max([1, *(search_hints(r).smallest_size_in(totals) for r in requirements if r.scope == "class")])


def refuse_population(who: str, requirements: Sequence[Model]) -> None:
    """Raise if a requirement counts a population table: its records are not in the groups."""
    for requirement in requirements:
        if population_table(requirement) is not None:
            raise ParameterError(
                f"{who}: {requirement.name} counts a population table, which only "
                "generalise supports; use generalise, or leave it out."
            )
