"""Labels that a generalisation found, given to new records; conditions and draws that choose records."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import ParameterError, UnknownName
from celosia.methods.bases.conditions import check_one_way, draw_records, records_where
from celosia.methods.bases.replay_labels import by_class, by_level
from celosia.streams import Stream
from celosia.table.derive import with_record_ids


def table(columns, **schema):
    return celosia.read(pl.DataFrame(columns), celosia.Schema.of(**schema))


def test_labels_by_level_and_who_has_none():
    data = table({"age": [31, 35, 99, None], "job": ["a", "b", "c", "d"], "zip": ["1", "2", "3", "4"]})
    labels = {"age": {"31": "[30-40)", "52": "[50-60)"}, "job": None, "zip": {"1": "*", "2": "*"}}
    made, lost = by_level(data, labels)
    # 35 is new, but a cell that was found covers it; nothing covers 99; the top takes everybody, a missing one too
    assert made.polars()["age"].to_list() == ["[30-40)", "[30-40)", None, None]
    assert made.polars()["job"].to_list() == ["a", "b", "c", "d"]
    assert made.polars()["zip"].to_list() == ["*"] * 4
    assert lost.tolist() == [False, False, True, False]
    same, nobody = by_level(data, {"job": None})
    assert same is data
    assert not nobody.any()


def test_a_missing_value_joins_the_top_only():
    data = table({"v": ["a", None]})
    assert by_level(data, {"v": {"a": "{a, b}", "b": "{a, b}"}})[0].polars()["v"].to_list() == ["{a, b}", "{a, b}"]
    made, lost = by_level(data, {"v": {"a": "A", "b": "B"}})
    assert made.polars()["v"].to_list() == ["A", None]
    assert not lost.any()


RECORDED = {
    "columns": ["age", "zip"],
    "labels": {"age": [None, {"30": "[30-40)", "35": "[30-40)"}], "zip": [None, {"1": "*", "2": "*"}]},
    "classes": [[[0, 1], ["30", "*"]], [[1, 0], ["[30-40)", "1"]], [[1, 1], ["[30-40)", "*"]]],
}


def test_a_record_joins_the_first_class_that_can_stand_for_it():
    data = table({"age": [30, 35, 36, 35, 50], "zip": ["2", "1", "1", "2", "1"]})
    made, lost = by_class(data, RECORDED)
    # 30 with any zip; 35 and the new 36 in zip 1; 35 in zip 2 in the coarsest class; 50 nowhere
    assert made.polars().rows()[:4] == [("30", "*"), ("[30-40)", "1"), ("[30-40)", "1"), ("[30-40)", "*")]
    assert made.polars().rows()[4] == (None, None)
    assert lost.tolist() == [False, False, False, False, True]


def test_an_empty_table_and_no_class():
    data = table({"age": [30, 35], "zip": ["2", "1"]})
    made, lost = by_class(data, {**RECORDED, "classes": []})
    assert lost.tolist() == [True, True]
    assert made.polars().null_count().row(0) == (2, 2)
    assert len(by_class(celosia.read(data.polars().head(0)), RECORDED)[1]) == 0


PEOPLE = {"age": [30, None, 80, 7], "sex": ["f", "m", None, "m"], "old": [False, True, True, None]}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("age > 20", [True, False, True, False]),
        ("NOT age > 20", [False, False, False, True]),  # unknown is not met, its contrary neither
        ("age IS NULL", [False, True, False, False]),
        ("old", [False, True, True, False]),
        ("sex IN ('f', 'x') OR age BETWEEN 5 AND 10", [True, False, False, True]),
        ("age = MAX(age)", [False, False, True, False]),
    ],
)
def test_conditions_by_hand(engine, where, expected):
    data = celosia.read(pl.DataFrame(PEOPLE), engine=engine)
    assert records_where(data, where, "subset").tolist() == expected


@pytest.mark.parametrize(
    ("where", "kind", "told"),
    [
        ("aged > 3", UnknownName, r"no column named 'aged'. Did you mean 'age'\? .*\(subset: where\)"),
        ("age >", ParameterError, "subset: where is not a condition that can be read; write it as in SQL"),
        ("age > 'secret'", ParameterError, "subset: where cannot be evaluated: compare numbers with numbers"),
        ("age + 1", ParameterError, "subset: where must be true or false for each record, such as age > 80"),
    ],
)
def test_a_condition_that_fails_is_told_without_its_values(where, kind, told):
    with pytest.raises(kind, match=told) as caught:
        records_where(table(PEOPLE), where, "subset")
    assert "secret" not in str(caught.value)


def draw(data, seed=1, **options):
    given = {"share": None, "size": None, "by": None, "within": None, **options}
    return draw_records(data, Stream(seed), "sample", **given)


def test_a_size_of_all_or_of_one():
    data = table({"a": [1, 2, 3]})
    mask, chance = draw(data, size=3)
    assert mask.all()
    assert chance == 1.0
    mask, chance = draw(data, size=1)
    assert mask.sum() == 1
    assert chance == pytest.approx(1 / 3)
    with pytest.raises(ParameterError, match="sample: size must be at most the 3 units there are, got 4"):
        draw(data, size=4)


def test_a_person_is_drawn_with_all_rows_and_by_goes_first():
    data = table({"p": [1, 1, 1, 2, None, None], "h": [1, 1, 2, 2, 3, 3]}, person="p")
    for seed in range(12):
        mask, chance = draw(data, seed, size=2)
        assert chance == 0.5  # of two persons and two records without one
        assert mask[:3].all() or not mask[:3].any()
        homes, _ = draw(data, seed, size=1, by="h")
        assert homes.reshape(3, 2).sum() == 2
        assert homes.reshape(3, 2).all(axis=1).sum() == 1
    alone = {tuple(draw(data, seed, size=1)[0][4:].tolist()) for seed in range(40)}
    assert {(True, False), (False, True)} <= alone  # records without a person are persons of their own


@pytest.mark.parametrize("share", [0.0001, 0.1, 1 / 3, 0.5, 0.999, 1.0])
def test_a_share_of_each_stratum_is_rounded_to_the_nearest(share):
    sizes = {"a": 1, "b": 2, "c": 7, None: 10}
    data = table({"s": [name for name, n in sizes.items() for _ in range(n)]})
    mask, _ = draw(data, share=share, within="s")
    kept = data.polars().filter(pl.Series(mask))["s"].to_list()
    assert {name: kept.count(name) for name in sizes} == {n: math.floor(share * m + 0.5) for n, m in sizes.items()}


def test_a_draw_follows_the_records_and_not_their_order():
    data = with_record_ids(table({"a": range(50)}))
    mask, _ = draw(data, share=0.4)
    part = data.take(data.ids()[10:30])
    assert np.array_equal(draw(part, share=0.4)[0], mask[10:30])
    assert not np.array_equal(draw(data, seed=2, share=0.4)[0], mask)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"a": None, "b": None}, "part: give one of a, b; got none"),
        ({"a": 1, "b": 0}, "part: give one of a, b; got a, b"),
    ],
)
def test_one_way_and_no_other(given, told):
    with pytest.raises(ParameterError, match=told):
        check_one_way("part", **given)
    check_one_way("part", a=None, b=0)
