"""The quasi-identifiers of a table as axes of a partition, and the cells that describe a group of its
records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from celosia.classes import STAR
from celosia.engines.engine import RECORD
from celosia.errors import UnknownName
from celosia.hierarchy import texts
from celosia.hierarchy.values import Interval
from celosia.schema import Kind
from celosia.search.groups import Groups
from celosia.search.mondrian import Axis
from celosia.search.tables import Sensitive

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.catalogue import Model
    from celosia.table import Table

Output = Literal["range", "mean", "median", "mode"]


def axes(table: Table, weights: Mapping[str, float] | None = None) -> list[Axis]:
    """One axis per quasi-identifier: numbers, dates and ordinal values by their order, others by hierarchy or
    as labels.
    """
    names = table.schema.need_quasi()
    for name in weights or {}:
        if name not in names:
            raise UnknownName.of("quasi-identifier", name, names)
    return [axis(table, name, (weights or {}).get(name, 1.0)) for name in names]


def axis(table: Table, name: str, weight: float = 1.0) -> Axis:
    """The axis of one column."""
    codes, values = table.codes(name)
    kind = table.schema[name].kind
    if kind == Kind.ORDINAL:
        return Axis.ordered(codes, np.arange(len(values), dtype=np.float64), weight)
    if kind in (Kind.NUMERIC, Kind.DATE) and (values.dtype.is_numeric() or values.dtype.is_temporal()):
        return Axis.ordered(codes, values.to_physical().cast(float).to_numpy(), weight)
    if table.schema.hierarchy(name) is None:
        return Axis.labels(codes, len(values), weight)
    levels = table.levels(name)
    height = range(1, levels.height + 1)
    nodes = np.stack([np.arange(len(values)), *(levels.codes(v).astype(np.int64) for v in height)])
    below = [levels.table[v].rows[levels.codes(v)] for v in height]
    shares = [np.where(rows > 1, levels.shares(v), 0.0) for v, rows in zip(height, below, strict=True)]
    return Axis.tree(codes, nodes, np.stack([np.zeros(len(values)), *shares]), weight)


def groups(table: Table, requirements: Sequence[Model], target: NDArray[np.int64] | None = None) -> Groups:
    """What requirements count in the groups of a table; shares are compared with those of the input table."""
    names = [
        column for model in requirements for name in model.sensitive() for column in table.schema.need_sensitive(name)
    ]
    person = table.schema.person
    return Groups(
        len(table),
        {name: sensitive(table, name) for name in dict.fromkeys(names)},
        None if person is None else person_codes(table, person),
        target,
    )


def person_codes(table: Table, person: str) -> NDArray[np.int32]:
    """The person of each record; a record without one is a person of its own."""
    codes, values = table.codes(person)
    alone = codes < 0
    return np.where(alone, len(values) + np.cumsum(alone) - 1, codes).astype(np.int32)


def sensitive(table: Table, name: str) -> Sensitive:
    """A sensitive column as codes, a missing value being a value of its own, the last."""
    codes, values = table.codes(name)
    width = len(values) + int((codes < 0).any())
    filled = np.where(codes < 0, np.int32(len(values)), codes)
    numbers = None
    if table.schema[name].kind == Kind.NUMERIC and values.dtype.is_numeric():
        numbers = np.append(values.cast(float).to_numpy(), [np.nan] * (width - len(values)))
    ancestors = None
    hierarchy = table.schema.hierarchy(name)
    if hierarchy is not None:
        levels = hierarchy.levels([*values, *[None] * (width - len(values))])
        ancestors = np.vstack([levels.codes(level) for level in range(levels.height + 1)]).astype(np.int32)
    return Sensitive(filled, width, ancestors, numbers, _baseline(table, name, values, width))


def _baseline(table: Table, name: str, values: pl.Series, width: int) -> NDArray[np.float64] | None:
    """The distribution in the input table, when that is another one and holds the same values."""
    import polars as pl

    start = table.start
    if start is None or name not in start.engine.types(start.frame):
        return None
    wanted = [name, RECORD] if RECORD in start.engine.types(start.frame) else [name]
    whole = start.engine.collect(start.engine.select(start.frame, wanted))[name]
    order = pl.DataFrame({"v": values, "c": np.arange(len(values))})
    coded = whole.to_frame("v").join(order, on="v", how="left")
    if whole.dtype != values.dtype or (coded["c"].is_null() & coded["v"].is_not_null()).any():
        return None
    counts = np.bincount(coded["c"].fill_null(width - 1).to_numpy(), minlength=width)
    return np.asarray(counts / max(1, len(whole)), dtype=np.float64)


def widths(table_axes: Sequence[Axis], label: NDArray[np.int64]) -> NDArray[np.float64]:
    """The normalised certainty penalty of each group in each column: what share of the column it spans."""
    count = int(label.max(initial=-1)) + 1
    found = np.zeros((count, len(table_axes)))
    for j, one in enumerate(table_axes):
        low, high = _ends(one.codes, label, count)
        if one.position is not None:
            found[:, j] = np.minimum(one.position[high] - one.position[low], 1.0)
        elif one.levels is not None and one.shares is not None:
            level, node = _common(one, label, count)
            found[:, j] = one.shares[level, node]
        else:
            distinct = np.bincount(np.unique(label * one.size + one.codes) // one.size, minlength=count)
            found[:, j] = (distinct - 1) / max(one.size - 1, 1)
    return found


def cells(
    table: Table, name: str, one: Axis, label: NDArray[np.int64], rows: NDArray[np.bool_], output: Output
) -> pl.Series:
    """The published cell of each record in ``rows``: what its group looks like in one column."""
    import polars as pl

    column = table.column(name).filter(pl.Series(rows))
    frame = pl.DataFrame({"g": label, "v": column})
    if output == "range":
        count = int(label.max(initial=-1)) + 1
        shown = _regions(table, name, one, label, rows, count)
        return shown.gather(label).alias(name)
    kind = table.schema[name].kind
    over = pl.col("v")
    if output == "mean" and kind == Kind.NUMERIC and column.dtype.is_numeric():
        return frame.select(over.mean().over("g"))["v"].alias(name)
    if output == "median" and kind == Kind.NUMERIC and column.dtype.is_numeric():
        return frame.select(over.median().over("g"))["v"].alias(name)
    # the most frequent value; of several the first in the order of the column
    return frame.select(over.drop_nulls().mode().sort().first().over("g"))["v"].alias(name)


def _regions(
    table: Table, name: str, one: Axis, label: NDArray[np.int64], rows: NDArray[np.bool_], count: int
) -> pl.Series:
    """One cell per group: a range, a node of the hierarchy, a set of labels; a star where missing and other
    values meet.
    """
    import polars as pl

    codes, values = table.codes(name)
    codes = codes[rows]
    missing = np.bincount(label, weights=codes < 0, minlength=count) > 0
    empty = np.bincount(label, weights=codes >= 0, minlength=count) == 0
    text = texts(values)
    low, high = _ends(np.where(codes < 0, np.int32(2**31 - 1), codes), label, count)
    _, high = _ends(codes, label, count)
    low = np.where(empty, 0, low)
    high = np.where(empty, 0, high)
    shown: list[str | None]
    if one.levels is not None:
        level, node = _common(one, label, count)
        labels = [text, *(table.levels(name).labels(v) for v in range(1, table.levels(name).height + 1))]
        labels = [[*row, None] for row in labels] + [[STAR] * (len(text) + 1)]
        shown = [labels[v][c] for v, c in zip(level, node, strict=True)]
    elif table.schema[name].kind in (Kind.NUMERIC, Kind.DATE) and one.position is not None:
        pairs, back = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
        numeric = values.dtype.is_numeric()
        spoken = [_range(values, text, int(a), int(b), numeric) for a, b in pairs.T]
        shown = [spoken[i] for i in back.ravel()]
    else:
        members = np.unique(label * (len(text) + 1) + np.where(codes < 0, len(text), codes))
        if one.position is not None:  # ordinal: everything between the ends
            shown = [_set(text, range(a, b + 1)) for a, b in zip(low, high, strict=True)]
        else:
            owner, code = np.divmod(members, len(text) + 1)
            split = np.split(code, np.searchsorted(owner, np.arange(1, count)))
            shown = [_set(text, part[part < len(text)]) for part in split]
    stars = [
        None if nothing else (STAR if some else cell) for cell, some, nothing in zip(shown, missing, empty, strict=True)
    ]
    return pl.Series(name, stars, dtype=pl.String)


def _range(values: pl.Series, text: list[str | None], low: int, high: int, numeric: bool) -> str | None:
    if low == high:
        return text[low]
    ends = (float(values[low]), float(values[high])) if numeric else (str(text[low]), str(text[high]))
    return str(Interval(*ends))


def _set(text: list[str | None], codes: Sequence[int] | range | NDArray[np.int64]) -> str | None:
    if len(codes) == 1:
        return text[int(codes[0])]
    return STAR if len(codes) == len(text) else "{" + ", ".join(str(text[int(c)]) for c in codes) + "}"


def _ends(
    codes: NDArray[np.int32], label: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The smallest and the largest code of each group."""
    low = np.full(count, np.iinfo(np.int64).max)
    high = np.full(count, -1, np.int64)
    np.minimum.at(low, label, codes)
    np.maximum.at(high, label, codes)
    return low, high


def _common(one: Axis, label: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest level at which the records of each group share a node, and a leaf below that node."""
    assert one.levels is not None
    first = np.full(count, -1, np.int64)
    first[label[::-1]] = one.codes[::-1]
    level = np.full(count, len(one.levels) - 1, np.int64)
    for v in range(len(one.levels) - 2, -1, -1):
        row = one.levels[v]
        differ = np.bincount(label, weights=row[one.codes] != row[first[label]], minlength=count) > 0
        level = np.where(differ, level, v)
    return level, first
