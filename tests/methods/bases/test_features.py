"""Columns of any kind as numbers and back; dependent columns by stratum, within bounds and constraints."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError, RequirementError, UnknownName
from celosia.methods.bases import features, regression
from celosia.methods.bases.suppression_method import _SuppressingMethod
from celosia.methods.synthetic.linear_constraints import keep_constraints


def table(columns, **schema):
    return celosia.read(pl.DataFrame(columns), celosia.Schema.of(**schema))


DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(6)]
KINDS = {
    "text": pl.Series(["b", "a", None, "b", "a", "b"]),
    "label": pl.Series(["b", "a", None, "b", "a", "b"], dtype=pl.Categorical),
    "truth": pl.Series([True, False, None, True, True, False]),
    "small": pl.Series([1, 255, None, 0, 7, 7], dtype=pl.UInt8),
    "real": pl.Series([0.5, -1.25, None, 3.0, 4.0, 5.0]),
    "money": pl.Series([0.5, 1.25, None, 3.0, 4.0, 5.0]).cast(pl.Decimal(10, 2)),
    "day": pl.Series([*DAYS[:5], None]),
    "moment": pl.Series([dt.datetime(2020, 1, 1, i, 30, 0, 5) for i in range(5)] + [None]).dt.replace_time_zone("UTC"),
    "hour": pl.Series([dt.time(i, 1) for i in range(5)] + [None]),
    "span": pl.Series([dt.timedelta(minutes=i) for i in range(5)] + [None]),
    "empty": pl.Series([None] * 6, dtype=pl.Float64),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_column_comes_back_from_its_numbers(name):
    data = celosia.read(pl.DataFrame({name: KINDS[name]}))
    model = features.feature("who", data, name, "none")
    back = features.decode(data, name, model.values, model)
    assert back.dtype == KINDS[name].dtype
    assert back.to_list() == KINDS[name].to_list()
    assert model.nominal is (name in ("text", "label", "truth"))


def test_numbers_that_are_categories_are_so():
    data = table({"code": [3, 1, None, 3]}, kinds={"code": "nominal"})
    model = features.feature("who", data, "code", "all")
    assert model.nominal
    assert features.decode(data, "code", model.values, model).to_list() == [3, 1, None, 3]


@pytest.mark.parametrize(
    ("values", "auto"),
    [
        ([1.0, 2.0, 3.0, 4.0], True),
        ([1.0, 1.0, 2.0, 2.0], False),  # half of them differ, not more
        ([1.0, 1.0, 2.0, 3.0], True),
        (DAYS, True),
        ([DAYS[0]] * 6, False),
    ],
)
def test_mostly_different_numbers_are_smoothed(values, auto):
    data = table({"v": values})
    found = {way: features.feature("who", data, "v", way).smooth for way in ("auto", "all", "none")}
    assert found == {"auto": auto, "all": True, "none": False}


@pytest.mark.parametrize(
    ("categories", "records", "told"),
    [
        (20, 20, ""),  # a small file may have as many
        (21, 21, "has 21 categories in 21 records: its values would be repeated as they are"),
        (21, 42, ""),
        (21, 41, "has 21 categories in 41 records"),
        (2001, 4002, "has 2001 categories, at most 2000 can be modelled"),
    ],
)
def test_words_that_nobody_shares_are_refused(categories, records, told):
    data = table({"v": [f"secret{i % categories}" for i in range(records)]})
    if not told:
        assert len(features.feature("who", data, "v", "auto").values) == records
        return
    with pytest.raises(
        DataError, match=f"who: column 'v' {told}.*Declare it as an identifier, generalise it"
    ) as caught:
        features.feature("who", data, "v", "auto")
    assert "secret" not in str(caught.value)


def test_order_of_making():
    assert features.visit_order("who", ["a", "b", "c"], ["c"]) == [2, 0, 1]
    assert features.visit_order("who", ["a", "b", "c"], []) == [0, 1, 2]
    with pytest.raises(ParameterError, match="who: order names the column 'd', which is not made"):
        features.visit_order("who", ["a"], ["d"])
    with pytest.raises(ParameterError, match="who: order names the column 'a' twice"):
        features.visit_order("who", ["a", "b"], ["a", "b", "a"])


def test_ids_of_anybody_are_nothing_that_new_people_have():
    columns = {"name": ["x"], "pid": [1], "hh": [2], "age": [3]}
    data = table(columns, identifiers=["name"], person="pid", household="hh")
    assert features.need_publishable("who", data) == ["age"]
    with pytest.raises(DataError, match="who: the table has no column but identifiers"):
        features.need_publishable("who", data.drop(["age"]))


@pytest.mark.parametrize(
    ("dependent", "independent", "within", "told"),
    [
        (["y"], ["x", "y"], [], "column 'y' is dependent and independent; name it on one side"),
        (["y"], ["x"], ["y"], "column 'y' parts the records and is dependent; name it on one side"),
        (["y", "y"], ["x"], [], "column 'y' is named twice"),
        (["y"], ["t"], [], "column 't' holds text or dates, but numbers are needed"),
        (["gap"], ["x"], [], "1 records have missing values in these columns; remove or impute them first"),
    ],
)
def test_sides_of_a_regression(dependent, independent, within, told):
    data = table({"x": [1.0, 2.0], "y": [3.0, 4.0], "t": ["u", "v"], "gap": [1.0, None]})
    with pytest.raises((DataError, ParameterError), match=f"who: {told}"):
        regression.split_columns("who", data, dependent, independent, within)
    with pytest.raises(DataError, match="who: the table has no records"):
        regression.split_columns("who", celosia.read(data.polars().head(0)), ["y"], ["x"], [])


def test_each_stratum_is_made_from_its_own_records():
    data = table({"x": [1.0, 2, 3, 4, 5], "y": [10.0, 20, 30, 40, 50], "s": ["a", "b", "a", "b", "a"]})
    split = regression.split_columns("who", data, ["y"], ["x"], ["s"])
    seen = {}

    def make(s, x, y, rows):
        seen[s] = rows.tolist()
        assert x[:, 0].tolist() == [data.polars()["x"][r] for r in seen[s]]
        return np.full_like(y, y.mean())

    assert regression.by_stratum(split, make)[:, 0].tolist() == [30.0, 30.0, 30.0, 30.0, 30.0]
    assert seen == {0: [0, 2, 4], 1: [1, 3]}


def test_what_is_put_back_is_whole_and_within_bounds_where_asked():
    data = table({"i": [1, 2, 3, 4], "f": [0.0, 0.0, 0.0, 0.0]}, bounds={"i": (1, 4), "f": (0, 1)})
    numbers = np.array([[0.4, -0.25], [2.5, 0.5], [5.0, 1.25], [3.4, 2.5]])
    plain, same, outside = regression.replace_dependent(data, ["i", "f"], numbers, whole=False)
    assert np.array_equal(same, numbers)
    assert plain.polars()["i"].to_list() == [0.4, 2.5, 5.0, 3.4]
    assert outside == {"i": 2, "f": 3}
    # reflected at the bounds: 0.4 at 1 is 1.6, 5 at 4 is 3; -0.25 is 0.25, 1.25 is 0.75, 2.5 is -0.5 is 0.5
    made, moved, outside = regression.replace_dependent(data, ["i", "f"], numbers, whole=True)
    assert made.polars()["i"].to_list() == [2, 2, 3, 3]
    assert made.polars()["f"].to_list() == pytest.approx([0.25, 0.5, 0.75, 0.5])
    assert moved[:, 0].tolist() == [2, 2, 3, 3]
    assert outside == {}
    assert numbers[0, 0] == 0.4  # the input stays


def test_constraints_move_a_record_to_the_nearest_point_where_they_hold():
    # total = a + b with both free and of one spread: each takes half of what is lacking
    data = table({"a": [1.0, 2.0, 3.0], "b": [3.0, 2.0, 1.0], "total": [4.0, 6.0, 4.0]})
    made, moved = keep_constraints("who", data, ["a", "b"], ["a + b = total"], whole=False)
    assert moved == 1
    assert made.polars().rows() == [(1.0, 3.0, 4.0), pytest.approx((3.0, 3.0, 6.0)), (3.0, 1.0, 4.0)]
    only, moved = keep_constraints("who", data, ["a"], ["a + b = total"], whole=False)
    assert only.polars()["a"].to_list() == pytest.approx([1.0, 4.0, 3.0])
    least, moved = keep_constraints("who", data, ["a"], ["a >= 2", "a <= 2.5"], whole=False)
    assert least.polars()["a"].to_list() == pytest.approx([2.0, 2.0, 2.5])
    assert moved == 2


def test_constraints_that_cannot_be_kept():
    data = table({"a": [1.0, 2.0], "b": [3.0, None], "c": ["u", "v"]})
    with pytest.raises(RequirementError, match="who: no constraint names a dependent column"):
        keep_constraints("who", data, ["a"], ["b >= 0"], whole=False)
    with pytest.raises(DataError, match=r"who: 1 records have missing values .* a constraint needs all of them"):
        keep_constraints("who", data, ["a"], ["a <= b"], whole=False)  # a became no number there
    with pytest.raises(UnknownName, match="no column named 'c'"):
        keep_constraints("who", data, ["a"], ["a <= c"], whole=False)


@pytest.mark.parametrize(("drop", "blank"), [(False, False), (False, True), (True, False), (True, True)])
def test_suppressing_methods_declare_what_they_do(drop, blank):
    data = table({"q": [1, 2], "s": ["x", "y"]}, quasi=["q"], sensitive=["s"])
    method = celosia.methods.SuppressRecords(require=["k-anonymity(k=2)"], drop=drop, blank=blank)
    assert isinstance(method, _SuppressingMethod)
    assert method.rows == ("subset" if drop else "same")
    assert method.overwrites(data.schema) == (("q", "s") if blank else ("q",))
    assert [model.name for model in method.requirements()] == ["k-anonymity"]
    made = method.suppress_records(data, np.array([True, False])).polars()
    expected = [(2, "y")] if drop else [("*", None if blank else "x"), ("2", "y")]
    assert made.rows() == expected
