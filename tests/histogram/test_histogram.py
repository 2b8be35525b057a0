"""Histograms under random operations, against the same operations on plain rows."""

from __future__ import annotations

from collections import defaultdict
from math import fsum

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.classes.classes import compatible_frequencies
from celosia.histogram import CountAgain, Histogram, PersonPairs, encode, group
from celosia.histogram.fixed_point import split

NAMES = ("a", "b", "c")
CELLS = st.tuples(st.sampled_from("xyz"), st.sampled_from([1, 2, None]), st.sampled_from("pq"))
ROWS = st.lists(st.tuples(CELLS, st.integers(0, 4), st.sampled_from([0.1, 0.25, 3.0, 7.3])), max_size=14)


def counted(rows, *, persons, keys=None):
    """Count plain rows: cells, person, weight; persons with several combinations of ``keys`` are listed."""
    frame = pl.DataFrame(
        [cells for cells, _, _ in rows], schema=dict(zip(NAMES, (str, int, str), strict=True)), orient="row"
    )
    columns = {name: encode(frame[name]) for name in NAMES}
    first, place = group([column.codes for column in columns.values()])
    entries = {name: column.take(first) for name, column in columns.items()}
    number = np.bincount(place, minlength=len(first))
    weight = np.array([w for _, _, w in rows])
    if not persons:
        parts = np.zeros((len(first), 2), dtype=np.int64)
        np.add.at(parts, place, split(weight))
        return Histogram(entries, number, weight=parts)
    who = np.array([person for _, person, _ in rows], dtype=np.int64)
    told = defaultdict(set)
    for cells, person, _ in rows:
        told[person].add(tuple(cells[NAMES.index(name)] for name in keys or NAMES))
    several = np.array([len(told[person]) > 1 for person in who], dtype=bool)
    single, parts = np.zeros(len(first), dtype=np.int64), np.zeros((len(first), 2), dtype=np.int64)
    alone = defaultdict(list)
    for entry, person, w, listed in zip(place, who, weight, several, strict=True):
        if not listed:
            alone[entry, person].append(w)
    for (entry, _), weights in alone.items():
        single[entry] += 1
        parts[entry] += split(np.array([fsum(weights) / len(weights)]))[0]
    pairs = PersonPairs.of(place[several], who[several], np.ones(several.sum(), dtype=np.int64), split(weight[several]))
    return Histogram(entries, number, single, parts, pairs, None if keys is None else frozenset(keys))


def check(histogram, rows, names, *, persons):
    """Compare every number with loops over the rows, whose cells are those of ``names``."""
    of = defaultdict(list)
    for row in rows:
        of[row[0]].append(row)
    assert sorted(histogram.cells.select(names).rows(), key=str) == sorted(of, key=str)
    for i, cells in enumerate(histogram.cells.select(names).rows()):
        members = of[cells]
        whose = defaultdict(list)
        for _, person, weight in members:
            whose[person].append(weight)
        assert histogram.rows[i] == len(members)
        assert histogram.persons[i] == (len(whose) if persons else len(members))
        means = [fsum(w) / len(w) for w in whose.values()] if persons else [w for _, _, w in members]
        assert histogram.weights[i] == pytest.approx(fsum(means), abs=1e-12)
    if histogram.pairs is not None and histogram.person_keys is None:
        assert (np.bincount(histogram.pairs.person) >= 2).all(), "listed persons have several entries"
        assert histogram.total == len({person for _, person, _ in rows})
    assert (histogram.persons <= histogram.rows).all()


def moved(rows, names, change):
    return [(change(dict(zip(names, cells, strict=True))), person, weight) for cells, person, weight in rows]


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("project"), st.permutations(NAMES), st.integers(0, 3)),
        st.tuples(st.just("recode"), st.sampled_from(NAMES), st.sampled_from(["one", "swap"])),
        st.tuples(st.just("filter"), st.integers(0, 7), st.just(0)),
    ),
    max_size=4,
)


@pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])
@given(rows=ROWS, operations=OPERATIONS)
@settings(max_examples=150, deadline=None)
def test_operations_are_those_of_plain_rows(persons, rows, operations):
    histogram, names = counted(rows, persons=persons), list(NAMES)
    check(histogram, rows, names, persons=persons)
    for what, how, more in operations:
        if what == "project":
            kept = [name for name in how if name in names][:more] or names
            rows = moved(rows, names, lambda row, kept=kept: tuple(row[name] for name in kept))
            histogram, names = histogram.project(kept), kept
        elif what == "recode" and how in names:
            column = histogram.column(how)
            labels = {"one": ["v"], "swap": ["w", "v"]}[more]
            mapped = [labels[i % len(labels)] for i in range(len(column.domain))]
            by_value = dict(zip(column.values.to_list(), mapped, strict=True))
            cells = [by_value[value] for value in column.cells().to_list()]
            histogram = histogram.recode({how: encode(pl.Series(cells, dtype=pl.String))})
            rows = moved(
                rows,
                names,
                lambda row, how=how, by=by_value, names=names: tuple((row | {how: by[row[how]]})[n] for n in names),
            )
        elif what == "filter":
            mask = (np.arange(len(histogram)) * 5 + how) % 3 > 0
            left = set(histogram.cells.select(names).filter(pl.Series(mask, dtype=pl.Boolean)).rows())
            rows = [row for row in rows if row[0] in left]
            histogram = histogram.filter(mask)
        check(histogram, rows, names, persons=persons)


@given(rows=ROWS, order=st.permutations(NAMES))
@settings(max_examples=60, deadline=None)
def test_projections_commute_and_entries_are_found(rows, order):
    histogram = counted(rows, persons=True)
    direct, by_steps = histogram.project(order[:1]), histogram.project(order[:2]).project(order[:1])
    for a, b in ((direct.rows, by_steps.rows), (direct.persons, by_steps.persons), (direct.weights, by_steps.weights)):
        assert a.tolist() == b.tolist(), "weights too: their sums are exact"
    place = direct.find(histogram)
    assert direct.cells[place].equals(histogram.cells.select(order[:1]))
    assert np.bincount(place, weights=histogram.rows, minlength=len(direct)).tolist() == direct.rows.tolist()


@given(rows=ROWS)
@settings(max_examples=100, deadline=None)
def test_persons_listed_by_some_columns_are_told_for_those(rows):
    """Who has several values of the last column alone is not listed: it may be kept, but neither dropped nor recoded."""
    histogram = counted(rows, persons=True, keys=("a", "b"))
    check(histogram, rows, list(NAMES), persons=True)
    some = histogram.project(["c", "a"])
    check(some, moved(rows, NAMES, lambda row: (row["c"], row["a"])), ["c", "a"], persons=True)
    one = encode(pl.Series(["v"] * len(histogram), dtype=pl.String))
    check(
        histogram.recode({"a": one}),
        moved(rows, NAMES, lambda row: ("v", row["b"], row["c"])),
        list(NAMES),
        persons=True,
    )
    for change in (
        lambda: histogram.project(["a", "b"]),
        lambda: histogram.recode({"c": one}),
        lambda: histogram.total,
    ):
        with pytest.raises(CountAgain):
            change()


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("alpha", [None, 0.5])
@pytest.mark.parametrize("conservative", [False, True])
@given(rows=ROWS)
@settings(max_examples=25, deadline=None)
def test_missing_values_that_stand_for_others(conservative, alpha, weighed, rows):
    """Persons with one pattern add up; the others count once among the patterns that may be theirs."""
    histogram = counted(rows, persons=True)
    found = compatible_frequencies(histogram, NAMES, NAMES, conservative=conservative, alpha=alpha, weighed=weighed)
    share = alpha if alpha is not None else 0.0 if conservative else 1.0
    cells = histogram.cells.rows()
    for i, own in enumerate(cells):
        given_, weights = defaultdict(float), defaultdict(list)
        for other, person, weight in rows:
            if any(x is not None and y is not None and x != y for x, y in zip(own, other, strict=True)):
                continue
            part = 1.0 if other == own or None not in other else share
            if part:
                given_[person] = max(given_[person], part)
                weights[person].append(weight)
        expected = sum(given_[p] * (fsum(weights[p]) / len(weights[p]) if weighed else 1.0) for p in given_)
        assert found[i] == pytest.approx(expected, abs=1e-9)


def test_no_rows_and_no_columns():
    empty = counted([], persons=True)
    assert len(empty) == len(empty.project(["a"])) == len(empty.project([])) == empty.total == 0
    some = counted([(("x", 1, "p"), 0, 1.0), (("x", 2, "p"), 0, 2.0)], persons=True)
    nothing = some.project([])
    assert (nothing.rows.tolist(), nothing.persons.tolist(), nothing.weights.tolist()) == ([2], [1], [1.5])
