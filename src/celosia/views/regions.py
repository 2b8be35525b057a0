"""The quasi-identifiers of a table as axes of a partition, and the cells that describe a group of its
records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

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


class Boxes:
    """A partition of records, sorted by group so that one pass over a column describes all groups."""

    def __init__(self, label: NDArray[np.int64]) -> None:
        self.label = label
        self.size = np.bincount(label)
        self._order = np.argsort(label, kind="stable")
        self._begin = np.cumsum(self.size) - self.size

    def __len__(self) -> int:
        return len(self.size)

    def ends(self, codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The smallest and the largest code of each group."""
        inside = codes[self._order]
        return np.minimum.reduceat(inside, self._begin), np.maximum.reduceat(inside, self._begin)

    def common(self, one: Axis) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The lowest level at which the records of each group share a node, and a leaf below that node."""
        assert one.levels is not None
        leaf = one.codes[self._order[self._begin]].astype(np.int64)
        level = np.full(len(self), len(one.levels) - 1, np.int64)
        for v in range(len(one.levels) - 2, -1, -1):
            low, high = self.ends(one.levels[v].astype(np.int32)[one.codes])
            level = np.where(low == high, v, level)
        return level, leaf

    def members(self, codes: NDArray[np.int32], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The distinct codes of each group: the group of each entry, ascending, and the code."""
        owner, code = np.divmod(np.unique(self.label * width + codes), width)
        return owner, code

    def widths(self, table_axes: Sequence[Axis]) -> NDArray[np.float64]:
        """The normalised certainty penalty of each group in each column: what share of the column it spans."""
        found = np.zeros((len(self), len(table_axes)))
        for j, one in enumerate(table_axes):
            if one.position is not None:
                low, high = self.ends(one.codes)
                found[:, j] = np.minimum(one.position[high] - one.position[low], 1.0)
            elif one.levels is not None and one.shares is not None:
                level, leaf = self.common(one)
                found[:, j] = one.shares[level, leaf]
            else:
                distinct = np.bincount(self.members(one.codes, one.size)[0], minlength=len(self))
                found[:, j] = (distinct - 1) / max(one.size - 1, 1)
        return found


def cells(table: Table, name: str, one: Axis, boxes: Boxes, output: Output) -> pl.Series:
    """The published cell of each record: what its group looks like in one column."""
    import polars as pl

    if output == "range":
        return _regions(table, name, one, boxes).gather(boxes.label).alias(name)
    column = table.column(name)
    frame = pl.DataFrame({"g": boxes.label, "v": column})
    if output != "mode" and table.schema[name].kind == Kind.NUMERIC and column.dtype.is_numeric():
        middle = pl.col("v").mean() if output == "mean" else pl.col("v").median()
        return frame.select(middle.over("g"))["v"].alias(name)
    # the most frequent value; of several the first in the order of the column
    return frame.select(pl.col("v").drop_nulls().mode().sort().first().over("g"))["v"].alias(name)


def _regions(table: Table, name: str, one: Axis, boxes: Boxes) -> pl.Series:
    """One cell per group: a range, a node of the hierarchy or a set of labels.

    A star stands where missing values and others meet.
    """
    import polars as pl

    codes, values = table.codes(name)
    text = pl.Series(name, [*texts(values), None], dtype=pl.String)
    absent = codes < 0
    mixed = np.zeros(len(boxes), np.bool_)
    if absent.any():
        missing = np.bincount(boxes.label, weights=absent, minlength=len(boxes))
        mixed = (missing > 0) & (missing < boxes.size)
    if one.levels is not None:
        shown = _nodes(table, name, one, boxes, text)
    elif one.position is not None:
        low, high = boxes.ends(np.where(absent, np.int32(len(values)), codes))
        spans, back = np.unique(low.astype(np.int64) * (len(values) + 1) + high, return_inverse=True)
        pairs = [divmod(int(span), len(values) + 1) for span in spans]
        ordinal = table.schema[name].kind == Kind.ORDINAL
        shown = pl.Series(name, [_span(values, text, a, b, ordinal) for a, b in pairs], dtype=pl.String).gather(back)
    else:
        owner, code = boxes.members(np.where(absent, np.int32(len(values)), codes), len(values) + 1)
        sets = pl.DataFrame({"g": owner, "t": text.gather(code)}).group_by("g", maintain_order=True)
        joined = sets.agg(pl.col("t").str.join(", ").alias(name), pl.len().alias("n"), pl.col("t").first().alias("one"))
        many = pl.when(pl.col("n") < len(values)).then("{" + pl.col(name) + "}").otherwise(pl.lit(STAR))
        shown = joined.select(pl.when(pl.col("n") == 1).then("one").otherwise(many).alias(name))[name]
    return pl.select(pl.when(pl.Series(mixed)).then(pl.lit(STAR)).otherwise(shown).alias(name))[name]


def _nodes(table: Table, name: str, one: Axis, boxes: Boxes, text: pl.Series) -> pl.Series:
    import polars as pl

    level, leaf = boxes.common(one)
    levels = table.levels(name)
    labels = [text, *(pl.Series([*levels.labels(v), None], dtype=pl.String) for v in range(1, levels.height + 1))]
    labels.append(pl.Series([STAR] * len(text), dtype=pl.String))  # a top that the hierarchy itself lacks
    return pl.concat(labels).gather(level * len(text) + leaf).alias(name)


def _span(values: pl.Series, text: pl.Series, low: int, high: int, ordinal: bool) -> str | None:
    if low == high or high == len(values):  # one value; or missing ones, which do not mix with others here
        return cast("str | None", text[low])
    if ordinal:
        return STAR if high - low + 1 == len(values) else "{" + ", ".join(text[low : high + 1]) + "}"
    if values.dtype.is_numeric():
        return str(Interval(float(values[low]), float(values[high])))
    return str(Interval(str(text[low]), str(text[high])))
