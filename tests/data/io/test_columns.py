"""How columns of texts are read: cell by cell against Python's own reading, with a head that shows only some of them."""

from __future__ import annotations

import datetime as dt
import re

import numpy as np
import polars as pl
import pytest

from celosia.data.io.text.columns import GROUPINGS, expression, grouped_notation, is_mark, pattern, readings_of

POOLS = {
    "integer": ["0", "7", "-12", "40", "123456789012345678"],
    "number": ["1.5", "-.5", "2.", "1e3", "+4", "-0.25E-2", "123456789012345"],
    "truth": ["true", "false"],
    "date": ["2018-05-03", "2020-02-29", "0001-01-01"],
    "moment": ["2018-05-03T10:30:00", "2018-05-03 10:30:00.25"],
    "no date": ["2018-02-30", "0000-01-01", "2018-13-01"],
    "code": ["08001", "-0", "00", "1234567890123456789", "12_3"],
    "word": ["x", "Ana, Eva", "True", "1 2"],
    "mark": ["NA", "?", "-", "ns/nc", "Unknown"],
    "blank": ["", "  "],
    "spaced": [" 7", "8 "],
    "nothing": [None],
}


def read_by_python(text, kind):
    if kind == "integer":
        return int(text)
    if kind == "number":
        return float(text)
    if kind == "truth":
        return {"true": True, "false": False}[text]
    return dt.date.fromisoformat(text) if kind == "date" else dt.datetime.fromisoformat(text)


def fits(text, kind):
    """Whether a cell is of a kind, and nothing of it would be lost."""
    try:
        value = read_by_python(text, kind)
    except (ValueError, KeyError):
        return False
    if kind in ("integer", "number") and "_" in text:
        return False
    bare = text.lstrip("+-")
    if kind == "integer":
        return str(value) == text and abs(value) < 10**18
    if kind == "number":
        return not re.match(r"0\d", bare) and len(bare.split(".")[0].split("e")[0]) <= 15
    return True if kind == "truth" else len(text) == 10 if kind == "date" else len(text) > 10


@pytest.mark.parametrize("seed", range(150))
def test_no_cell_is_lost_and_none_is_read_as_another(seed):
    rng = np.random.default_rng(seed)
    pools = [str(pool) for pool in rng.choice(list(POOLS), rng.integers(1, 4))]
    cells = [POOLS[pool][rng.integers(len(POOLS[pool]))] for pool in rng.choice(pools, rng.integers(1, 9))]
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)})
    shown = int(rng.integers(1, len(cells) + 1))
    reading = readings_of(frame.lazy(), frame.head(shown), ".")["x"]
    made = frame.select(expression("x", reading, "."))["x"]
    assert made.dtype == reading.dtype()
    for cell, value in zip(cells, made.to_list(), strict=True):
        bare = None if cell is None else cell.strip()
        if reading.kind == "text":
            assert value == (None if not cell or (reading.strip and not bare) else bare if reading.strip else cell)
        elif not bare or is_mark(bare):
            assert value is None
        else:
            assert value == read_by_python(bare, reading.kind)
    bare = [cell.strip() for cell in cells if cell and cell.strip() and not is_mark(cell.strip())]
    told = [cell for cell in cells[:shown] if cell and cell.strip() and not is_mark(cell.strip())]
    if told:  # the head shows values: then the kind is the narrowest that all cells have
        kinds = [kind for kind in ("integer", "number", "truth", "date", "moment") if all(fits(c, kind) for c in bare)]
        assert reading.kind == (kinds[0] if kinds else "text"), cells


