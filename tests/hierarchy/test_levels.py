"""Level tables: codes, shares, nesting, mixed levels, uncovered and missing values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.errors import ParameterError, SchemaError
from celosia.hierarchy import Levels, hierarchy
from celosia.hierarchy.level_table import LevelTable
from celosia.hierarchy.levels import MOST_LEVELS

JOBS = (
    ("Writer", "Artist", "*"),
    ("Dancer", "Artist", "*"),
    ("Engineer", "Professional", "*"),
    ("Lawyer", "Professional", "*"),
)


def test_codes_shares_and_mapping_by_hand():
    levels = LevelTable(rows=JOBS).levels(["Lawyer", "Writer"])
    assert levels.height == 2
    assert levels.labels(0) == ["Lawyer", "Writer"]
    assert levels.labels(1) == ["Professional", "Artist"]
    assert (levels.values, levels.labels(2)) == (["Lawyer", "Writer"], ["*", "*"])
    assert levels.codes(1).dtype == np.int32
    assert levels.shares(0).tolist() == [0.25, 0.25]  # every row of the hierarchy counts, not only what occurs
    assert levels.shares(1).tolist() == [0.5, 0.5]
    assert levels.shares(2).tolist() == [1.0, 1.0]
    assert [levels.categories(1)[c] for c in levels.codes(1)] == levels.labels(1)
    for level, parent in enumerate(levels.parents):
        assert (parent[levels.codes(level)] == levels.codes(level + 1)).all()
    with pytest.raises(ParameterError, match="levels 0 to 2, got 3"):
        levels.labels(3)


def test_uncovered_values_are_counted_not_shown():
    with pytest.raises(SchemaError, match=r"column 'job': 2 of 3 distinct values are not covered") as caught:
        LevelTable(rows=JOBS).levels(["Writer", "Spy", "Poet"], column="job")
    assert "Spy" not in str(caught.value)


@pytest.mark.parametrize(
    ("fallback", "chain"),
    [("*", ["*", "*"]), ("Artist", ["Artist", "*"]), ("other", ["other", "*"])],
)
def test_fallback(fallback, chain):
    levels = LevelTable(rows=JOBS, fallback=fallback).levels(["Writer", "Spy", "Poet"])
    assert levels.labels(0) == ["Writer", "Spy", "Poet"]
    assert [levels.labels(level)[1] for level in (1, 2)] == chain
    assert [levels.labels(level)[2] for level in (1, 2)] == chain
    assert levels.labels(1)[0] == "Artist"
    levels.check_nesting()


def test_fallback_on_a_higher_level_follows_its_parents():
    rows = (("a", "A", "X", "*"), ("b", "B", "X", "*"), ("c", "C", "Y", "*"))
    levels = LevelTable(rows=rows, fallback="X").levels(["a", "c", "new"])
    assert [levels.labels(level)[2] for level in range(4)] == ["new", "X", "X", "*"]


def test_missing_stays_missing_below_the_top():
    levels = LevelTable(rows=JOBS).levels(["Writer", None])
    assert [levels.labels(level) for level in range(3)] == [["Writer", None], ["Artist", None], ["*", "*"]]
    assert levels.codes(2)[0] == levels.codes(2)[1]
    assert levels.codes(1)[0] != levels.codes(1)[1]
    open_top = LevelTable(rows=[["a", "A"], ["b", "B"]]).levels(["a", None])
    assert open_top.labels(1) == ["A", None]


def test_levels_must_nest():
    with pytest.raises(SchemaError, match="level 2 does not nest level 1: values that share one of 1 label"):
        LevelTable(rows=[["a", "g", "x"], ["b", "g", "y"]]).levels(["a"])


def test_mixed_levels_of_the_twelve_patients():
    zips = ["13053", "13068", "14853", "14850"]
    levels = hierarchy("prefixes").levels(zips)
    assert levels.cut(["130**", "1485*"]) == ["130**", "130**", "1485*", "1485*"]
    assert levels.cut(["1485*"], rest=1) == ["1305*", "1306*", "1485*", "1485*"]
    assert levels.at([2, 2, 0, 0]) == ["130**", "130**", "14853", "14850"]
    with pytest.raises(ParameterError, match="stand at another level"):
        levels.at([2, 0, 0, 0])
    with pytest.raises(ParameterError, match="one level per value"):
        levels.at([2])
    with pytest.raises(ParameterError, match="names no label"):
        levels.cut(["999**"])


def test_share_and_height_of_any_cell():
    levels = LevelTable(rows=tuple((str(i), f"{i // 5 * 5}-{i // 5 * 5 + 4}", "*") for i in range(20))).levels(["3"])
    assert levels.share_of("5-9") == 0.25
    assert levels.share_of("[3-8)") == 0.25  # 3 4 5 6 7
    assert levels.share_of("{1, 2}") == 0.1
    assert levels.share_of("*****") == 1
    assert levels.share_of(None) == 0.05
    assert levels.heights_of(["3", "0-4", "*", "[3-8)", "[2-9]", None]).tolist() == [0, 1, 2, 1, 2, 0]


def test_empty():
    levels = LevelTable(rows=JOBS).levels([])
    assert levels.labels(1) == []
    assert len(hierarchy("prefixes").levels([]).codes(1)) == 0
    assert hierarchy("intervals(width=5)").levels([None]).labels(0) == [None]


@given(st.data())
def test_any_tree_nests_and_shares_add_up(data):
    n = data.draw(st.integers(1, 12))
    codes = [list(range(n))]
    for _ in range(data.draw(st.integers(1, 4))):
        size = max(codes[-1]) + 1
        up = data.draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size))
        dense = {c: i for i, c in enumerate(dict.fromkeys(up))}
        codes.append([dense[up[c]] for c in codes[-1]])
    rows = tuple(tuple(f"{level}.{codes[level][i]}" for level in range(len(codes))) for i in range(n))
    levels = LevelTable(rows=rows).levels([row[0] for row in rows])
    previous = np.zeros(n)
    for level in range(levels.height + 1):
        shares = levels.shares(level)
        # independent: count rows with the same label
        labels = levels.labels(level)
        assert shares == pytest.approx([labels.count(label) / n for label in labels])
        assert (shares >= previous).all()
        previous = shares


def test_of_accepts_columns():
    levels = Levels.of(["a", "b"], [["*", "*"]])
    assert levels.height == 1


def test_a_hierarchy_has_a_most_of_levels():
    rows = [[f"v{i}", *["*"] * MOST_LEVELS] for i in range(3)]
    assert hierarchy(rows).levels(["v0"]).height == MOST_LEVELS
    with pytest.raises(SchemaError, match=f"at most {MOST_LEVELS} levels, got {MOST_LEVELS + 1}"):
        hierarchy([[*row, "*"] for row in rows]).levels(["v0"])
