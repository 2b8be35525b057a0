"""Columns that several releases carry, told by their values whatever their types, and the persons behind records."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.table.edit import map_values
from celosia.table.suppression import suppress_records
from celosia.views.comparing.coverage import column_counts, coverages, log_areas
from celosia.views.comparing.releases import carried_columns, linked_rows, marks
from celosia.views.persons import open_people, paired_persons, released_persons


def read(schema=None, **columns):
    return celosia.read(pl.DataFrame(columns, strict=False), schema)


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([30, 31, None], ["30", "31", None]),
        ([30.0, 2.5, None], ["30", "2.5", None]),
        (pl.Series([0.1, 3.0, None], dtype=pl.Float32), ["0.1", "3", None]),
        ([True, False, None], ["true", "false", None]),
        ([dt.date(2018, 5, 3), dt.date(2019, 1, 1), None], ["2018-05-03", "2019-01-01", None]),
        (pl.Series(["u", "v", None], dtype=pl.Categorical), ["u", "v", None]),
        (pl.Series([30, 31, None], dtype=pl.Int8), [30.0, 31.0, None]),
    ],
)
def test_a_value_is_the_same_as_its_text_in_another_release(values, written):
    one, other = read(x=values, q=[1, 1, 1]), read(x=written, q=[1, 1, 1])
    first, second = np.split(marks([one, other], ["x"]), 2)
    assert first.tolist() == second.tolist()
    assert len(set(first.tolist())) == 3, "and a missing value is one of its own"
    assert carried_columns(one, one, [other], ["q"]) == ["x"]
    assert linked_rows([one, other], ["x"]).ravel().tolist() == [0, 1, 2]


def test_values_that_the_original_does_not_know_are_not_carried():
    original = read(x=list(range(20)), y=list(range(20)), q=[1] * 20)
    # one value of 20 is new in x (data are updated), three in y
    earlier = read(x=[*range(19), 99], y=[*range(17), 97, 98, 99], q=[1] * 20)
    assert carried_columns(original, original, [earlier], ["q"]) == ["x"]
    assert carried_columns(original, original.drop(["x"]), [earlier], ["q"]) == []


def test_a_column_that_a_step_overwrote_is_not_carried():
    original = read(celosia.Schema.of(quasi=["q"]), x=[1.0, 2.0, 3.0], y=["a", "b", "c"], q=[1, 1, 1])
    noisy = celosia.protect(original, "noise(columns=[x])", seed=1)
    assert carried_columns(original, noisy, [], ["q"]) == ["y"]


def test_persons_are_followed_where_their_column_was_not_released():
    original = read(celosia.Schema.of(quasi=["x"], person="who"), who=["b", "a", "b"], x=[1, 2, 3])
    fewer = original.take(np.array([2, 0])).drop(["who"])
    assert sorted(released_persons(original, fewer).tolist()) == [1, 1]  # both are b's
    assert released_persons(original, original).tolist() == [1, 0, 1]
    own, other = paired_persons(original, fewer)
    assert own.tolist() == [1, 0, 1]
    assert other.tolist() == [1, 1]


def test_other_people_are_persons_where_they_have_the_column():
    like = read(celosia.Schema.of(person="who"), who=[1, 1], x=[1, 2])
    assert open_people(pl.DataFrame({"who": [7, 7], "x": [1, 2]}), like).schema.person == "who"
    assert open_people(pl.DataFrame({"x": [1, 2]}), like).schema.person is None
    declared = read(celosia.Schema.of(person="p"), p=[1], who=[2])
    assert open_people(declared, like).schema.person == "p", "as it was declared"


def test_an_emptied_cell_counts_as_a_star_and_a_missing_one_as_what_it_was():
    """Six records: one was missing before, two were emptied, one is suppressed, one is gone."""
    schema = celosia.Schema.of(quasi=["x"])
    original = read(schema, x=["a", "a", "b", "c", None, "c"])
    protected = original.replace({"x": [None, "a", None, "c", None, "c"]})
    protected = suppress_records(protected, np.array([False, True, False, False, False, False]))
    protected = protected.take(np.arange(5))
    (cover,) = coverages(original, protected)
    assert dict(zip(cover.cells, cover.records.tolist(), strict=True)) == {"c": 1, None: 1, "*": 2}
    assert dict(zip(cover.cells, cover.share.tolist(), strict=True)) == pytest.approx({"c": 1 / 3, None: 1 / 3, "*": 1})
    assert (cover.suppressed, cover.total) == (2, 6)
    # 1/3 + 1/3 + 1 + 1 of the cells, and 1 for each record that is suppressed or gone
    assert cover.mean(cover.share) == pytest.approx((8 / 3 + 2) / 6)
    assert column_counts(protected, "x") is column_counts(protected, "x"), "counted once"


def test_areas_are_products_of_shares():
    tree = [["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"], ["d", "C", "*"]]
    schema = celosia.Schema.of(quasi=["x", "y"], hierarchies={"x": tree})
    original = read(schema, x=["a", "b", "c", "d"], y=["1", "2", "3", "4"])
    protected = map_values(original, "x", list("abcd"), ["A", "A", "C", "d"])
    protected = map_values(protected, "y", list("1234"), ["*", "*", "3", "4"])
    bits, records, largest = log_areas(original, protected)
    # A × * covers 2 · 4 combinations, C × 3 two, d × 4 one; all are 16
    assert sorted(zip(bits.tolist(), records.tolist(), strict=True)) == [(0.0, 1), (1.0, 1), (3.0, 2)]
    assert largest == 4
    emptied = original.replace({"x": ["a", None, None, None], "y": ["1", None, None, None]})
    # an emptied cell may be any of the four values: 16 combinations for three records
    assert sorted(zip(*(side.tolist() for side in log_areas(original, emptied)[:2]), strict=True)) == [
        (0.0, 1),
        (4.0, 3),
    ]
