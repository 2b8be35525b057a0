"""Groups of records in which no sensitive value is too frequent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from celosia.errors import ParameterError, RequirementError
from celosia.table.columns import declared_persons
from celosia.views.spellings import unified_codes, warn_spellings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes import Sensitive
    from celosia.streams import Stream
    from celosia.table import Table

    Grouping = Callable[[NDArray[np.int64]], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Separation:
    """Group of each record, and evidence about the groups that may be published."""

    label: NDArray[np.int64]
    evidence: dict[str, Any]


def separate(
    who: str, table: Table, l: int, names: Sequence[str], how: Literal["near", "buckets"], stream: Stream
) -> Separation:
    """Group the records of a table so that each value of each named column has at most 1/l of its group.

    A missing value protects nobody: a value has at most 1/l of the known values of a group, and missing ones at most
    1/l of the group. Spellings of a value count as one value, and usual codes for a missing value as missing; a warning
    names the columns that have them.

    With a declared person column no group has two records of a person: the records are dealt out to as many parts as
    a person has records at most, and each part is grouped separately.
    """
    from celosia.kernels.disclosure.count_estimates import reconstruction_error

    columns = {name: unified_codes(table, name) for name in names}
    n = len(table)
    if how == "buckets" and len(columns) > 1:
        raise ParameterError(
            f"{who}: groups = 'buckets' works with one sensitive column, got {len(columns)}; use 'near'."
        )
    for name, column in columns.items():
        absent = int((column.codes < 0).sum())
        if absent:
            raise RequirementError(
                f"{who}: {absent} suppressed records have no value of {name!r} that could be separated from them. "
                "Drop suppressed records in the earlier step (drop = true)."
            )
    warn_spellings(table, names)
    parts = _parts(declared_persons(table), columns, n)
    for records in parts:
        _check(who, l, columns, records, len(parts), how)
    label = _labels(table, l, columns, parts, how, stream) if n else np.zeros(0, np.int64)
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


def _parts(person: NDArray[np.int32] | None, columns: dict[str, Sensitive], n: int) -> list[NDArray[np.int64]]:
    """Split the records into parts with at most one record per person and similar frequencies of each value."""
    from celosia.kernels.search.anatomy import deal

    rows = np.zeros(0, np.int64) if person is None else np.bincount(person)
    most = int(rows.max(initial=0))
    if person is None or most <= 1:
        return [np.arange(n)]
    first = np.cumsum([0, *(column.width for column in columns.values())])
    codes = np.stack([column.codes + at for column, at in zip(columns.values(), first[:-1], strict=True)])
    order = np.lexsort((person, -rows[person]))  # persons with most records have least choice
    part = deal(order, person, codes.astype(np.int64), int(first[-1]), most)
    return np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part, minlength=most))[:-1])


def _check(who: str, l: int, columns: dict[str, Sensitive], records: NDArray[np.int64], parts: int, how: str) -> None:
    """Refuse a part in which a value, or a missing one, is too frequent for any grouping."""
    n = len(records)
    for name, column in columns.items():
        counts = np.bincount(column.codes[records], minlength=column.width)
        missing = int(counts[column.missing_code]) if column.missing_code >= 0 else 0
        non_missing, most = n - missing, int(np.delete(counts, column.missing_code if missing else []).max(initial=0))
        reached = min((whole // few for few, whole in ((most, non_missing), (missing, n)) if few), default=l)
        if reached < l:
            often = f"one value has {most} of the {non_missing} records" + (" that have a value" if missing else "")
            reason = often if most * l > non_missing else f"{missing} of the {n} records have no value"
            reason = f"{who}: at most 1/{l} of a group may share a value of {name!r}, but {reason}"
            if parts == 1:
                raise RequirementError(f"{reason}. l = {reached} can be reached.")
            raise RequirementError(
                f"{reason}, among those that can be grouped together. One person has {parts} records, which must go "
                f"to {parts} different groups. Lower l, or keep fewer records per person."
            )
        # buckets: missing values are spread evenly over groups of l known ones
        if how == "buckets" and -(-missing // max(1, non_missing // l)) * (l - 1) > l:
            raise RequirementError(
                f"{who}: {missing} of {n} records have no value of {name!r}, too many to add to groups of {l} "
                "different values. Use groups = 'near', or remove records without a value."
            )


def _labels(
    table: Table, l: int, columns: dict[str, Sensitive], parts: list[NDArray[np.int64]], how: str, stream: Stream
) -> NDArray[np.int64]:
    """Label the group of each record; the numbers do not disclose how the groups were made."""
    grouping = _near(table, l, columns) if how == "near" else _buckets(table, l, columns, stream)
    label = np.empty(len(table), np.int64)
    count = 0
    for records in parts:
        label[records] = grouping(records) + count
        count = int(label[records].max()) + 1
    if how == "buckets":
        return stream.child("numbers").rng().permutation(count)[label]
    first = np.unique(label, return_index=True)[1]
    return np.argsort(np.argsort(first))[label]


def _near(table: Table, l: int, columns: dict[str, Sensitive]) -> Grouping:
    """Return a grouping of similar records."""
    from celosia.search.partition.groups import Groups
    from celosia.search.partition.mondrian import partition
    from celosia.views.boxes.regions import axes

    counted = Groups(len(table), columns)
    sides = axes(table)

    def group_part(part: NDArray[np.int64]) -> NDArray[np.int64]:
        def rare_enough(records: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.bool_]:
            counts = counted.counts(part[records], group)
            kept = np.ones(len(counts), np.bool_)
            for values in counts.values.values():
                missing = values.value == values.missing_code
                absent = np.bincount(values.owner[missing], values.count[missing], len(counts))
                largest = np.maximum.reduceat(np.where(missing, 0, values.count), values.start[:-1])
                kept &= (largest * l <= counts.size - absent) & (absent * l <= counts.size)
            return kept

        return partition([replace(side, codes=side.codes[part]) for side in sides], l, judge=rare_enough).label

    return group_part


def _buckets(table: Table, l: int, columns: dict[str, Sensitive], stream: Stream) -> Grouping:
    """Return a grouping by l different values, regardless of similarity."""
    from celosia.kernels.search.anatomy import bucketise

    (column,) = columns.values()
    drawn = stream.child("order").uniform(table.ids())

    def group_part(part: NDArray[np.int64]) -> NDArray[np.int64]:
        non_missing = column.codes[part] != column.missing_code
        label = np.empty(len(part), np.int64)
        shuffled = np.argsort(drawn[part][non_missing], kind="stable")
        label[non_missing] = bucketise(column.codes[part][non_missing], shuffled, column.width, l)
        empty = np.flatnonzero(~non_missing)[np.argsort(drawn[part][~non_missing], kind="stable")]
        label[empty] = np.arange(len(empty)) % max(1, int(label[non_missing].max(initial=-1)) + 1)
        return label

    return group_part
