"""A partition as plain data: its cuts and the cells of each box, by which new records are assigned to boxes.

The record has cell values of the original, so it belongs into the private part of a release.

``columns``
    How values are compared, one entry per quasi-identifier: a *range* of numbers or of ISO texts with its ends, a
    *set* of labels with their rank in the order of cuts, or a *tree* with the label above each label. ``cells`` are
    the distinct cells of the boxes, ``spans`` the values that they cover, ``box`` the cell of each box.
``cuts``
    Node, column, position of the cut, and the first of its parts, which are numbered in turn. The cut of a range is
    the largest value of the left part and the round end behind it, of a set the largest rank; of a tree the level and
    the label of each part.
``leaf``
    The node of each box.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes import STAR
from celosia.data.schema import Kind
from celosia.hierarchy import texts
from celosia.hierarchy.ends import round_ends
from celosia.views.boxes.regions import Regions, node_labels

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.search.partition.mondrian import Axis, Cuts
    from celosia.table import Table


def recorded_boxes(
    table: Table, table_axes: Sequence[Axis], cuts: Cuts, shown: Sequence[Regions | pl.Series]
) -> dict[str, Any] | None:
    """Return the partition of a table as plain data; None when equal values fell on both sides of a cut.

    ``shown`` has for each column the regions, or one value per box.
    """
    at = _cut_positions(table, table_axes, cuts)
    if at is None:
        return None
    columns = []
    for name, axis, cells in zip(table.schema.need_quasi(), table_axes, shown, strict=True):
        column: dict[str, Any] = {"name": name, **_comparison(table, name, axis)}
        if isinstance(cells, Regions):
            column |= {"cells": cells.cells, "spans": cells.spans, "box": cells.group}
        else:
            column["values"] = texts(cells) if cells.dtype.is_temporal() else cells.to_list()
        columns.append(column)
    first = _first_parts(cuts)
    written = {"node": cuts.parent[first], "column": cuts.column[first], "at": at, "first": first}
    return {"columns": columns, "cuts": written, "leaf": cuts.leaf}


def _first_parts(cuts: Cuts) -> NDArray[np.int64]:
    """Return the first part of each node that was cut."""
    return np.flatnonzero(np.diff(cuts.parent)) + 1


def _cut_positions(table: Table, table_axes: Sequence[Axis], cuts: Cuts) -> list[Any] | None:
    """Return the position of each cut on its axis; None when equal values fell on both sides of one."""
    first = _first_parts(cuts)
    names = table.schema.need_quasi()
    at: list[Any] = [None] * len(first)
    for j, axis in enumerate(table_axes):
        here = np.flatnonzero(cuts.column[first] == j)
        left = cuts.last[first[here]]
        if axis.levels is not None:
            labels = node_labels(table, names[j], axis)
            end = np.append(first[1:], len(cuts.parent))[here]
            for i, a, b in zip(here, first[here], end, strict=True):
                at[i] = _branches(axis, labels, cuts.first[a:b], cuts.last[b - 1])
            continue
        if (axis.codes[left] == axis.codes[cuts.first[first[here] + 1]]).any():
            return None
        ends: list[Any] = axis.codes[left].tolist()
        if _is_range(table, names[j], axis):
            values = table.codes(names[j])[1]
            text, behind = texts(values), texts(round_ends(values) or [])
            ends = [[text[c], behind[c + 1] if behind else None] for c in ends]
        for i, end in zip(here, ends, strict=True):
            at[i] = end
    return at


def _branches(axis: Axis, labels: list[list[str | None]], starts: NDArray[np.int64], last: np.int64) -> list[Any]:
    """Return the level of a cut in a tree, and the label of each part."""
    assert axis.levels is not None
    outer = axis.levels[:, axis.codes[[starts[0], last]]]
    level = int(np.argmax(outer[:, 0] == outer[:, 1])) - 1
    return [level, [labels[level][c] for c in axis.codes[starts]]]


def _is_range(table: Table, name: str, axis: Axis) -> bool:
    return axis.position is not None and table.schema[name].kind != Kind.ORDINAL


def _comparison(table: Table, name: str, axis: Axis) -> dict[str, Any]:
    """Describe how the values of a column are compared."""
    codes, values = table.codes(name)
    missing = bool((codes < 0).any())
    text = texts(values)
    if axis.levels is not None:
        return {"kind": "tree", "missing": missing, "parents": _parents(table, name, axis)}
    if _is_range(table, name, axis):
        ends: dict[str, Any] = {"low": text[0], "high": text[-1]} if text else {"low": None, "high": None}
        outer = texts(round_ends(values) or [])
        ends |= {"outer": [outer[0], outer[-1]] if text and outer else None}
        return {"kind": "range", "missing": missing, "numeric": values.dtype.is_numeric(), **ends}
    rank = np.empty(len(text) + missing, np.int64)
    rank[np.where(codes < 0, len(text), codes)] = axis.codes
    return {"kind": "set", "missing": missing, "labels": text, "rank": rank}


def _parents(table: Table, name: str, axis: Axis) -> list[dict[str, str]]:
    """For each level below the top, map each label to the one above, also for values that do not occur."""
    assert axis.levels is not None
    hierarchy = table.schema.hierarchy(name)
    assert hierarchy is not None
    values = table.codes(name)[1].to_list()
    whole = hierarchy.levels([*values, *hierarchy.levels(values).domain])
    rows = [whole.labels(v) for v in range(whole.height + 1)]
    if len(rows) < len(axis.levels):  # a top that the hierarchy itself lacks
        rows.append([STAR] * len(rows[0]))
    return [
        {a: b for a, b in zip(low, high, strict=True) if a is not None and b is not None}
        for low, high in pairwise(rows)
    ]
