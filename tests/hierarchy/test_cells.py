"""Cells as sets of values: what two of them share, what a cover holds, how many values there are, how they are read."""

from __future__ import annotations

import math
from datetime import date, timedelta
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.hierarchy.cells import Everything, Exact, Interval, Mask, OneOf, number
from celosia.hierarchy.values import cover, parse

NUMBERS = [f"{n / 2:g}" for n in range(-6, 28)]
CODES = [f"{n:02}" for n in range(100)] + ["ab", "ac", "bc", "1c", "3c", "a1"]
DAYS = [(date(2018, 1, 1) + timedelta(days=30 * n)).isoformat() for n in range(30)] + ["2018-03-31", "2018-03-31T10:30"]
WORDS = ["Adm", "Craft", "Exec, senior", "Exec", "Sales", " Sales", "a, b", ""]
EVERY_VALUE = list(dict.fromkeys([*NUMBERS, *CODES, *DAYS, *WORDS]))
CELLS = [
    "*", "3", "3.0", "-1", "Craft", "2018-03-31", "[3-5)", "[5-9]", "(5, 9)", "(3, 5]", "<3", "≤3", ">9", "≥9", "(-2, -1]",
    "[4, 4]", "1*", "*1", "3*", "a*", "*c", "2018-0****", "2018-03-3*", "{3, 9}", "{Craft, Adm}", '{"a, b", Sales}', '{" Sales", x}',
    '{"", 4}', "{2018-03-31, 2019-03-31}", "2018-03", "2018-Q1", "2010s", "[2018-03-01 .. 2018-03-31]", "[2018-04-30 .. 2019-01-01)",
    "[Adm .. Craft]", "(Adm .. Sales)",
]  # fmt: skip


def values_of(cell):
    return {value for value in EVERY_VALUE if cell.covers(value)}


def is_open(mask, cell):
    """Whether a mask has letters, or is compared with words: what stands behind its stars may be anything then."""
    return isinstance(mask, Mask) and isinstance(cell, Interval) and (cell.textual or mask.pattern not in ("1*", "3*"))


@pytest.mark.parametrize("first", CELLS)
def test_cells_meet_where_a_value_lies_in_both(first):
    a = parse(first)
    for second in CELLS:
        b = parse(second)
        both = values_of(a) & values_of(b)
        assert a.overlaps(b) == b.overlaps(a), second
        assert a.overlaps(b) == bool(both or is_open(a, b) or is_open(b, a)), (second, both)


@given(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_a_cover_holds_all_values_of_its_cells_in_any_order(cells):
    whole, turned = cover(cells), cover(cells[::-1])
    inside = set().union(*(values_of(parse(cell)) for cell in cells))
    assert inside <= values_of(whole)
    assert values_of(whole) == values_of(turned)
    assert cover([whole, *cells]) in (whole, Everything()), "what is covered already adds nothing"


@pytest.mark.parametrize(
    ("cells", "whole"),
    [
        (["[3-5)", "5"], Interval(3.0, 5.0)),  # the closed end wins
        (["(3, 5)", "[3-4)"], Interval(3.0, 5.0, high_closed=False)),
        (["≤3", ">9"], Interval(-math.inf, math.inf, low_closed=False, high_closed=False)),
        (["2018-03-31T10:30", "2018-01"], Interval("2018-01-01", "2018-03-31")),
        (["12", "1*"], Mask("1*")),
        (["1*", "*1"], Everything()),
        (["1*", "1**"], Everything()),
        (["Craft", "{Adm, Craft}"], OneOf(("Craft", "Adm"))),
        (["a, b", "c"], OneOf(("a, b", "c"))),
        (["3", "[a .. b]"], Everything()),
    ],
)
def test_covers_by_hand(cells, whole):
    assert cover(cells) == whole


@given(st.lists(st.text('ab ,"*{}5', max_size=4), min_size=1, max_size=4).map(tuple))
@settings(max_examples=200, deadline=None)
def test_a_set_is_read_as_it_was_written(members):
    cell = OneOf(members)
    assert parse(str(cell)) == cell
    assert all(parse(str(cell)).covers(member) for member in members)


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("{a,b}", ("a", "b")),
        ("{ a , b }", ("a", "b")),
        ("{a,}", ("a", "")),
        ('{"a, b", c}', ("a, b", "c")),
        ('{a "b", c}', ('a "b"', "c")),
        ('{"a" b, c}', ('"a" b', "c")),
        ('{"say ""x""", c}', ('say "x"', "c")),
        ('{"open, c}', ('"open', "c")),
    ],
)
def test_sets_that_people_write(text, members):
    assert parse(text) == OneOf(members)