@pytest.mark.parametrize("grouping", GROUPINGS, ids=str)
def test_numbers_with_signs_of_thousands_are_the_numbers_that_were_written(grouping):
    thousands, mark = grouping
    rng = np.random.default_rng(1)
    numbers = [1234567.5, -1234.25, 0.5, 12.0, *np.round(rng.uniform(-1e6, 1e6, 10), 2).tolist()]
    cells = [f"{n:,}".replace(",", "T").replace(".", mark).replace("T", thousands) for n in numbers]
    frame = pl.DataFrame({"x": cells})
    reading = readings_of(frame.lazy(), frame.head(2), ".")["x"]
    assert reading.grouping == grouping
    assert frame.select(expression("x", reading, "."))["x"].to_list() == numbers


@pytest.mark.parametrize(
    ("cells", "decimal", "separator", "grouping"),
    [
        (["1.234", "7.500"], ".", ";", None),  # thousands or thousandths
        (["1.234", "7.500"], ",", ";", (".", ",")),  # the file writes its other numbers with commas
        (["1.234", "7,5"], ".", ";", (".", ",")),
        (["1,5", "2,75"], ".", ",", None),  # between commas: lists of answers as well
        (["1,5", "2,75"], ".", ";", (".", ",")),
        (["1.234.567"], ".", ";", (".", ",")),
        (["12.34.567"], ".", ";", None),  # no groups of three
        (["0.123.456,5"], ".", ";", None),
        (["1.234,5", "x"], ".", ";", None),
        (["1.234,5", "08001"], ".", ";", None),  # a postcode
    ],
)
def test_a_grouping_is_taken_where_no_doubt_is_left(cells, decimal, separator, grouping):
    assert grouped_notation(pl.Series(cells), decimal, separator=separator) == grouping


@pytest.mark.parametrize(
    ("late", "kind"),
    [
        ("123456789012345678", "integer"),
        ("1234567890123456789", "text"),  # 19 digits: not all of them fit
        ("99999999999999999999", "text"),
        ("123456789012345.5", "number"),
        ("1234567890123456.5", "text"),  # a float would lose the last digit
        ("08001", "text"),
        (" 8 ", "integer"),
        ("", "integer"),
    ],
)
def test_a_late_cell_widens_its_column_only_as_far_as_it_must(late, kind):
    frame = pl.DataFrame({"x": ["7", late]})
    assert readings_of(frame.lazy(), frame.head(1), ".")["x"].kind == kind


@pytest.mark.parametrize("late", ["0000-01-01", "2018-02-30", "2018-05-03T10:30:00", "18-05-03"])
def test_a_late_cell_that_is_no_date_makes_its_column_text(late):
    frame = pl.DataFrame({"x": ["2018-05-03", late]})
    assert readings_of(frame.lazy(), frame.head(1), ".")["x"].kind == "text"


@pytest.mark.parametrize("given", [False, True])
def test_a_decimal_mark_that_was_given_is_the_only_one(given):
    frame = pl.DataFrame({"x": ["1.234,5", "7,5"]})
    reading = readings_of(frame.lazy(), frame, ".", decimal_given=given)["x"]
    assert reading.kind == ("text" if given else "number")


@pytest.mark.parametrize(
    ("text", "fine"), [("3,5", True), ("-,5", True), ("3,", True), ("3.5", False), ("08,5", False), ("1,5e3", True)]
)
def test_numbers_with_a_decimal_comma(text, fine):
    assert bool(re.match(pattern("number", ","), text)) == fine


def test_a_mark_is_missing_among_numbers_and_a_value_among_texts():
    frame = pl.DataFrame({"n": ["5", "NS", "7"], "place": ["ON", "NS", "BC"], "late": ["1", "2", "?"]})
    readings = readings_of(frame.lazy(), frame.head(1), ".")
    made = frame.select(expression(name, reading, ".") for name, reading in readings.items())
    assert made.rows() == [(5, "ON", 1), (None, "NS", 2), (7, "BC", None)]
    assert readings["n"].marks == ("NS",)
    alone = readings_of(frame.lazy(), frame, ".", marks=("?",))
    assert (alone["n"].kind, alone["late"].kind) == ("text", "integer"), "only the marks that are given"
