"""Generalised values: notations, matching, covering."""

from __future__ import annotations

import math
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.hierarchy.text import plain, text_expression, texts
from celosia.hierarchy.values import Everything, Exact, Interval, Mask, OneOf, Period, cover, parse


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("[30-35)", [30, "30", 34.9], [29, 35, "Writer", None]),
        ("[35-40)", [35], [40]),
        ("[30, 49]", [30, 49], [29.9, 50]),
        ("(32, 52]", [33, 52], [32, 53]),
        ("(50,∞)", [51, 1e9], [50]),
        ("(-inf, 5]", [5, -1000], [6]),
        ("<30", [29, -5], [30]),
        ("<=40", [40], [41]),
        ("≤40", [40], [41]),
        (">40", [41], [40]),
        ("≥40", [40], [39]),
        (">=40", [40], [39]),
        ("30-40", [30, 40], [29, 41]),
        ("30–40", [30, 40], [41]),
        ("-10--5", [-10, -7, -5], [0]),
        ("130**", ["13053", 13068], ["14853", "130", "130531"]),
        ("1485*", ["14853"], ["14863"]),
        ("{Divorced, Widowed}", ["Divorced", "Widowed"], ["Married"]),
        ("{1, 2}", [1.0, "2"], [3]),
        ("*", ["x", 3, None], []),
        ("****", ["x"], []),
        ("Writer", ["Writer"], ["Dancer"]),
        ("<=50K", ["<=50K"], [">50K", 40]),
        ("5th-6th", ["5th-6th"], ["5"]),
        ("2018-05", ["2018-05-01", date(2018, 5, 31)], ["2018-06-01"]),
        ("2018-Q1", ["2018-02-28"], ["2018-04-01"]),
        ("2010s", ["2019-12-31"], ["2020-01-01"]),
        ("[Adm .. Exec]", ["Craft", "Adm", "Exec"], ["Sales"]),
        ("5-3", ["5-3"], [4]),
    ],
)
def test_a_notation_covers_what_it_says(text, inside, outside):
    cell = parse(text)
    assert all(cell.covers(raw) for raw in inside)
    assert not any(cell.covers(raw) for raw in outside)


def test_years_are_dates_only_when_asked():
    assert parse("2018") == Exact("2018")
    assert parse("2018", "date").covers("2018-07-01")


@pytest.mark.parametrize(
    "text",
    ["[30-35)", "(32-52]", "[30, 49]", "<30", "≤5", ">7.5", "≥40", "130**", "{a, b}", "*", "x", "2018-Q3", "[a .. b]"],
)
def test_text_round_trip(text):
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.booleans(), st.booleans(), st.floats(-1e6, 1e6))
def test_interval_text_means_the_same_interval(a, b, low_closed, high_closed, x):
    low, high = sorted((round(a, 3), round(b, 3)))
    cell = Interval(low, high, low_closed, high_closed)
    assert parse(str(cell)).covers(x) == cell.covers(x)
    assert parse(str(cell)).covers(low) == cell.covers(low)


@pytest.mark.parametrize(
    ("a", "b", "meet"),
    [
        ("[30-35)", "[35-40)", False),
        ("[30-35]", "[35-40)", True),
        ("<30", ">40", False),
        ("<30", "20-50", True),
        ("130**", "1305*", True),
        ("130**", "1485*", False),
        ("130**", "13000-13010", True),
        ("130**", "<13000", False),
        ("{a, b}", "{b, c}", True),
        ("{a, b}", "{c}", False),
        ("{5, 9}", "[6-8]", False),
        ("x", "*", True),
        ("2018-Q1", "2018-03", True),
        ("2018-Q1", "2018-04", False),
        ("2018-Q1", "2018-03-31", True),
        ("5", "5.0", True),
    ],
)
def test_overlap_is_symmetric(a, b, meet):
    assert parse(a).overlaps(parse(b)) is meet
    assert parse(b).overlaps(parse(a)) is meet


def test_width():
    assert parse("[30-35)").width == 5
    assert parse("7").width == 0
    assert parse("<30").width == math.inf
    assert parse("130**").width == 99
    assert parse("{a, b, c}").width == 2
    assert parse("2018-02").width == 27


def test_cover_by_hand():
    assert cover(["22", "27", "29"]) == Interval(22.0, 29.0)
    assert cover(["[30-35)", "[35-40)"]) == Interval(30.0, 40.0, True, False)
    assert cover(["<30", "35"]) == Interval(-math.inf, 35.0, False, True)
    assert cover(["13053", "1306*"]) == Mask("130**")
    assert cover(["23053", "1306*"]) == Everything()
    assert cover(["a", "{b, a}"]) == OneOf(("a", "b"))
    assert cover(["2018-01", "2018-03"]) == Interval("2018-01-01", "2018-03-31")
    assert cover(["x", "<5"]) == Everything()
    assert isinstance(parse("2018-01"), Period)
    with pytest.raises(ValueError):
        cover([])


@given(
    st.lists(
        st.one_of(st.integers(-99, 999).map(str), st.sampled_from(["a", "b", "[3-9)", "130**", "2010s", "<4"])),
        min_size=1,
    )
)
def test_cover_covers_its_parts(parts):
    whole = cover(parts)
    assert all(whole.overlaps(parse(part)) for part in parts)
    assert all(whole.covers(part) for part in parts if isinstance(parse(part), Exact))


@given(
    st.one_of(
        st.lists(st.one_of(st.none(), st.floats(allow_infinity=False)), min_size=1),
        st.lists(st.one_of(st.none(), st.integers(-(2**60), 2**60)), min_size=1),
        st.lists(st.booleans(), min_size=1),
        st.lists(st.dates(), min_size=1),
        st.lists(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)), min_size=1),
        st.lists(st.text(), min_size=1),
    )
)
def test_text_of_one_and_of_many_agree(values):
    series = pl.Series("x", values)
    assert texts(series) == [plain(v) for v in values]
    frame = series.to_frame()
    assert frame.select(text_expression("x", series.dtype))["x"].to_list() == texts(values)


def test_text_of_fractions_of_seconds_agrees():
    values = [datetime(2000, 1, 1, 0, 0, 0, micro) for micro in (1000, 120000, 1, 123456)]
    assert texts(pl.Series(values)) == [plain(v) for v in values]


def test_text_of_small_and_large_numbers_agrees():
    values = [1e-7, 1e20, 1.5e16, 5e-324, 1e-5, 0.1 + 0.2, -0.0, 1e15, 123456.789]
    assert texts(pl.Series(values)) == [plain(v) for v in values]
    short = np.array([0.1, 30.0, 1.5], dtype=np.float32)
    assert texts(pl.Series(short)) == ["0.1", "30", "1.5"] == [plain(v) for v in short]


def test_text_of_other_types():
    assert texts(pl.Series(["1.50", "2.00"]).cast(pl.Decimal(10, 2))) == ["1.5", "2"]
    assert texts(pl.Series(["a", "b"], dtype=pl.Categorical)) == ["a", "b"]
    assert texts(pl.Series([1.5, 3.0]).to_numpy()) == ["1.5", "3"]
    assert plain(object) == str(object)
