"""Groups of units, each of at least k persons, and the aggregates that replace their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from celosia.errors import DataError
from celosia.kernels.statistics.deviation import deviations, subtract_mean
from celosia.methods.bases.cells import as_column, numbers, strata, units
from celosia.methods.bases.units import Units
from celosia.table import Outcome
from celosia.table.columns import declared_persons

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


Aggregate = Literal["mean", "median", "medoid"]


@dataclass(frozen=True)
class UnitGroups:
    """Numeric columns of the units, and the group of each unit."""

    names: tuple[str, ...]
    unit: Units
    values: Floats
    group: Ints


def scale(x: Floats, *, standardise: bool) -> Floats:
    """Centre the columns at their means and, to ``standardise``, divide them by their standard deviations.

    Constant columns become zero.
    """
    around = subtract_mean(x)
    if not standardise:
        return around
    deviation = deviations(x)
    result: Floats = around / np.where(deviation > 0, deviation, 1.0)
    return result


class Persons:
    """The persons of the units; without a person column each unit is a person.

    A group of ``k`` units can have fewer than ``k`` persons, so :meth:`check_enough` comes before every grouping and
    :meth:`join` after it.
    """

    def __init__(self, who: str, table: Table, unit: Units, k: int) -> None:
        self.who, self.k = who, k
        self._person = declared_persons(table)
        if self._person is not None and not unit.each:
            self._person = self._person[np.argsort(unit.member, kind="stable")]
        self._count = np.bincount(unit.member, minlength=len(unit))
        self._begin = np.cumsum(self._count) - self._count

    def _of(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the position in ``rows`` and the person of each record of these units."""
        if self._person is None:
            return np.arange(len(rows)), rows
        count = self._count[rows]
        place = np.repeat(np.arange(len(rows)), count)
        before = np.cumsum(count) - count
        return place, self._person[np.arange(len(place)) + (self._begin[rows] - before)[place]].astype(np.int64)

    def check_enough(self, rows: Ints, *, parted: bool, missing: bool) -> None:
        """Raise when these units, which may be grouped with each other, are fewer than k, or of fewer persons."""
        for size, what in ((len(rows), "records"), (len(np.unique(self._of(rows)[1])), "persons")):
            _check_size(self.who, size, self.k, what, parted=parted, missing=missing)

    def join(self, rows: Ints, group: Ints, points: Callable[[], Floats]) -> Ints:
        """Join each group of fewer than k persons with the group whose mean is nearest, until none is left.

        ``points`` returns the coordinates of the units.
        """
        if self._person is None:
            return group
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import KDTree

        from celosia.methods.bases.aggregate import means

        place, person = self._of(rows)
        group = np.unique(group, return_inverse=True)[1].reshape(-1)
        x = points()
        while True:
            pairs = np.unique(np.column_stack([group[place], person]), axis=0)
            sizes = np.bincount(pairs[:, 0])
            short = np.flatnonzero(sizes < self.k)
            if len(short) == 0 or len(sizes) == 1:
                return group
            middle = means(x, group)
            near = KDTree(middle).query(middle[short], k=2)[1]
            other = np.where(near[:, 0] == short, near[:, 1], near[:, 0])
            links = coo_array((np.ones(len(short)), (short, other)), shape=(len(sizes), len(sizes)))
            group = connected_components(links, directed=False)[1][group].astype(np.int64)


def _check_size(who: str, size: int, k: int, what: str, *, parted: bool, missing: bool) -> None:
    if size >= k:
        return
    where = " in a stratum" if parted else ""
    where += " with the same missing values" if missing else ""
    raise DataError(
        f"{who}: k is {k}, but there are only {size} {what}{where}. "
        + ("Fill in or suppress missing values first, or lower k." if missing else "")
        + ("" if missing else "Lower k, or join strata." if parted else "Lower k.")
    )


def group_units(
    who: str,
    table: Table,
    names: Sequence[str],
    k: int,
    within: Sequence[str],
    groups: Callable[[Floats, int], Ints],
    *,
    blank_stay: bool = False,
) -> UnitGroups:
    """Group the units by stratum and pattern of missing values; ``groups`` assigns the units of one part to groups.

    With a declared person column each group holds ``k`` persons, not only ``k`` records.
    Records in which all columns are missing stay as they are, a group of their own; fewer than ``k`` of them are
    refused too unless ``blank_stay``.
    """
    unit = units(who, table, names)
    x = numbers(who, table, names)[unit.first]
    if len(x) == 0:
        return UnitGroups(tuple(names), unit, x, np.empty(0, np.int64))
    persons = Persons(who, table, unit, k)
    gone = np.isnan(x)
    parts = strata(table, within, unit, list(gone.T.astype(np.int64)) if gone.any() else [])
    label = np.empty(len(x), np.int64)
    count = 0
    for s, rows in enumerate(parts):
        filled = ~gone[rows[0]]
        if filled.any() or not blank_stay:
            persons.check_enough(rows, parted=bool(within), missing=bool(gone.any()))
        if not filled.any():
            label[rows] = count
            count += 1
            continue
        cells = x if len(parts) == 1 and filled.all() else x[np.ix_(rows, filled)]
        group = persons.join(rows, groups(cells, s), partial(scale, cells, standardise=True))
        label[rows] = count + group
        count += int(group.max()) + 1
    return UnitGroups(tuple(names), unit, x, np.unique(label, return_inverse=True)[1].reshape(-1))


def aggregate_groups(table: Table, partition: UnitGroups, how: Aggregate) -> Outcome:
    """Replace each value by the aggregate of its group."""
    if len(partition.values) == 0:
        return Outcome(table, {"groups": 0})
    evidence = {**sizes(partition.group), "loss": loss(partition)}
    return Outcome(table.replace(columns(table, partition, how)), evidence)


def columns(table: Table, partition: UnitGroups, how: Aggregate) -> dict[str, pl.Series]:
    """Return new columns with the aggregate of the group of each record."""
    from celosia.methods.bases.aggregate import means, medians, medoids

    x = partition.values
    if how == "mean":
        rows = means(x, partition.group)
    elif how == "median":
        rows = medians(x, partition.group)
    else:
        rows = x[medoids(scale(np.nan_to_num(x), standardise=True), partition.group)]
    new = rows[partition.group][partition.unit.member]
    whole = how == "medoid"  # a mean that is rounded is not the mean
    return {name: as_column(table.column(name), new[:, j], whole=whole) for j, name in enumerate(partition.names)}


def loss(partition: UnitGroups) -> float:
    """Share of the sum of squares that is lost, over the records without missing values."""
    from celosia.methods.bases.aggregate import loss_share

    complete = ~np.isnan(partition.values).any(axis=1)
    if not complete.any():
        return 0.0
    return loss_share(
        partition.values[complete], np.unique(partition.group[complete], return_inverse=True)[1].reshape(-1)
    )


def sizes(group: Ints) -> dict[str, int]:
    """Return the number of groups, and the sizes of the smallest and the largest."""
    counts = np.bincount(group)
    counts = counts[counts > 0]
    return {"groups": len(counts), "smallest": int(counts.min()), "largest": int(counts.max())}
