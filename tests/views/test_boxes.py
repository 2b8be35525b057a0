"""Boxes of records: what they span in ordered, labelled and hierarchical columns, and the classes of the file."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import UnknownName
from celosia.views.boxes.regions import Boxes, axes, file_classes, node_labels

TREE = [["p", "A", "*"], ["q", "A", "*"], ["r", "B", "*"], ["s", "B", "*"]]
cells = st.lists(
    st.tuples(st.sampled_from([0, 5, 10]), st.sampled_from("pqrs"), st.sampled_from("uvw"), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


def table(records):
    data = pl.DataFrame(
        [row[:3] for row in records], schema={"n": pl.Int64, "t": pl.String, "c": pl.String}, orient="row"
    )
    return celosia.read(data, celosia.Schema.of(quasi=["n", "t", "c"], hierarchies={"t": TREE}))


@given(cells)
@settings(max_examples=50, deadline=None)
def test_what_boxes_span(records):
    data = table(records)
    label = np.unique([row[3] for row in records], return_inverse=True)[1]
    boxes, columns = Boxes(label), axes(data)
    penalty = boxes.widths(columns)
    values = [row[0] for row in records]
    spread = max(values) - min(values)
    labels = sorted({row[2] for row in records})
    branch = {leaf: node for leaf, node, _ in TREE}
    domain = {row[1] for row in records}
    for g in range(len(boxes)):
        inside = [row for row, own in zip(records, label, strict=True) if own == g]
        assert boxes.size[g] == len(inside)
        numbers = [row[0] for row in inside]
        assert penalty[g, 0] == pytest.approx((max(numbers) - min(numbers)) / spread if spread else 0.0)
        assert penalty[g, 2] == pytest.approx((len({row[2] for row in inside}) - 1) / max(len(labels) - 1, 1))
        leaves, nodes = {row[1] for row in inside}, {branch[row[1]] for row in inside}
        share = 0.0 if len(leaves) == 1 else 2 / 4 if len(nodes) == 1 else 1.0
        assert penalty[g, 1] == pytest.approx(share), (leaves, domain)
        level, leaf = (side[g] for side in boxes.common(columns[1]))
        assert level == (0 if len(leaves) == 1 else 1 if len(nodes) == 1 else 2)
        shown = node_labels(data, "t", columns[1])[level][leaf]
        assert shown == (leaves.pop() if level == 0 else nodes.pop() if level == 1 else "*")
    owner, code = boxes.members(data.codes("c")[0], len(labels))
    assert [(g, labels[c]) for g, c in zip(owner.tolist(), code.tolist(), strict=True)] == sorted(
        {(int(own), row[2]) for row, own in zip(records, label, strict=True)}
    )


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "*"]), st.sampled_from(["1", "*"])), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_equal_boxes_are_one_class_and_stars_are_none(rows):
    classes = file_classes([pl.Series([row[j] for row in rows]) for j in (0, 1)])
    all_stars = all(row == ("*", "*") for row in rows)
    for row, own in zip(rows, classes.tolist(), strict=True):
        assert (own == -1) == (row == ("*", "*") and not all_stars)
        assert all((own == other) == (row == another) for another, other in zip(rows, classes.tolist(), strict=True))


def test_a_weight_for_no_column_is_refused():
    with pytest.raises(UnknownName, match="age"):
        axes(table([(0, "p", "u", 0)]), {"age": 2.0})
