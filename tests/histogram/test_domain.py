"""Columns as codes: the order, the missing value, and numbers for combinations, against plain Python."""

from __future__ import annotations

import datetime as dt
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.histogram import Domain, encode, group, number, pack
from celosia.histogram import combinations as module
from celosia.histogram.combinations import sort_order

CELLS = {
    pl.String: st.sampled_from(["", "a", "b", "é", "10", "9", "*"]),
    pl.Int64: st.sampled_from([-7, 0, 3, 4, 10**12, 2**62, -(2**62)]),
    pl.UInt8: st.integers(0, 255),
    pl.Float64: st.sampled_from([-1.5, 0.0, 2.0, 1e300]),
    pl.Boolean: st.booleans(),
    pl.Date: st.sampled_from([dt.date(1936, 1, 1), dt.date(2000, 2, 29)]),
}


@pytest.mark.parametrize("dtype", CELLS, ids=str)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_codes_are_the_places_of_the_sorted_values(dtype, data):
    cells = data.draw(st.lists(st.one_of(st.none(), CELLS[dtype]), max_size=12))
    column = encode(pl.Series("x", cells, dtype=dtype))
    values = sorted({cell for cell in cells if cell is not None}) + [None] * (None in cells)
    assert column.values.to_list() == values
    assert column.codes.tolist() == [values.index(cell) for cell in cells]
    assert column.codes.dtype == np.int32
    assert column.domain.has_missing == (None in cells)
    assert column.masked.tolist() == [-1 if cell is None else values.index(cell) for cell in cells]
    assert column.present.to_list() == [value for value in values if value is not None]
    assert column.cells().to_list() == cells
    some = np.arange(0, len(cells), 2)
    assert column.take(some).cells().to_list() == cells[::2]


@given(
    st.lists(st.sampled_from(["low", "mid", "high", "other", "aside", None]), max_size=12),
    st.permutations(["high", "mid", "low", "never"]),
)
@settings(max_examples=60, deadline=None)
def test_a_declared_order_goes_first_and_a_missing_value_last(cells, order):
    column = encode(pl.Series("x", cells, dtype=pl.String), order)
    there = set(cells)
    declared = [value for value in order if value in there]
    others = sorted(value for value in there if value is not None and value not in order)
    assert column.values.to_list() == [*declared, *others, *([None] if None in there else [])]
    assert column.cells().to_list() == cells


def test_a_declared_order_replaces_that_of_the_values():
    cells = pl.Series(["b", "a"])
    assert encode(cells).values.to_list() == ["a", "b"]
    assert encode(cells, ["b", "a"]).values.to_list() == ["b", "a"]
    assert encode(cells).reorder(["b", "a"]).codes.tolist() == [0, 1]


@given(st.lists(st.sampled_from("abcd"), max_size=8), st.lists(st.sampled_from("abcde"), unique=True))
def test_a_value_that_another_domain_lacks_has_no_code_there(cells, domain):
    codes = encode(pl.Series(cells, dtype=pl.String)).recode(Domain(pl.Series(domain, dtype=pl.String)))
    assert codes.tolist() == [domain.index(cell) if cell in domain else -1 for cell in cells]


def test_a_missing_value_is_found_among_others():
    assert encode(pl.Series(["a", None])).recode(Domain(pl.Series([None, "b", "a"]))).tolist() == [2, 0]


@pytest.mark.parametrize("room", [2**62, 30], ids=["wide", "narrow"])
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=1, max_size=20), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_numbers_of_combinations_keep_their_order(room, rows, width):
    """Also where the numbers would not fit and gaps are closed on the way."""
    columns = [np.array([row[j] for row in rows], dtype=np.int32) for j in range(width)]
    combinations = [row[:width] for row in rows]
    distinct = sorted(set(combinations))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "KEYS", room)
        key, numbered = pack(columns), number(columns)
    for (a, ka), (b, kb) in product(zip(combinations, key.tolist(), strict=True), repeat=2):
        assert (a < b) == (ka < kb), (a, b)
    assert numbered.tolist() == [distinct.index(row) for row in combinations]


@pytest.mark.parametrize("few", [0, 1 << 22], ids=["numbers", "array"])
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=9), in_order=st.booleans())
@settings(max_examples=60, deadline=None)
def test_rows_in_order_are_grouped_and_ranked_as_others_are(few, rows, in_order):
    rows = sorted(rows) if in_order else rows
    columns = [np.array([row[j] for row in rows], dtype=np.int32) for j in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW", few)
        first, place = group(columns)
    distinct = sorted(set(rows))
    assert first.tolist() == [rows.index(row) for row in distinct]
    assert place.tolist() == [distinct.index(row) for row in rows]
    order = np.arange(len(rows))[sort_order(columns)]
    assert order.tolist() == sorted(range(len(rows)), key=lambda i: (rows[i], i))


def test_many_wide_columns_do_not_overflow():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2**31 - 1, 50).astype(np.int32) for _ in range(6)]
    columns[0][:25] = columns[0][25:]  # equal beginnings: the last columns decide
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert number(columns).tolist() == [sorted(rows).index(row) for row in rows]
