"""Groups of records in which no sensitive value is too frequent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from celosia.errors import ParameterError, RequirementError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes import Sensitive
    from celosia.streams import Stream
    from celosia.table import Table


@dataclass(frozen=True, eq=False)
class Separation:
    """The group of each record, and what may be said about the groups."""

    label: NDArray[np.int64]
    evidence: dict[str, Any]


def separate(
    who: str, table: Table, l: int, names: Sequence[str], how: Literal["near", "buckets"], stream: Stream
) -> Separation:
    """Group the records of a table so that each value of each named column has at most 1/l of its group."""
    from celosia.statistics.count_estimates import reconstruction_error

    columns = {name: table.counted(name) for name in names}
    n = len(table)
    for name, column in columns.items():
        most = int(np.bincount(column.codes, minlength=1).max())
        if n and most * l > n:
            raise RequirementError(
                f"{who}: at most 1/{l} of a group may share a value of {name!r}, but one value has {most} of the "
                f"{n} records. l = {n // most} can be reached."
            )
    if how == "near":
        label = _near(table, l, columns)
    else:
        if len(columns) > 1:
            raise ParameterError(
                f"{who}: groups = 'buckets' works with one sensitive column, got {len(columns)}; use 'near'."
            )
        label = _buckets(table, l, next(iter(columns.values())), stream)
    error = {
        name: reconstruction_error(label, column.codes.astype(np.int64)) / max(n, 1) for name, column in columns.items()
    }
    sizes = np.bincount(label, minlength=1)
    evidence = {
        "groups": int(label.max(initial=-1)) + 1,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "reconstruction_error": error,
    }
    return Separation(label, evidence)


def _near(table: Table, l: int, columns: dict[str, Sensitive]) -> NDArray[np.int64]:
    from celosia.search.groups import Groups
    from celosia.search.mondrian import partition
    from celosia.views.regions import axes

    counted = Groups(len(table), columns)

    def rare_enough(records: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = counted.counts(records, group)
        kept = np.ones(len(found), np.bool_)
        for values in found.values.values():
            largest = np.maximum.reduceat(values.count, values.start[:-1])
            kept &= largest * l <= found.size
        return kept

    return partition(axes(table), l, judge=rare_enough).label if len(table) else np.zeros(0, np.int64)


def _buckets(table: Table, l: int, column: Sensitive, stream: Stream) -> NDArray[np.int64]:
    from celosia.kernels.anatomy import bucketise

    order = np.argsort(stream.child("order").uniform(table.ids()), kind="stable")
    label = bucketise(column.codes, order, column.width, l)
    # number the groups at random, so that the number says nothing about how they were made
    names = stream.child("numbers").rng().permutation(int(label.max(initial=-1)) + 1)
    return names[label].astype(np.int64) if len(label) else label