@pytest.mark.parametrize(("low", "high"), [(3.0, 3.0), (3.0, 4.0), (2.5, 6.0), (-3.5, -0.5), (2.2, 2.8), (-1.0, 2.5)])
@pytest.mark.parametrize("closed", list(product([True, False], repeat=2)))
def test_sizes_are_the_whole_numbers_inside(low, high, closed):
    cell = Interval(low, high, *closed)
    assert cell.size == sum(cell.covers(whole) for whole in range(-20, 20))
    assert cell.width == high - low


@pytest.mark.parametrize("text", ["2020-02", "2019-Q4", "2016", "1990s", "[2020-02-27 .. 2020-03-02)", "0987-06"])
def test_sizes_of_periods_are_their_days(text):
    cell = parse(text, "date")
    first = date(970, 1, 1) if text.startswith("0") else date(1985, 1, 1)
    days = [first + timedelta(days=n) for n in range(365 * 40)]
    assert cell.size == sum(cell.covers(day) for day in days)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("*", math.inf),
        ("x", 1),
        ("1**", 100),
        ("{a, b, c}", 3),
        ("<5", math.inf),
        ("[a .. b]", math.inf),
        ("[2018-02-30 .. 2018-99-99]", math.inf),
    ],
)
def test_sizes_by_hand(text, size):
    assert parse(text).size == size


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "{}", "<", "<x", "<=50K", "[30-)", "[30", "5-3", "[5, 3]", "[b .. a]", "(a, b)", "30-40-50", "1*3", "*1*", "-", "--",
        "2018-13", "2018-Q5", "2015s", "18-05", "12_3", "5th-6th", "in [3, 5]",
    ],
)  # fmt: skip
def test_what_fits_no_notation_is_text(text):
    cell = parse(text)
    assert cell == Exact(text), "with its blanks"
    assert str(cell) == text
    assert cell.covers(text)


@pytest.mark.parametrize("text", ["2018-05", "0123-05", "0990s", "0001-Q4"])
def test_a_period_holds_its_first_and_last_day_and_its_own_text(text):
    cell = parse(text)
    assert cell.covers(cell.first)
    assert cell.covers(f"{cell.last}T23:59:59")
    assert cell.covers(text)
    for day in (date.fromisoformat(cell.first) - timedelta(days=1) if cell.first > "0001-01-01" else None, None):
        assert not cell.covers(day)
    assert not cell.covers(date.fromisoformat(cell.last) + timedelta(days=1))


def test_no_calendar_has_a_year_0():
    assert parse("0000-01") == Interval(0.0, 1.0)
    assert parse("0000", "date") == Exact("0000")


def test_codes_with_a_low_line_are_no_numbers():
    assert number("12_3") is None
    assert not Exact("123").covers("12_3")
    assert not parse("[100-200)").covers("12_3")


@pytest.mark.parametrize("cell", [parse(text) for text in CELLS if text != "*"], ids=str)
def test_a_missing_value_lies_in_no_cell_but_the_star(cell):
    assert not cell.covers(None)
    assert not cell.covers(float("nan"))
    assert Everything().covers(None)
