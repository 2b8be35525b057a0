"""Recoding: levels, mixed levels, breaks, bins; the reference is sdcMicro's globalRecode and the slow way."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, ParameterError
from celosia.hierarchy import parse
from celosia.methods import Recode


def table(values, engine="polars", **schema):
    return celosia.read(pl.DataFrame({"v": values}), celosia.Schema.of(quasi=["v"], **schema), engine=engine)


def recoded(values, engine="polars", hierarchy=None, **options):
    schema = {"hierarchies": {"v": hierarchy}} if hierarchy else {}
    return celosia.protect(table(values, engine, **schema), Recode(column="v", **options)).polars()["v"].to_list()


ZIPS = ["13053", "13068", "14853", "14850", None]


def test_texts_of_a_column_declared_numeric_are_cut():
    texts = table(["a", "2", "0,5"], kinds={"v": "numeric"})
    recode = Recode(column="v", breaks=[1])
    assert celosia.protect(texts, recode).polars()["v"].to_list() == [None, "≥1", "<1"]


def test_level(engine):
    assert recoded(ZIPS, engine, {"use": "prefixes"}, level=2) == ["130**", "130**", "148**", "148**", None]
    assert recoded(ZIPS, engine, {"use": "prefixes"}, level=0) == ZIPS


def test_mixed_levels(engine):
    nodes = ["130**", "1485*"]
    assert recoded(ZIPS, engine, {"use": "prefixes"}, nodes=nodes) == ["130**", "130**", "1485*", "1485*", None]
    one = recoded(ZIPS, engine, {"use": "prefixes"}, nodes=["1305*"], rest=0)
    assert one == ["1305*", "13068", "14853", "14850", None]


def test_mapping(engine):
    assert recoded(["a", "b", None], engine, mapping={"a": "z"}) == ["z", "b", None]
    assert recoded([1.0, 2.5, None], engine, mapping={"1": "one"}) == ["one", "2.5", None]


def test_breaks(engine):
    x = [29, 30, 59, 60, None]
    assert recoded(x, engine, breaks=[30, 60]) == ["<30", "[30-60)", "[30-60)", "≥60", None]
    assert recoded(x, engine, breaks=[30, 60], right=True) == ["≤30", "≤30", "(30-60]", "(30-60]", None]
    closed = recoded(x, engine, breaks=[30, 60], outside="missing")
    assert closed == [None, "[30, 60]", "[30, 60]", "[30, 60]", None]
    bare = recoded(x, engine, breaks=[30, 60], outside="missing", include_lowest=False)
    assert bare == [None, "[30-60)", "[30-60)", None, None]
    assert recoded(x, engine, breaks=[30, 60], labels=["young", "middle", "old"])[:4] == [
        "young",
        "middle",
        "middle",
        "old",
    ]


def intervals(values):
    """The bounds of labels and how many records have each, in order."""
    counts: dict[tuple[float, float], int] = {}
    for value in values:
        if value is not None:
            cell = parse(value)
            counts[cell.low, cell.high] = counts.get((cell.low, cell.high), 0) + 1
    return dict(sorted(counts.items()))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("equidistant6", {"spacing": "equal", "margin": 1}),
        ("logEqui6", {"spacing": "log", "margin": 1}),
        ("equalAmount6", {"spacing": "frequency"}),
    ],
)
def test_bins_are_those_of_sdcmicro(shared, engine, name, options):
    # sdcMicro 5.8.1 stretches the range by 1 on both sides (of the logarithm for logEqui) and rounds the breaks.
    ages = pl.read_csv(shared("data/free1.csv"))["AGE"].to_list()
    golden = json.loads(shared("golden/sdcmicro/globalRecode_free1_AGE.json").read_text())[name]
    made = intervals(recoded(ages, engine, bins=6, right=True, whole=True, ends="exact", **options))
    bounds = [tuple(float(end) for end in level.strip("[]()").split(",")) for level in golden["levels"]]
    wanted = {bound: count for bound, count in zip(bounds, golden["counts"], strict=True) if count}
    assert made == wanted


def test_breaks_are_those_of_sdcmicro(shared, engine):
    ages = pl.read_csv(shared("data/free1.csv"))["AGE"].to_list()
    golden = json.loads(shared("golden/sdcmicro/globalRecode_free1_AGE.json").read_text())["breaks"]
    breaks = [1, 9, 19, 29, 39, 49, 59, 69, 100]
    made = recoded(ages, engine, breaks=breaks, right=True, outside="missing", labels=golden["levels"])
    assert [made.count(label) for label in golden["levels"]] == golden["counts"]


def test_lowest_value_is_lost_only_when_asked():
    # Spec 000, A2: type-7 quantiles, rounded, open at the lowest end: the records at the minimum fall out.
    x = [1, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    kept = recoded(x, bins=3, spacing="frequency", right=True, ends="exact")
    lost = recoded(x, bins=3, spacing="frequency", right=True, ends="exact", include_lowest=False)
    assert None not in kept
    assert [i for i, value in enumerate(lost) if value is None] == [0, 1]


def test_census_groups_of_the_thesis(shared):
    # Spec 000: pair (1, 2), three groups of about equal amount each, 1078 records kept, the 9 cells as printed.
    frame = pl.read_csv(shared("data/census.csv"))
    options = {"bins": 3, "spacing": "frequency", "right": True, "ends": "exact", "include_lowest": False}
    made = [recoded(frame[name].to_list(), **options) for name in frame.columns[:2]]
    pairs = pl.DataFrame({"a": made[0], "b": made[1]}).drop_nulls()
    assert len(pairs) == 1078
    order = [list(intervals(column)) for column in made]
    cells = np.zeros((3, 3), dtype=int)
    for a, b in pairs.rows():
        i, j = (order[k].index((parse(v).low, parse(v).high)) for k, v in enumerate((a, b)))
        cells[i, j] += 1
    assert cells.tolist() == [[124, 102, 133], [127, 129, 103], [108, 128, 124]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(-50, 50), st.floats(-50, 50, allow_nan=False)), min_size=2, max_size=20),
    st.lists(st.integers(-40, 40), min_size=2, max_size=5, unique=True),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["open", "missing"]),
)
def test_every_label_covers_its_value(values, breaks, right, include_lowest, outside):
    values = [None if v is None else float(v) for v in values]
    if all(v is None for v in values):
        return
    breaks = sorted(breaks)
    made = recoded(values, breaks=breaks, right=right, include_lowest=include_lowest, outside=outside)
    for value, label in zip(values, made, strict=True):
        if value is None:
            assert label is None
        elif label is None:
            beyond = not breaks[0] < value < breaks[-1]
            assert outside == "missing"
            assert beyond
        else:
            assert parse(label).covers(str(value))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0.001, 1e6), min_size=3, max_size=20, unique=True),
    st.integers(2, 6),
    st.sampled_from(["equal", "log", "frequency"]),
)
def test_bins_cover_every_record(values, bins, spacing):
    made = recoded(values, bins=bins, spacing=spacing)
    assert None not in made
    assert len(set(made)) <= bins


def test_bins_of_equal_frequency_are_balanced():
    made = recoded([float(x) for x in range(600)], bins=6, spacing="frequency")
    assert sorted(made.count(label) for label in set(made)) == [100] * 6


def test_breaks_made_from_data_are_private():
    done = celosia.protect(table([1.5, 2.5, 9.25]), Recode(column="v", bins=2))
    assert "9.25" not in str(done.history[-1])
    assert done.private_history[-1]["breaks"] == [1.0, 5.5, 10.0]


def test_refusals():
    with pytest.raises(ParameterError, match="give one of level, nodes, breaks, bins, mapping; got none"):
        Recode(column="v")
    with pytest.raises(ParameterError, match="got level, breaks"):
        Recode(column="v", level=1, breaks=[1])
    with pytest.raises(ParameterError, match="must increase"):
        Recode(column="v", breaks=[3, 1])
    with pytest.raises(ParameterError, match="2 intervals need 2 labels, got 3"):
        recoded([1, 2], breaks=[2], labels=["a", "b", "c"])
    with pytest.raises(ParameterError, match="levels 0 to 5, got level 9"):
        recoded(ZIPS, hierarchy={"use": "prefixes"}, level=9)
    with pytest.raises(DataError, match="not numeric"):
        recoded(["a"], breaks=[1])
    with pytest.raises(DataError, match="not positive"):
        recoded([0, 1, 2], bins=2, spacing="log")
    with pytest.raises(DataError, match="too few different values"):
        recoded([3, 3], bins=2)
    with pytest.raises(DataError, match="no values"):
        celosia.protect(celosia.read(pl.DataFrame({"v": [None]}, schema={"v": pl.Float64})), Recode(column="v", bins=2))


def test_log_bins_have_equal_ratios():
    done = celosia.protect(table([1.0, 7.0, 1000.0]), Recode(column="v", bins=3, spacing="log", ends="exact"))
    breaks = done.private_history[-1]["breaks"]
    assert [b / a for a, b in pairwise(breaks)] == pytest.approx([10.0] * 3)
    assert math.isclose(breaks[0], 1.0)


@pytest.mark.parametrize("right", [False, True])
def test_many_intervals(engine, right):
    # 401 breaks: one condition inside another for each interval exceeded the recursion limit
    values = list(range(801))
    shown = recoded(values, engine, breaks=range(0, 801, 2), outside="missing", right=right)
    assert len(set(shown)) == 400
    assert all(parse(label).covers(str(value)) for value, label in zip(values, shown, strict=True))
