"""Patterns of quasi-identifiers, their persons and their frequencies, against loops over plain rows."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.table.suppression import suppress_records
from celosia.views.persons import Linked, by_person, person_shares, some_persons

rows = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


def table(records, person, missing):
    data = pl.DataFrame(records, schema={"x": pl.String, "y": pl.Int64, "who": pl.Int64}, orient="row")
    roles = {"person": "who"} if person else {"insensitive": ["who"]}
    return celosia.read(data, celosia.Schema.of(quasi=["x", "y"], missing=dict.fromkeys("xy", missing), **roles))


def alike(a, b):
    """Whether two patterns can be of the same person, a missing value standing for anything."""
    return all(p is None or q is None or p == q for p, q in zip(a, b, strict=True))


def frequency(records, own, person, missing):
    """Records (persons) that a record could be; under the conservative reading incomplete ones protect nobody
    else, and a record of which nothing is known could be anybody.
    """
    counted = []
    for row in records:
        if missing == "category":
            inside = row[:2] == own
        elif missing == "wildcard":
            inside = alike(row[:2], own)
        else:
            inside = own == (None, None) or (alike(row[:2], own) and (None not in row[:2] or row[:2] == own))
        if inside:
            counted.append(row[2])
    return len(set(counted)) if person else len(counted)


@pytest.mark.parametrize("missing", ["category", "wildcard", "conservative"])
@pytest.mark.parametrize("person", [False, True], ids=["records", "persons"])
@given(records=rows)
@settings(max_examples=25, deadline=None)
def test_frequencies(missing, person, records):
    classes = table(records, person, missing).classes
    counted = classes.on_records(classes.frequencies(), suppressed=0)
    for row, own in zip(records, counted.tolist(), strict=True):
        assert own == frequency(records, row[:2], person, missing), row
    assert classes.histogram.rows.sum() == len(records)


@given(records=rows)
@settings(max_examples=30, deadline=None)
def test_fewer_columns_and_smaller_cells(records):
    classes = table(records, True, "category").classes
    frequency, persons = classes.over(["x"])
    by_value = defaultdict(set)
    for row in records:
        by_value[row[0]].add(row[2])
    assert sorted(persons.tolist()) == sorted(map(len, by_value.values()))
    assert frequency.tolist() == persons.tolist()
    cell = np.where(np.arange(len(classes.histogram)) % 2 == 0, 0, -1)
    inside = {row[2] for row, at in zip(records, classes.place.tolist(), strict=True) if cell[at] == 0}
    assert classes.persons_in(cell).tolist() == [len(inside)]


@given(records=rows)
@settings(max_examples=30, deadline=None)
def test_a_person_adds_up_to_one_in_each_class(records):
    shares = person_shares(table(records, True, "category"))
    total = defaultdict(float)
    for row, share in zip(records, shares.tolist(), strict=True):
        total[row] += share
    assert all(value == pytest.approx(1.0) for value in total.values())


def test_a_suppressed_record_has_no_pattern_and_no_share():
    hidden = table([("a", 1, 0), ("a", 1, 0), ("b", 2, 1)], True, "category")
    hidden = suppress_records(hidden, np.array([True, False, False]))
    classes = hidden.classes
    assert classes.place.tolist().count(-1) == 1
    assert classes.on_records(np.array([5.0] * len(classes.histogram)), suppressed=-1.0).tolist() == [-1.0, 5.0, 5.0]
    assert person_shares(hidden).tolist() == [0.0, 1.0, 1.0]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10)), min_size=1, max_size=15))
def test_means_of_persons(pairs):
    person = np.array([who for who, _ in pairs])
    values = np.array([float(value) for _, value in pairs])
    own = defaultdict(list)
    for who, value in pairs:
        own[who].append(value)
    assert by_person(values, person).tolist() == pytest.approx([np.mean(own[who]) for who in sorted(own)])


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.integers(1, 9), st.integers(0, 99))
def test_chosen_persons_come_with_all_their_records(persons, wanted, seed):
    person = np.array(persons)
    chosen = some_persons(person, wanted, np.random.default_rng(seed))
    whose = set(person[chosen].tolist())
    assert len(whose) == min(wanted, len(set(persons)))
    assert chosen.tolist() == [i for i, who in enumerate(persons) if who in whose]


@pytest.mark.parametrize("direction", ["original", "protected"])
def test_links_are_scored_by_persons(direction):
    """Person 0 has two of four records: a guess hits her with 2/4 and the others with 1/4; each counts once."""
    original = table([("a", 1, 0), ("a", 2, 0), ("b", 1, 1), ("b", 2, 2)], True, "category")
    linked = Linked.of(original, original, direction)
    assert linked.guess() == pytest.approx((2 / 4 + 1 / 4 + 1 / 4) / 3)
    assert linked.right(np.array([1, 0, 2, -1])).tolist() == [1.0, 1.0, 1.0, 0.0]
    evidence = linked.evidence([linked.means(np.array([1.0, 0.0, 1.0, 0.0])), linked.means(np.ones(4))])
    assert evidence["value"] == pytest.approx(((0.5 + 1 + 0) / 3 + 1) / 2)
    assert evidence["records"] == 3
    assert evidence["interval"][0] < evidence["value"] < evidence["interval"][1]
