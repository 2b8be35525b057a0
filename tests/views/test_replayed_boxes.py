"""A partition as plain data, and new records in it: by hand, and against the cells that the method published."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError
from celosia.hierarchy import parse
from celosia.methods.generalisation.mondrian import Mondrian
from celosia.release.evidence.plain_data import plain
from celosia.streams import Stream

PLACES = {"Kent": "South", "Devon": "South", "Fife": "North", "Moray": "North", "Skye": "North"}
TREE = [[place, region, "*"] for place, region in PLACES.items()]


def read(data, **more):
    frame = pl.DataFrame(data)
    return celosia.read(frame, celosia.Schema.of(quasi=frame.columns, **more))


def learned(table, k=2, **parameters):
    """The method, the protected table and its record as JSON gives it back."""
    method = Mondrian(require=[f"k-anonymity(k={k})"], **parameters)
    done = celosia.protect(table, method)
    return method, done, json.loads(json.dumps(plain(done.private_history[-1]), allow_nan=False))


def placed(method, record, data, **more):
    table, lost = method.replay(read(data, **more), record, Stream(1))
    return table.polars(), lost.tolist()


def test_numbers_by_hand():
    # cut between 24 and 40, whose roundest number is 40; the round ends around all values are 20 and 62
    method, _, record = learned(read({"age": [21, 23, 24, 40, 41, 60]}))
    assert record["transformation"]["cuts"] == {"node": [0], "column": [0], "at": [["24", "40"]], "first": [1]}
    cells, lost = placed(method, record, {"age": [22, 24, 50, 20, 61, 30, 19, 62, None]})
    assert cells["age"].to_list() == ["[20-40)"] * 2 + ["[40-62)", "[20-40)", "[40-62)", "[20-40)", None, None, None]
    assert lost == [False] * 6 + [True] * 3


def test_a_region_of_an_earlier_record_shows_no_end():
    method, _, record = learned(read({"age": [21, 23, 24, 40, 41, 60]}))
    record["transformation"]["cuts"]["at"] = ["24"]
    del record["transformation"]["columns"][0]["outer"]
    cells, lost = placed(method, record, {"age": [22, 30, 50]})
    assert cells["age"].to_list() == ["[20-40)", "*", "*"]
    assert not any(lost)


def test_labels_by_hand():
    data = {"city": ["a"] * 4 + ["b"] * 3 + ["c", "d", "d"]}
    method, done, record = learned(read(data), k=3)
    assert set(done.polars()["city"]) == {"a", "b", "{c, d}"}
    cells, lost = placed(method, record, {"city": ["c", "a", "e", None]})
    assert cells["city"].to_list() == ["{c, d}", "a", None, None]
    assert lost == [False, False, True, True]


def test_a_star_stands_for_values_that_were_never_seen():
    # too few records for a cut: the only box shows every city, so a new one is no lie; an age out of range would be
    method, done, record = learned(read({"age": [30, 30, 31], "city": ["a", "b", "c"]}))
    assert done.polars()["city"].to_list() == ["*"] * 3
    cells, lost = placed(method, record, {"age": [31, 30, 99], "city": ["a", "z", "a"]})
    assert cells["city"].to_list() == ["*", "*", None]
    assert lost == [False, False, True]


def test_trees_by_hand():
    places = ["Kent", "Kent", "Kent", "Devon", "Devon", "Fife", "Moray"]
    schema = {"hierarchies": {"place": TREE}}
    method, done, record = learned(read({"place": places}, **schema))
    assert done.polars()["place"].to_list() == ["Kent"] * 3 + ["Devon"] * 2 + ["North"] * 2
    # Skye is known to the hierarchy only: North holds it. The South was cut into the places that occurred
    cells, lost = placed(method, record, {"place": ["Skye", "Devon", "Atlantis", None]}, **schema)
    assert cells["place"].to_list() == ["North", "Devon", None, None]
    assert lost == [False, False, True, True]


def test_a_value_that_the_hierarchy_does_not_know_takes_the_node_that_covers_it():
    schema = {"kinds": {"zip": "nominal"}, "hierarchies": {"zip": {"use": "prefixes"}}}
    method, done, record = learned(read({"zip": ["13053", "13068", "14850", "14853"]}, **schema))
    assert done.polars()["zip"].to_list() == ["130**"] * 2 + ["1485*"] * 2
    cells, lost = placed(method, record, {"zip": ["13099", "14859", "14801", "99999"]}, **schema)
    # the cut parted 13*** from 14***: 14801 lies in the box of 1485*, which now shows all that is left of the cut
    assert cells["zip"].to_list() == ["130**", "14***", "14***", None]
    assert lost == [False, False, False, True]


def test_dates_and_missing_values():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 9), dt.date(2021, 5, 5), dt.date(2021, 6, 6), *[None] * 4]
    method, done, record = learned(read({"day": days}))
    assert done.polars()["day"].to_list()[4:] == [None] * 4
    new = [dt.date(2020, 12, 5), dt.date(2021, 1, 1), None, dt.date(2022, 1, 1)]
    cells, lost = placed(method, record, {"day": new})
    assert cells["day"].to_list() == ["[2020-01-01 .. 2021-01-01)", "[2021-01-01 .. 2022-01-01)", None, None]
    assert lost == [False, False, False, True]


def test_a_box_keeps_its_recorded_value():
    data = {"age": [20, 21, 30, 40, 41, 45], "day": [dt.datetime(2020, 1, d, d) for d in (1, 1, 2, 3, 3, 4)]}
    for output in ("mean", "median", "mode"):
        method, done, record = learned(read(data), k=3, output=output)
        cells, lost = placed(method, record, data)
        assert cells.equals(done.polars())
        cells, lost = placed(method, record, {"age": [22, 46], "day": data["day"][:2]})
        assert cells["age"].to_list() == [done.polars()["age"][0], None]
        assert lost == [False, True]


def test_equal_values_on_both_sides_of_a_cut_cannot_be_followed():
    table = read({"age": [1, 2, 2, 2, 2]})
    method, _, record = learned(table, strict=False)
    assert "transformation" not in record
    with pytest.raises(DataError, match=r"both sides of a cut.*strict = true"):
        method.replay(table, record, Stream(1))
    # without equal values at a cut it can
    method, done, record = learned(read({"age": [1, 2, 3, 4]}), strict=False)
    assert placed(method, record, {"age": [1, 2, 3, 4]})[0].equals(done.polars())
    with pytest.raises(DataError, match="earlier version"):
        Mondrian(require=["k-anonymity(k=2)"]).replay(table, {"step": "mondrian"}, Stream(1))


def test_columns_without_a_value_and_tables_without_a_row():
    nothing = pl.Series([None] * 4, dtype=pl.Int64)
    method, _, record = learned(read({"age": nothing, "sex": ["f", "f", "m", "m"]}))
    cells, lost = placed(method, record, {"age": [None, 3], "sex": ["f", "m"]})
    assert cells.rows() == [(None, "f"), (None, None)]
    assert lost == [False, True]
    empty = read({"age": nothing, "sex": ["f", "f", "m", "m"]}).take(np.empty(0, np.int64))
    shown, lost = method.replay(empty, record, Stream(1))
    assert len(shown) == len(lost) == 0


def random_table(rng, n, missing=True):
    def holes(values):
        return [None if missing and rng.random() < 0.1 else v for v in values]

    frame = pl.DataFrame(
        {
            "x": holes((rng.integers(-6, 20, n) / 2).tolist()),
            "f": pl.Series(holes(rng.normal(size=n).tolist()), dtype=pl.Float32),
            "c": holes(rng.choice(list("abcd"), n).tolist()),
            "o": holes(rng.choice(["low", "mid", "high"], n).tolist()),
            "p": holes(rng.choice(list(PLACES), n).tolist()),
        },
        schema_overrides={"x": pl.Float64, "c": pl.String, "o": pl.String, "p": pl.String},
    )
    schema = celosia.Schema.of(
        quasi=frame.columns,
        kinds={"o": "ordinal"},
        orders={"o": ["low", "mid", "high"]},
        hierarchies={"p": TREE},
    )
    return celosia.read(frame, schema)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from(["range", "range", "mean", "mode"]), st.booleans())
def test_the_same_records_get_the_same_cells(seed, k, output, missing):
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(k, 80)), missing)
    method, done, record = learned(table, k, output=output)
    again, lost = method.replay(table, record, Stream(1))
    assert not lost.any()
    assert again.polars().equals(done.polars())
    assert again.counts.suppressed_mask.tolist() == done.counts.suppressed_mask.tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.booleans())
def test_new_cells_are_true_and_boxes_stay_whole(seed, k, missing):
    rng = np.random.default_rng(seed)
    method, done, record = learned(random_table(rng, 60, missing), k)
    new = random_table(rng, 40, missing)
    shown, lost = method.replay(new, record, Stream(1))
    old_boxes = len(set(done.polars().rows()))
    classes = set(shown.polars().filter(~pl.Series(lost)).rows())
    assert len(classes) <= old_boxes
    for name in ("x", "f", "c", "o"):
        texts = new.column(name).cast(pl.String).to_list()
        for raw, cell, gone in zip(texts, shown.column(name), lost, strict=True):
            assert gone or cell == "*" or (raw is None) == (cell is None)
            assert gone or cell in (None, "*") or parse(cell).covers(raw)
    for raw, cell, gone in zip(new.column("p"), shown.column("p"), lost, strict=True):
        assert gone or cell in (raw, "*", PLACES.get(raw))
