"""Units of exact sums: powers of two, of which no clamped value has too many."""

from __future__ import annotations

import math

import pytest

from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.sql.after import After, Cell
from celosia.gateway.sql.build import build
from celosia.gateway.sql.emit import aggregate
from celosia.gateway.sql.parse import Refused, parse
from celosia.gateway.sql.plan import FINE_UNITS, LARGEST_UNITS, square_of, sum_of
from celosia.gateway.sql.values import Value, combine


def value(low, high, whole=False):
    return Value("x", "number", low=low, high=high, whole=whole)


@pytest.mark.parametrize(
    ("low", "high", "unit"),
    [
        (0.0, float(FINE_UNITS), 1.0),  # one unit of 1 exactly
        (0.0, FINE_UNITS + 1.0, 2.0),  # a hair more needs the next power
        (0.0, 3.0 * FINE_UNITS, 4.0),
        (0.0, FINE_UNITS / 2, 0.5),
        (0.0, FINE_UNITS / 1000, 2.0**-9),  # 1/512 is the power at or above 1/1000
        (-1.0, 1.0, 2 / FINE_UNITS),  # the width is 2
        (5.0, 5.0, 1.0),  # nothing to tell apart: any unit will do
    ],
)
def test_the_unit_is_the_power_of_two_at_or_above_the_finest(low, high, unit):
    number = sum_of(value(low, high), centred=True)
    assert number.unit == unit
    assert number.high - number.low <= FINE_UNITS + 1
    assert number.centre + number.unit * number.low == pytest.approx(low, abs=unit)
    assert number.centre + number.unit * number.high == pytest.approx(high, abs=unit)


def test_whole_numbers_have_a_unit_of_one_while_they_fit():
    assert sum_of(value(0, LARGEST_UNITS, whole=True), centred=True).unit == 1.0
    assert sum_of(value(0, LARGEST_UNITS + 1, whole=True), centred=True).unit == 2.0
    assert sum_of(value(-(2**40), 2**33, whole=True), centred=False).unit == 2.0**9


def test_squares_have_the_unit_of_their_largest():
    # 100² / 2^30 lies between 2^-17 and 2^-16
    number = square_of(value(-100.0, 50.0), 0.0)
    assert number.unit == 2.0**-16
    assert number.high == 100**2 * 2**16
    assert square_of(value(3.0, 3.0), 3.0).high == 1
    assert square_of(value(3.0, 3.0), 3.0).unit == 1.0
    assert math.log2(square_of(value(0.0, 0.37), 0.1).unit).is_integer()


@pytest.mark.parametrize(("dividend", "ends"), [((0, 100), (0, 6)), ((-9, 100), (-6, 6)), ((-9, 0), (-6, 0))])
def test_a_remainder_is_less_than_its_divisor(dividend, ends):
    seven = Value("7", "number", 7, 7, whole=True, literal=7.0)
    found = combine(Value("x", "number", *dividend, whole=True), "%", seven, "duckdb")
    assert (found.low, found.high) == ends


@pytest.mark.parametrize("low", [-3, -1, 1, 3])
def test_a_whole_number_is_summed_from_its_centre(low):
    """The middle between the bounds is taken off in the database, whatever it is."""
    declared = {"n": {"type": "integer", "bounds": [low - 2, low + 2]}}
    facts = DatasetFacts.of({"name": "d", "epsilon": 1, "tables": {"t": {"columns": declared}}})
    plan = build("SELECT AVG(n) AS a FROM t", facts, "duckdb", {"t": "t"})
    assert f" - CAST({low if low > 0 else f'({low})'} AS BIGINT))" in aggregate(plan, "duckdb")


def test_what_is_ordered_and_chosen_after_the_noise_counts_as_work():
    facts = DatasetFacts.of({"name": "d", "epsilon": 1, "tables": {"t": {"columns": {"b": {"type": "boolean"}}}}})

    def work(more: str) -> int:
        return build(f"SELECT b, COUNT(*) AS n FROM t GROUP BY b{more}", facts, "duckdb", {"t": "t"}).work

    assert work("") == (20 + 3) + (20 + 3 + 2)  # a key, and a number that reads one
    assert work("") < work(" ORDER BY n") < work(" ORDER BY n + 1")
    assert work("") < work(" HAVING COUNT(*) > 3")


@pytest.mark.parametrize(("number", "moved"), [(0.0, 0.5), (None, 0.5), (2.0, 2.5)])
def test_a_number_is_moved_from_where_it_is(number, moved):
    assert Cell(("k",), (7.0, number), (1.0, 1.0), (1.0, 1.0)).shift(1, 0.5).numbers == (7.0, moved)


def test_rows_of_a_person_are_chosen_before_keys_are_computed():
    """A key that is missing for all rows of a person would otherwise save the time of choosing among them."""
    tables = {"t": {"person": "who", "rows": 2, "columns": {"who": {"type": "integer"}, "b": {"type": "boolean"}}}}
    facts = DatasetFacts.of({"name": "d", "epsilon": 1, "tables": tables})
    plan = build("SELECT b, COUNT(*) AS n FROM t GROUP BY b", facts, "duckdb", {"t": "t"})
    (key,) = plan.keys
    chosen = aggregate(plan, "duckdb").partition("ROW_NUMBER()")[2]
    assert f"{key.sql} AS g0" in chosen.partition("<= 2")[2]
    assert "CASE WHEN g0 IS NOT NULL AND p IS NOT NULL THEN g0 END AS g0" in aggregate(plan, "duckdb")


def test_a_number_is_brought_back_to_its_unit_and_centre():
    scaled = After("scale", (After("number", (), (0,)),), (2.0, 3.0))
    assert scaled.value(Cell((), (5.0,), (1.0,), (1.0,))) == 2 * 5 + 3


def test_a_question_of_fifteen_hundred_words_is_read_and_no_longer_one():
    def words(more: int) -> str:
        return f"SELECT COUNT(*) FROM t WHERE NOT x IN ({'1, ' * more}1)"  # 14 and 2 for each more

    assert parse(words(743)).key == "select"
    with pytest.raises(Refused, match="1500"):
        parse(words(744))


def test_a_distance_whose_sign_is_open_may_be_nothing():
    distance = After("abs", (After("number", (), (0,)),))
    for number, ends in ((0.1, (0.0, 0.6)), (2.0, (1.5, 2.5)), (-2.0, (1.5, 2.5))):
        assert distance.interval(Cell((), (number,), (1.0,), (0.5,))) == pytest.approx(ends)


def test_rounding_to_units_is_small_beside_the_noise_of_a_long_table():
    """300 000 equal values chosen for the largest rounding error move the sum by less than one at a budget of 100."""
    number = sum_of(value(0.0, 1.0), centred=False)
    assert 300_000 * number.unit / 2 < 0.01
