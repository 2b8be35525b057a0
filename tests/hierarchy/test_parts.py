"""The hierarchy builders."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import celosia
from celosia import parts as catalogue
from celosia.errors import DataError, ParameterError, SchemaError, UnknownName
from celosia.hierarchy import hierarchy, parse
from celosia.hierarchy.balanced import Balanced
from celosia.hierarchy.dates import Dates
from celosia.hierarchy.ends import rounded_cuts
from celosia.hierarchy.intervals import Intervals, weighted_quantiles
from celosia.hierarchy.level_table import LevelTable
from celosia.hierarchy.order import Order
from celosia.hierarchy.prefixes import Prefixes
from celosia.hierarchy.priority import Priority
from celosia.hierarchy.tree import Tree
from celosia.hierarchy.values import Exact, Interval

# -- tables ------------------------------------------------------------------------------------------------------------


def test_arx_hierarchies_are_read_as_they_are(shared):
    expected = {"age": (4, 100), "education": (3, 16), "native-country": (2, 41), "sex": (1, 2)}
    data = pl.read_csv(shared("data/adult/adult.csv"), separator=";")
    for column, (height, rows) in expected.items():
        levels = hierarchy(shared(f"data/adult/adult_hierarchy_{column}.csv")).levels(data[column].unique())
        assert (levels.height, len(levels.domain)) == (height, rows)
    age = hierarchy(shared("data/adult/adult_hierarchy_age.csv")).levels(data["age"].unique())
    at = age.values.index("39")
    assert [age.labels(level)[at] for level in range(5)] == ["39", "35-39", "30-39", "20-39", "*"]
    assert [age.shares(level)[at] for level in range(5)] == [0.01, 0.05, 0.10, 0.20, 1.0]


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_separators_are_found(tmp_path, separator):
    path = tmp_path / "h.csv"
    path.write_text("\n".join(separator.join(row) for row in (("a", "A", "*"), ("b", "B", "*"))), encoding="utf-8")
    assert hierarchy(str(path)).levels(["b"]).labels(1) == ["B"]
    assert LevelTable(path=path, separator=separator).levels(["b"]).labels(1) == ["B"]


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text("a;A\n", encoding="utf-8")
    assert hierarchy(path).levels(["a"]).labels(1) == ["A"]
    path.write_text("a;B;*\n", encoding="utf-8")
    assert hierarchy(path).levels(["a"]).labels(1) == ["B"]


def test_bad_tables(tmp_path):
    with pytest.raises(DataError, match="cannot read the hierarchy"):
        hierarchy(tmp_path / "none.csv").levels(["a"])
    empty = tmp_path / "e.csv"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="empty"):
        hierarchy(empty).levels(["a"])
    latin = tmp_path / "l.csv"
    latin.write_bytes("é;*\n".encode("latin-1"))
    with pytest.raises(DataError, match="name its encoding"):
        hierarchy(latin).levels(["é"])
    assert LevelTable(path=latin, encoding="latin-1").levels(["é"]).labels(1) == ["*"]
    with pytest.raises(DataError, match="row 2 of the rows has 1 fields"):
        LevelTable(rows=[["a", "*"], ["b"]]).levels(["a"])
    with pytest.raises(DataError, match="two different rows"):
        LevelTable(rows=[["a", "x"], ["a", "y"]]).levels(["a"])
    with pytest.raises(ParameterError, match="either path or rows"):
        LevelTable()


def test_what_a_hierarchy_can_be_made_of():
    part = Intervals(width=5)
    assert hierarchy(part) is part
    assert hierarchy({"use": "intervals", "width": 5}) == part == hierarchy("intervals(width=5)")
    assert hierarchy({"Artist": ["Writer"]}) == Tree(tree={"Artist": ["Writer"]})
    assert hierarchy(pl.DataFrame({"a": [1, 2], "b": ["x", "x"]})).levels([2]).labels(1) == ["x"]
    assert hierarchy(pl.DataFrame({"a": [1, 2], "b": ["x", "x"]}).to_pandas()).levels([2]).labels(1) == ["x"]
    assert isinstance(hierarchy(Path("age.csv")), LevelTable)
    with pytest.raises(UnknownName):
        hierarchy("interval(width=5)")
    with pytest.raises(ParameterError, match="got int"):
        hierarchy(5)


def test_every_part_is_registered():
    names = {"levels", "intervals", "prefixes", "dates", "tree", "order", "balanced", "priority"}
    assert names <= set(catalogue.parts("hierarchy"))
    for text in ("levels(rows=[[a, x]])", "order(order=[a, b])", "prefixes(masked=[1, 3])", "tree(tree={A=[b, c]})"):
        part = hierarchy(text)
        assert hierarchy(part.spec()) == part == hierarchy(str(part))


# -- intervals ---------------------------------------------------------------------------------------------------------


def test_age_bands_of_the_worked_examples():
    ages = [30, 35, 38, 39, 32]
    assert Intervals(width=5).levels(ages).labels(1) == ["[30-35)", "[35-40)", "[35-40)", "[35-40)", "[30-35)"]
    closed = Intervals(width=20, origin=10, style="closed").levels([42, 28, 51, 12, 68])
    assert closed.labels(1) == ["[30, 49]", "[10, 29]", "[50, 69]", "[10, 29]", "[50, 69]"]
    twelve = Intervals(breaks=(30, 41), style="range").levels([28, 29, 21, 23, 50, 55, 47, 59, 31, 37, 36, 32])
    assert twelve.labels(1) == ["<30"] * 4 + [">40"] * 4 + ["30-40"] * 4
    right = Intervals(breaks=(32, 52), right=True).levels([29, 32, 33, 52, 53])
    assert right.labels(1) == ["≤32", "≤32", "(32-52]", "(32-52]", ">52"]


def test_bounds_and_doubling():
    levels = Intervals(width=10, bottom=20, top=65, count=2).levels([5, 20, 39, 44, 59, 64, 65, 99])
    assert levels.labels(1) == ["<20", "[20-30)", "[30-40)", "[40-50)", "[50-60)", "[60-65)", "≥65", "≥65"]
    assert levels.labels(2) == ["<20", "[20-40)", "[20-40)", "[40-60)", "[40-60)", "[60-65)", "≥65", "≥65"]
    assert levels.labels(3) == ["*"] * 8
    breaks = Intervals(breaks=(10, 20, 30, 40), count=2).levels([5, 10, 25, 30, 40])
    assert breaks.labels(1) == ["<10", "[10-20)", "[20-30)", "[30-40)", "≥40"]
    assert breaks.labels(2) == ["<20", "<20", "[20-40)", "[20-40)", "≥40"]


def test_floating_point_does_not_move_a_value():
    labels = Intervals(width=0.1).levels([0.3, 0.7, 0.6, 0.29]).labels(1)
    assert labels == ["[0.3-0.4)", "[0.7-0.8)", "[0.6-0.7)", "[0.2-0.3)"]


def test_quantiles_weigh_by_frequency():
    x, counts = [1, 2, 3, 10], [1, 1, 1, 97]
    assert Intervals(quantiles=2).levels(x, counts).labels(1) == ["<10", "<10", "<10", "≥10"]
    assert Intervals(quantiles=2).levels(x).labels(1) == ["<2.5", "<2.5", "≥2.5", "≥2.5"]
    assert Intervals(bins=3).levels(x).labels(1) == ["<4", "<4", "<4", "≥7"]


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 5)), min_size=1, unique_by=lambda t: t[0]),
    st.integers(2, 7),
)
def test_weighted_quantiles_equal_those_of_the_written_out_data(pairs, q):
    x, counts = (np.array(column) for column in zip(*pairs, strict=True))
    p = np.arange(1, q) / q
    expected = np.quantile(np.repeat(x, counts), p)
    assert weighted_quantiles(x.astype(float), counts, p) == pytest.approx(expected)


def test_numbers_only():
    with pytest.raises(SchemaError, match="1 of 2 distinct values"):
        Intervals(width=5).levels([3, "unknown"])
    assert Intervals(width=5, fallback="?").levels([3, "unknown"]).labels(1) == ["[0-5)", "?"]
    with pytest.raises(SchemaError, match="whole numbers only"):
        Intervals(width=5, style="range").levels([2.5])
    with pytest.raises(SchemaError, match="whole breaks"):
        Intervals(breaks=(2.5,), style="closed").levels([2])


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({}, "give one of width, bins, quantiles or breaks, got none"),
        ({"width": 5, "bins": 3}, "got width, bins"),
        ({"breaks": (3, 2)}, "must increase"),
        ({"width": 5, "bottom": 9, "top": 3}, "bottom must be less than top, got 9 and 3"),
        ({"width": -1}, "width must be more than 0.0, got -1"),
    ],
)
def test_bad_intervals(given_, message):
    with pytest.raises(ParameterError, match=message):
        Intervals(**given_)


_intervals = st.one_of(
    st.builds(
        Intervals,
        width=st.floats(0.5, 20).map(lambda w: round(w, 1)),
        origin=st.none() | st.integers(-10, 10).map(float),
        bottom=st.none() | st.integers(-40, -10).map(float),
        top=st.none() | st.integers(10, 40).map(float),
        count=st.integers(1, 3),
        factor=st.integers(2, 3),
        right=st.booleans(),
    ),
    st.builds(
        Intervals,
        breaks=st.lists(st.integers(-40, 40).map(float), min_size=1, unique=True).map(lambda b: tuple(sorted(b))),
        count=st.integers(1, 3),
        right=st.booleans(),
    ),
    st.builds(Intervals, quantiles=st.integers(2, 6), count=st.integers(1, 2)),
    st.builds(Intervals, bins=st.integers(2, 6), right=st.booleans()),
)


@given(_intervals, st.lists(st.integers(-600, 600).map(lambda i: i / 10), min_size=1, unique=True))
def test_every_interval_label_covers_its_value(part, values):
    levels = part.levels(values)
    for level in range(levels.height + 1):
        for value, label in zip(values, levels.labels(level), strict=True):
            assert parse(label).covers(value), (part, value, label)
        if level:  # labels of a level do not overlap
            cells = [parse(label) for label in set(levels.labels(level))]
            assert not any(a.overlaps(b) for i, a in enumerate(cells) for b in cells[i + 1 :])


# -- codes, dates, trees, orders ---------------------------------------------------------------------------------------


def test_prefixes_by_hand():
    levels = Prefixes().levels(["13053", "465113", "7"])
    assert levels.height == 6
    assert levels.labels(1) == ["1305*", "46511*", "*"]
    assert levels.labels(4) == ["1****", "46****", "*"]
    assert Prefixes(side="left").levels(["13053"]).labels(2) == ["**053"]
    assert Prefixes(step=2).levels(["13053"]).labels(2) == ["1****"]
    with pytest.raises(ParameterError, match="increasing"):
        Prefixes(masked=(3, 1))


@given(st.lists(st.text("0123456789", min_size=1, max_size=6), min_size=1, unique=True), st.integers(1, 3))
def test_every_mask_covers_its_value(values, step):
    levels = Prefixes(step=step).levels(values)
    for level in range(levels.height + 1):
        assert all(parse(label).covers(value) for value, label in zip(values, levels.labels(level), strict=True))


def test_dates_by_hand():
    levels = Dates(formats=("%d/%m/%Y",)).levels(["26/02/2018", "31/03/2019"])
    assert levels.height == 5
    assert levels.labels(1) == ["2018-02", "2019-03"]
    stamps = Dates(units=("day", "year")).levels(["2018-02-26T10:30:00", date(2019, 1, 1)])
    assert stamps.labels(1) == ["2018-02-26", "2019-01-01"]
    assert Dates(formats=("%d.%m.%Y %H:%M",)).levels(["01.02.1999 10:30"]).labels(4) == ["1990s"]
    with pytest.raises(SchemaError, match="1 of 1"):
        Dates().levels(["26/02/2018"])
    with pytest.raises(ParameterError, match="from fine to coarse"):
        Dates(units=("year", "month"))


@given(st.lists(st.dates(date(1900, 1, 1), date(2099, 12, 31)), min_size=1, unique=True))
def test_every_period_covers_its_date(days):
    levels = Dates().levels(days)
    for level in range(levels.height + 1):
        assert all(parse(label, "date").covers(day) for day, label in zip(days, levels.labels(level), strict=True))


def test_tree_of_the_worked_examples():
    marital = Tree(tree={"not married": ["separated", "single", "divorced"], "married": []}).levels(
        ["single", "married"]
    )
    assert marital.labels(1) == ["not married", "married"]
    assert marital.shares(1).tolist() == [0.75, 0.25]
    for bad, message in (({"A": "x"}, "a list or a table, got str"), ({"A": ["x"], "B": ["x"]}, "two places")):
        with pytest.raises(ParameterError, match=message):
            Tree(tree=bad)
    nested = Tree(tree={"A": [{"B": ["x"]}, "y"]}).levels(["x", "y"])
    assert nested.labels(1) == ["B", "y"]


def test_order():
    levels = Order(order=("a", "b", "c", "d", "e"), factor=2).levels(["a", "e"])
    assert levels.labels(1) == ["{a, b}", "e"]
    assert Order(order=("a", "b", "c"), count=1).levels(["a"]).height == 2
    assert parse(levels.labels(2)[0]).covers("d")
    for bad in ({}, {"order": ("a", "a")}, {"groups": ((),)}, {"order": ("a",), "groups": (("a",),)}):
        with pytest.raises(ParameterError):
            Order(**bad)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 50)), min_size=1, unique_by=lambda t: t[0]), st.booleans())
def test_balanced_groups_cover_and_split_near_the_middle(pairs, numeric):
    raw = [str(v) if numeric else f"{chr(97 + v // 10)}{chr(97 + v % 10)} of a word" for v, _ in pairs]
    counts = [c for _, c in pairs]
    levels = Balanced().levels(raw, counts)
    for level in range(levels.height + 1):
        assert all(parse(label).covers(value) for value, label in zip(raw, levels.labels(level), strict=True))
    if levels.height > 1:
        below = levels.labels(levels.height - 1)
        weights = [sum(c for c, label in zip(counts, below, strict=True) if label == one) for one in set(below)]
        assert len(weights) == 2
        assert abs(weights[0] - weights[1]) <= max(counts)
    assert Balanced(count=1).levels(raw, counts).height <= 2


@given(
    st.lists(
        st.tuples(st.text("abcü -", min_size=1, max_size=7), st.integers(1, 9)), min_size=1, unique_by=lambda t: t[0]
    )
)
def test_words_that_few_records_hold_name_no_group(pairs):
    pairs = [(word.strip() or "a", count) for word, count in pairs]
    pairs = list(dict(pairs).items())
    levels = Balanced().levels([word for word, _ in pairs], [count for _, count in pairs])
    common = {word for word, count in pairs if count >= 5}
    for level in range(1, levels.height + 1):
        for (word, _), label in zip(pairs, levels.labels(level), strict=True):
            cell = parse(label)
            assert cell.covers(word)
            named = (
                {label} if isinstance(cell, Exact) else {cell.low, cell.high} if isinstance(cell, Interval) else set()
            )
            told = named & {word for word, _ in pairs}
            assert told <= common, "the name of a rare value"


# An amount below 10 has at most three digits, and such a number may be the end of a range.
@given(st.lists(st.integers(100, 10**7), min_size=2, max_size=60, unique=True), st.booleans())
def test_amounts_to_the_cent_name_no_group(cents, right):
    raw = [f"{cent // 10}.{cent % 10}7" for cent in cents]
    for part in (Balanced(), Intervals(quantiles=4, right=right), Intervals(bins=3, right=right)):
        levels = part.levels(raw, [1] * len(raw))
        for level in range(1, levels.height + 1):
            for value, label in zip(raw, levels.labels(level), strict=True):
                assert parse(label).covers(value)
                assert value not in label.strip("[]()<>≥≤").split("-"), "an end that is somebody's amount"


@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=2, max_size=40, unique=True),
    st.integers(2, 6),
    st.booleans(),
)
def test_rounded_ends_part_the_same_values(numbers, quantiles, right):
    x = np.array(numbers)
    exact = weighted_quantiles(x, np.ones(len(x), dtype=np.int64), np.arange(1, quantiles) / quantiles)
    rounded = rounded_cuts(exact, x, np.ones(len(x), dtype=np.int64), right=right)
    side = "left" if right else "right"
    assert np.array_equal(np.searchsorted(np.sort(exact), x, side), np.searchsorted(np.sort(rounded), x, side))


def test_priority():
    levels = Priority(count=1, order=("z",)).levels(["a", "z", "b", "c"], counts=[5, 1, 9, 2])
    assert levels.labels(1) == ["*", "z", "b", "*"]
    assert levels.labels(2) == ["*"] * 4


@pytest.mark.parametrize(
    "part", ["intervals(quantiles=3, count=2)", "intervals(bins=4)", "balanced", "priority(count=2)"]
)
def test_hierarchies_from_data_are_settled_when_a_table_is_read(part):
    data = pl.DataFrame({"x": [1, 2, 2, 3, 3, 3, 3, 10]})
    table = celosia.read(data, celosia.Schema.of(quasi=["x"], hierarchies={"x": part}))
    fixed = table.schema.hierarchy("x")
    assert not fixed.from_data()
    counts = data["x"].value_counts().sort("x")
    assert fixed.levels(counts["x"]).labels(1) == hierarchy(part).levels(counts["x"], counts["count"].to_list()).labels(
        1
    )
    safe = celosia.protect(table, celosia.methods.Recode(column="x", level=1), seed=1)
    assert safe.schema.hierarchy("x") == fixed
    assert celosia.loss.Precision().value(table, safe) > 0


def test_a_constant_column_and_no_column_settle():
    assert hierarchy("intervals(quantiles=3)").freeze([5], [3]).levels([5]).labels(1) == ["≥5"]
    with pytest.raises(SchemaError, match="1 of 1 distinct values"):
        hierarchy("intervals(quantiles=3)").freeze(["unknown"], [3])
    assert hierarchy("balanced").freeze([], []).from_data()


def test_many_values():
    zips = [f"{i:06}" for i in range(200_000)]
    assert Prefixes(masked=(2,)).levels(zips).labels(1)[-1] == "1999**"
