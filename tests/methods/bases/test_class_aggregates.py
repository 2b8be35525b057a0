"""The value of a class in place of its records' own: what is written is read back as what it stands for."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.hierarchy import parse
from celosia.hierarchy.text import texts
from celosia.methods.bases.class_aggregates import aggregate_classes

CLASSES = np.array([0, 0, 0, 1, 1, 2])
KEPT = np.array([True, True, True, True, True, False])


def of_classes(values, how):
    table = celosia.read(pl.DataFrame({"x": values}), celosia.Schema.of(quasi=["x"]))
    return aggregate_classes("test", table, "x", how, CLASSES, KEPT).to_list()


RANGES = {
    "whole": ([9, 30, 10, 5, None, 7], "[8-32)", "5"),
    "negative": ([-9, -30, -10, 5, 5, 7], "[-30, 0)", "5"),
    "decimal": ([9.5, 30.0, 10.0, 5.0, 5.0, 7.0], "[8-32)", "5"),
    "endless": ([9.5, float("-inf"), float("nan"), 5.0, float("nan"), 7.0], "<9.8", "5"),
    "exact": ([Decimal("1.50"), Decimal("0.25"), Decimal(1), Decimal(2), Decimal(2), None], "[0.2-2)", "2"),
    "small": ([1e-7, 2.5e-9, 1e20, 0.0, -0.0, 1.0], "[2e-9-1.1e+20)", "0"),
    "days": (
        [date(2020, 3, 1), date(2019, 12, 24), None, date(2020, 1, 1), date(2020, 1, 1), None],
        "[2019-01-01 .. 2021-01-01)",
        "2020-01-01",
    ),
    "times": (
        [datetime(2020, 3, 1, 12, 30), datetime(2020, 3, 1), None, datetime(2020, 1, 1), None, None],
        "[2020-03-01 .. 2021-01-01)",
        "2020-01-01",
    ),
    "hours": ([time(9), time(12, 30), time(10), time(1), time(1), None], "[09:00:00 .. 13:00:00)", "01:00:00"),
    "words": (["Bo", "Ann", "Al-Amin", "x", None, "y"], "[A .. B…)", "x"),
    "truths": ([True, False, True, True, True, None], "[false .. true]", "true"),
    "blanks": ([" b", "a", "", "x", "x", "y"], '{"", " b", a}', "x"),
    "dots": (["a ..", "b", "c", "x", "x", "y"], "{a .., b, c}", "x"),
    "lines": (["a", "b\nc", "d\ne", "x", "x", "y"], "[0 .. d…)", "x"),
}


@pytest.mark.parametrize("kind", RANGES)
def test_a_range_stands_for_the_values_of_its_class(kind):
    values, several, one = RANGES[kind]
    assert of_classes(values, "interval") == [several] * 3 + [one] * 2 + [None]


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("how", ["interval", "set"])
def test_what_is_written_is_read_back(kind, how):
    values = RANGES[kind][0]
    cells = of_classes(values, how)
    for cell, value in zip(cells[:5], texts(pl.Series(values))[:5], strict=True):
        assert value is None or parse(cell).covers(value), (cell, value)
    assert parse(cells[0]).size > 1 or parse(cells[0]).width > 0
    assert not parse(cells[0]).covers("zzz")


def test_categories_are_compared_by_their_characters():
    """An Enum has an order of its own, which no reader of the range knows."""
    size = pl.Series(["small", "large", "medium", "small", "small", None], dtype=pl.Enum(["small", "medium", "large"]))
    assert of_classes(size, "interval")[0] == "[l .. s…]"
    assert of_classes(size, "set")[0] == "{small, medium, large}"


def test_the_members_of_a_set_stand_in_their_order():
    assert of_classes([10, 9, 100, 2, 2, 1], "set") == ["{9, 10, 100}"] * 3 + ["2"] * 2 + [None]
    assert of_classes([2.5, 2.0, float("nan"), None, None, 1.0], "set") == ["{2, 2.5}"] * 3 + [None] * 3


def test_numbers_that_are_none_have_no_part_in_a_mean():
    assert of_classes([1.0, 3.0, float("nan"), 5.0, 7.0, 1.0], "mean") == [2.0] * 3 + [6.0] * 2 + [None]
    assert of_classes([1.0, 3.0, float("nan"), 5.0, 7.0, 1.0], "median") == [2.0] * 3 + [6.0] * 2 + [None]
    assert of_classes([3.0, float("nan"), float("nan"), 5.0, 5.0, 1.0], "mode") == [3.0] * 3 + [5.0] * 2 + [None]
