"""Quasi-identifiers of a table as axes of a partition, and the cells that describe a group of its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from celosia.classes import STAR
from celosia.data.schema import Kind
from celosia.errors import UnknownName
from celosia.hierarchy import texts
from celosia.hierarchy.cells import Bound, Interval, OneOf
from celosia.hierarchy.ends import round_ends
from celosia.histogram import encode, number
from celosia.parts import refuse_other_views
from celosia.search.partition.groups import Groups
from celosia.search.partition.mondrian import Axis
from celosia.table.columns import declared_persons, hierarchy_levels, sensitive_codes

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.parts import Model
    from celosia.table import Table

Output = Literal["mean", "median", "mode"]


def axes(table: Table, weights: Mapping[str, float] | None = None) -> list[Axis]:
    """One axis per quasi-identifier: numbers, dates and ordinal values by order, others by hierarchy or as labels."""
    names = table.schema.need_quasi()
    for name in weights or {}:
        if name not in names:
            raise UnknownName.of("quasi-identifier", name, names)
    return [column_axis(table, name, (weights or {}).get(name, 1.0)) for name in names]


def column_axis(table: Table, name: str, weight: float = 1.0) -> Axis:
    """Return the axis of one column."""
    codes, values = table.codes(name)
    kind = table.schema[name].kind
    if kind == Kind.ORDINAL:
        return Axis.from_numbers(codes, np.arange(len(values), dtype=np.float64), weight)
    if kind in (Kind.NUMERIC, Kind.DATE) and (values.dtype.is_numeric() or values.dtype.is_temporal()):
        return Axis.from_numbers(codes, values.to_physical().cast(float).to_numpy(), weight)
    if table.schema.hierarchy(name) is None:
        return Axis.from_labels(codes, len(values), weight)
    levels = hierarchy_levels(table, name)
    height = range(1, levels.height + 1)
    nodes = np.stack([np.arange(len(values)), *(levels.codes(v).astype(np.int64) for v in height)])
    below = [levels.table[v].rows[levels.codes(v)] for v in height]
    shares = [np.where(rows > 1, levels.shares(v), 0.0) for v, rows in zip(height, below, strict=True)]
    return Axis.from_tree(codes, nodes, np.stack([np.zeros(len(values)), *shares]), weight)


def groups(table: Table, requirements: Sequence[Model], target: NDArray[np.int64] | None, total: int) -> Groups:
    """Set up the counts that requirements need in groups of a table; shares are compared with those of the input.

    ``total`` counts the records (persons) that an earlier step suppressed as well.
    """
    for model in requirements:
        refuse_other_views(model, table)
    names = [
        column
        for model in requirements
        for name in model.counted_columns()
        for column in table.schema.need_sensitive(name)
    ]
    counted = {name: sensitive_codes(table, name) for name in dict.fromkeys(names)}
    return Groups(len(table), counted, declared_persons(table), target, total)


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
        """Smallest and largest code of each group."""
        inside = codes[self._order]
        return np.minimum.reduceat(inside, self._begin), np.maximum.reduceat(inside, self._begin)

    def common(self, axis: Axis) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lowest level at which the records of each group share a node, and a leaf below that node."""
        assert axis.levels is not None
        leaf = axis.codes[self._order[self._begin]].astype(np.int64)
        level = np.full(len(self), len(axis.levels) - 1, np.int64)
        for v in range(len(axis.levels) - 2, -1, -1):
            low, high = self.ends(axis.levels[v].astype(np.int32)[axis.codes])
            level = np.where(low == high, v, level)
        return level, leaf

    def members(self, codes: NDArray[np.int32], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the distinct codes of each group: the group of each entry, ascending, and the code."""
        owner, code = np.divmod(np.unique(self.label * width + codes), width)
        return owner, code

    def widths(self, table_axes: Sequence[Axis]) -> NDArray[np.float64]:
        """Return the normalised certainty penalty of each group per column: the share of the column that it spans."""
        penalties = np.zeros((len(self), len(table_axes)))
        for j, axis in enumerate(table_axes):
            if axis.position is not None:
                low, high = self.ends(axis.codes)
                penalties[:, j] = np.minimum(axis.position[high] - axis.position[low], 1.0)
            elif axis.levels is not None and axis.shares is not None:
                level, leaf = self.common(axis)
                penalties[:, j] = axis.shares[level, leaf]
            else:
                distinct = np.bincount(self.members(axis.codes, axis.size)[0], minlength=len(self))
                penalties[:, j] = (distinct - 1) / max(axis.size - 1, 1)
        return penalties


def file_classes(shown: Sequence[pl.Series]) -> NDArray[np.int64]:
    """Return the class of each group in the file: equal cells are one class, groups of stars alone are in none (-1).

    >>> import polars as pl
    >>> file_classes([pl.Series(["[1-2]", "*", "[1-2]"])]).tolist(), file_classes([pl.Series(["*"])]).tolist()
    ([0, -1, 0], [0])
    """
    stars = np.logical_and.reduce([cells.cast(str).eq_missing(STAR).to_numpy() for cells in shown])
    classes = np.full(len(stars), -1, np.int64)
    kept = ~stars if not stars.all() else stars
    classes[kept] = number([encode(cells).codes[kept] for cells in shown])
    return classes


def middles(table: Table, name: str, boxes: Boxes, output: Output) -> pl.Series:
    """One value for each group."""
    import polars as pl

    frame = pl.DataFrame({"g": boxes.label, "v": table.column(name)})
    return frame.group_by("g").agg(_middle(table, name, output)).sort("g")["v"].alias(name)


def _middle(table: Table, name: str, output: Output) -> pl.Expr:
    """Mean or median of numbers; elsewhere the most frequent value, of several the first in their order."""
    import polars as pl

    if output != "mode" and table.schema[name].kind == Kind.NUMERIC and table.column(name).dtype.is_numeric():
        return pl.col("v").mean() if output == "mean" else pl.col("v").median()
    return pl.col("v").drop_nulls().mode().sort().first()


@dataclass(frozen=True, eq=False)
class Regions:
    """Distinct cells of the groups in a column, the values that each covers, and the cell of each group.

    A region is the lowest and the highest value of a range, the label numbers of a set, or the level and label of a
    node. ``None`` is the region of missing values; an empty one covers everything, missing values included.
    """

    cells: list[str | None]
    spans: list[list[Any] | None]
    group: NDArray[np.int64]

    def group_cells(self) -> pl.Series:
        """Return the cell of each group."""
        import polars as pl

        return pl.Series(self.cells, dtype=pl.String).gather(self.group)


def regions(table: Table, name: str, axis: Axis, boxes: Boxes) -> Regions:
    """Ranges, nodes or sets of labels that cover the groups; a star for groups of missing and other values."""
    codes, values = table.codes(name)
    absent = codes < 0
    mixed = np.zeros(len(boxes), np.bool_)
    if absent.any():
        missing = np.bincount(boxes.label, weights=absent, minlength=len(boxes))
        mixed = (missing > 0) & (missing < boxes.size)
    filled = np.where(absent, np.int32(len(values)), codes)
    if axis.levels is not None:
        return _nodes(axis, boxes, mixed, node_labels(table, name, axis))
    if axis.position is not None:
        return _spans(table, name, *boxes.ends(filled), mixed)
    return _sets(table, name, boxes.members(filled, len(values) + 1), mixed)


def node_labels(table: Table, name: str, axis: Axis) -> list[list[str | None]]:
    """Label each code of a tree axis at each of its levels; a missing value has a label at the top only."""
    assert axis.levels is not None
    levels = hierarchy_levels(table, name)
    by_level: list[list[str | None]] = [list(texts(table.codes(name)[1]))]
    by_level += [levels.labels(v) for v in range(1, levels.height + 1)]
    if len(by_level) < len(axis.levels):  # a top that the hierarchy itself lacks
        by_level.append([STAR] * len(by_level[0]))
    if len(by_level[0]) < axis.size:
        by_level = [[*labels, None] for labels in by_level]
        by_level[-1][-1] = by_level[-1][0]
    return by_level


def _nodes(axis: Axis, boxes: Boxes, mixed: NDArray[np.bool_], labels: list[list[str | None]]) -> Regions:
    level, leaf = boxes.common(axis)
    distinct, first, group = np.unique(
        np.where(mixed, -1, level * axis.size + cast("Any", axis.levels)[level, leaf]),
        return_index=True,
        return_inverse=True,
    )
    at = [(int(level[g]), labels[level[g]][leaf[g]]) for g in first]
    whole = distinct < 0
    return Regions(
        [STAR if w else label for w, (_, label) in zip(whole, at, strict=True)],
        [[] if w else None if label is None else [v, label] for w, (v, label) in zip(whole, at, strict=True)],
        group,
    )


def _spans(
    table: Table, name: str, low: NDArray[np.int32], high: NDArray[np.int32], mixed: NDArray[np.bool_]
) -> Regions:
    import polars as pl

    values = table.codes(name)[1]
    text = pl.Series(name, texts(values), dtype=pl.String)
    ends = round_ends(values)
    ordinal = table.schema[name].kind == Kind.ORDINAL
    size = len(values) + 1
    distinct, group = np.unique(np.where(mixed, -1, low.astype(np.int64) * size + high), return_inverse=True)
    shown: list[str | None] = []
    spans: list[list[Any] | None] = []
    for a, b in ((-1, -1) if span < 0 else divmod(int(span), size) for span in distinct):
        if a < 0 or a == len(values):
            shown.append(STAR if a < 0 else None)
            spans.append([] if a < 0 else None)
        else:
            shown.append(_span(text, a, b, ends, ordinal))
            spans.append(list(range(a, b + 1)) if ordinal else [text[a], text[b]])
    return Regions(shown, spans, group)


def _span(text: pl.Series, low: int, high: int, ends: Sequence[Any] | None, ordinal: bool) -> str:
    if ordinal:
        return set_cell(text[low : high + 1].to_list(), len(text))
    if low == high:
        return cast("str", text[low])
    if ends is None:
        return str(Interval(str(text[low]), str(text[high])))
    return range_cell(ends[low], ends[high + 1])


def range_cell(low: Bound, high: Bound) -> str:
    """Return the cell of the values from one end to before the other."""
    # whole numbers beyond 2**53 may have the same end
    return str(Interval(low, high, high_closed=low == high))


def _sets(
    table: Table, name: str, members: tuple[NDArray[np.int64], NDArray[np.int64]], mixed: NDArray[np.bool_]
) -> Regions:
    import polars as pl

    text = texts(table.codes(name)[1])
    by_group = pl.DataFrame({"g": members[0], "c": members[1]}).group_by("g", maintain_order=True)
    listed = by_group.agg("c", pl.col("c").cast(pl.String).str.join(",").alias("key"))
    keyed = listed.with_columns(pl.when(pl.Series(mixed)).then(pl.lit(STAR)).otherwise("key").alias("key"))
    distinct = keyed.unique("key", keep="first", maintain_order=True).select("key", "c").with_row_index("i")
    group = keyed.join(distinct.select("key", "i"), on="key", how="left", maintain_order="left")["i"]
    shown: list[str | None] = []
    spans: list[list[Any] | None] = []
    for _, key, codes in distinct.select("i", "key", "c").iter_rows():
        gone = key != STAR and codes[0] == len(text)
        shown.append(STAR if key == STAR else None if gone else set_cell([text[c] for c in codes], len(text)))
        spans.append([] if key == STAR else None if gone else codes)
    return Regions(shown, spans, group.cast(pl.Int64).to_numpy())


def set_cell(labels: Sequence[str | None], size: int) -> str:
    """Return the cell of some of ``size`` labels: one of them, a set, or everything.

    >>> set_cell(["a"], 3), set_cell(["a", "b"], 3), set_cell(["a", "b", "c"], 3)
    ('a', '{a, b}', '*')
    """
    if len(labels) == 1:
        return str(labels[0])
    return STAR if len(labels) == size else str(OneOf(tuple(map(str, labels))))
