"""Persons with several rows: counted once wherever records are compared, whatever a missing value means."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.views.keys import Keys

READINGS = ["category", "wildcard", "conservative"]
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.integers(0, 3)),
    min_size=1,
    max_size=15,
)


def table(rows, reading, engine="polars", **facts):
    data = pl.DataFrame(rows, schema={"q": pl.String, "r": pl.Int64, "i": pl.Int64}, orient="row")
    data = data.with_columns(w=pl.int_range(1, len(rows) + 1).cast(pl.Float64))
    schema = celosia.Schema.of(quasi=["q", "r"], person="i", missing={"q": reading, "r": reading}, **facts)
    return celosia.read(data, schema, engine=engine)


def compatible(own, other, reading):
    """Whether the other row counts for the own one."""
    if reading == "category" or own == other:
        return own == other
    if any(x is not None and y is not None and x != y for x, y in zip(own, other, strict=True)):
        return False
    return reading == "wildcard" or None not in other or set(own) == {None}


def slow(rows, reading, weighted=False):
    """Persons among the compatible rows, or the mean weight of each over them."""
    found = []
    for q, r, _ in rows:
        weights: dict[int, list[float]] = {}
        for number, (x, y, who) in enumerate(rows, 1):
            if compatible((q, r), (x, y), reading):
                weights.setdefault(who, []).append(number)
        found.append(sum(sum(w) / len(w) for w in weights.values()) if weighted else float(len(weights)))
    return found


def test_one_person_with_two_compatible_rows_is_alone(engine):
    data = pl.DataFrame({"q": ["a", None], "r": ["x", "x"], "i": [1, 1]})
    schema = celosia.Schema.of(quasi=["q", "r"], person="i", missing={"q": "wildcard"})
    one = celosia.read(data, schema, engine=engine)
    assert celosia.models.KAnonymity(k=2).value(one) == 1
    assert celosia.risk.Prosecutor().value(one) == 1


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_frequencies_by_looking_at_all_rows(reading, rows):
    expected = slow(rows, reading)
    for engine in ("polars", "duckdb"):
        data = table(rows, reading, engine)
        assert data.frequencies().tolist() == expected
        assert data.sizes()[0].min() == min(expected)
        assert data.keyed_counts()[1].size.min() == min(expected)
        assert celosia.models.KAnonymity(k=2).value(data) == min(expected)
    keys = Keys.of(data)
    assert keys.spread(keys.frequencies()).tolist() == expected


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_weights_of_a_person_count_once(reading, rows):
    expected = slow(rows, reading, weighted=True)
    for engine in ("polars", "duckdb"):
        data = table(rows, reading, engine, weight="w")
        assert data.frequencies(weight=True) == pytest.approx(expected)
    keys = Keys.of(data)
    assert keys.spread(keys.frequencies(weight=True)) == pytest.approx(expected)
    assert np.isfinite(celosia.risk.Journalist().value(data))


# -- tables of fewer columns ---------------------------------------------------------------------------------------------


def test_rows_of_one_person_in_a_smaller_table_are_one_person(engine):
    data = pl.DataFrame({"sex": list("FFMMM"), "age": [1, 2, 1, 2, 3], "i": [1, 1, 2, 3, 4]})
    visits = celosia.read(data, celosia.Schema.of(quasi=["sex", "age"], person="i"), engine=engine)
    # F is one person with two rows; ages 1 and 2 have two persons each, age 3 one
    assert celosia.risk.UnsafeCells(k=2, ways=1).tables(visits)["unsafe"].to_list() == [1, 1]
    # unsafe: both rows of person 1 (by sex, and by sex and age), persons 2 and 3 (by both), person 4 (by age)
    assert celosia.risk.UnsafeCells(k=2, ways=1).records(visits)["unsafe"].to_list() == [1, 1, 0, 0, 1]
    # sex alone tells person 1, so (sex, age) is no minimal set for her
    found = celosia.risk.Suda().records(visits)
    assert found["smallest"].to_list() == [1, 1, 2, 2, 1]
    assert found["score"].to_list() == [1, 1, 1, 1, 1]


def cells_of(rows, columns):
    """Persons of each cell of a table, records with a missing value left out."""
    cells: dict[tuple, set] = {}
    for row in rows:
        cell = tuple(row[j] for j in columns)
        if None not in cell:
            cells.setdefault(cell, set()).add(row[-1])
    return cells


@settings(max_examples=80, deadline=None)
@given(ROWS, st.sampled_from(["wildcard", "conservative"]))
def test_smaller_tables_by_counting_persons(rows, reading):
    subsets = [(0,), (1,), (0, 1)]
    unsafe, minimal = [], []
    for row in rows:
        alone = [
            columns
            for columns in subsets
            if None not in (cell := tuple(row[j] for j in columns)) and len(cells_of(rows, columns)[cell]) == 1
        ]
        least = [s for s in alone if not any(set(t) < set(s) for t in alone)]
        unsafe.append(len(alone))
        minimal.append((len(least), float(sum(1 for s in least))))
    data = table(rows, reading)
    assert celosia.risk.UnsafeCells(k=2, ways=2).records(data)["unsafe"].to_list() == unsafe
    tables = celosia.risk.UnsafeCells(k=2, ways=2).tables(data)
    assert tables["unsafe"].to_list() == [
        sum(len(who) == 1 for who in cells_of(rows, columns).values()) for columns in subsets
    ]
    found = celosia.risk.Suda().records(data)
    assert list(zip(found["sets"].to_list(), found["score"].to_list(), strict=True)) == minimal
