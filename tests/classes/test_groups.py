"""Groups, their persons and weights, and the counts that requirements see, against loops over plain rows."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.classes.counts import ClassCounts, ValueCounts
from celosia.data.engines import row_codes
from celosia.data.engines.row_codes import MemoryCodes
from celosia.data.schema import Schema
from celosia.table.suppression import suppress_records

rows = st.lists(
    st.tuples(
        st.sampled_from(["F", "M", None]),
        st.sampled_from([30, 40, 50, None]),
        st.sampled_from(["flu", "cold", None]),
        st.integers(0, 3),
        st.sampled_from([0.5, 1.0, 4.0]),
    ),
    min_size=1,
    max_size=15,
)
NAMES = ("sex", "age", "ill", "who", "weight")
QUASI = ("sex", "age")


def frame(records):
    types = {"sex": pl.String, "age": pl.Int64, "ill": pl.String, "who": pl.Int64, "weight": pl.Float64}
    return pl.DataFrame([dict(zip(NAMES, row, strict=True)) for row in records], schema=types)


def schema(**roles):
    return Schema.of(quasi=QUASI, sensitive=["ill"], **roles)


def by_class(records, kept):
    """The records of each class, by hand; a missing value equals a missing one."""
    classes = defaultdict(list)
    for row, inside in zip(records, kept, strict=True):
        if inside:
            classes[row[:2]].append(row)
    return classes


def person_weight(members):
    """A person's weight counts once in a class: the mean of their rows."""
    own = defaultdict(list)
    for row in members:
        own[row[3]].append(row[4])
    return sum(sum(weights) / len(weights) for weights in own.values())


@pytest.mark.parametrize("few", [1 << 16, 0], ids=["tallied", "grouped"])
@given(rows, st.data())
@settings(max_examples=50, deadline=None)
def test_groups_persons_and_weights(few, records, data):
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records))))
    chosen = None if kept.all() else np.flatnonzero(kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_codes, "_FEW", few)
        codes = MemoryCodes(frame(records)).choose(chosen)
        groups, place = codes.groups(QUASI), codes.place(QUASI)
        persons = codes.count(QUASI, person="who").persons
        weight = codes.count(QUASI, weight="weight").weights
        shared = codes.count(QUASI, person="who", weight="weight").weights
    classes = by_class(records, kept)
    inside = [row for row, there in zip(records, kept, strict=True) if there]
    assert len(groups.count) == len(classes)
    assert (np.diff(groups.key) > 0).all()
    for at, row in enumerate(inside):
        members, group = classes[row[:2]], place[at]
        assert groups.count[group] == len(members)
        assert persons[group] == len({member[3] for member in members})
        assert weight[group] == pytest.approx(sum(member[4] for member in members))
        assert shared[group] == pytest.approx(person_weight(members))
        assert inside[groups.first[group]] == members[0], "the first row of the group"
    assert MemoryCodes(frame(records)).groups(QUASI).count.sum() == len(records)


@given(rows)
@settings(max_examples=40, deadline=None)
def test_a_finer_grouping_finds_its_place_in_a_coarser_one(records):
    codes = MemoryCodes(frame(records))
    coarse, fine = codes.count(QUASI), codes.count((*QUASI, "ill"))
    place = coarse.find(fine)
    assert coarse.cells[place].equals(fine.cells.select(QUASI))
    assert np.bincount(place, weights=fine.rows).tolist() == coarse.rows.tolist()


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@given(records=rows, hidden=st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_every_engine_counts_the_same(engine, records, hidden):
    """Persons, weights and suppressed records, on rows that stay in the engine as well."""
    table = celosia.read(frame(records), schema(person="who", weight="weight"), engine=engine)
    if hidden:
        gone = np.arange(len(records)) % (hidden + 1) == hidden
        table = suppress_records(table, gone)
        kept = ~gone if not gone.all() else gone
    else:
        kept = np.ones(len(records), dtype=bool)
    counted = {
        row[:2]: (len(members), len({m[3] for m in members}), person_weight(members))
        for row, members in ((key, value) for key, value in by_class(records, kept).items())
    }
    histogram = table.counts.histogram(QUASI, suppressed=False)
    made = {}
    for i, (sex, age) in enumerate(histogram.cells.rows()):
        plain = (sex, None if age is None else int(age))
        numbers = int(histogram.rows[i]), int(histogram.persons[i]), pytest.approx(float(histogram.weights[i]))
        made[plain] = numbers
    assert made == counted


matrices = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 3), min_size=width, max_size=width).filter(any), min_size=1, max_size=6
    )
)


@given(matrices, st.data())
@settings(max_examples=60, deadline=None)
def test_counts_of_values_in_compressed_rows(matrix, data):
    full = np.array(matrix)
    counts = ValueCounts.of(full)
    assert counts.dense().tolist() == matrix
    assert counts.distinct.tolist() == [sum(n > 0 for n in row) for row in matrix]
    assert counts.size.tolist() == [sum(row) for row in matrix]
    assert counts.baseline.tolist() == pytest.approx((full.sum(axis=0) / full.sum()).tolist())
    shares = [n / sum(row) for row in matrix for n in row if n]
    assert counts.share.tolist() == pytest.approx(shares)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(matrix), max_size=len(matrix))))
    classes = ClassCounts(full.sum(axis=1), {"ill": counts}, target=np.arange(len(matrix)))
    for picked in (chosen, np.flatnonzero(chosen)[::-1]):
        some = classes.take(picked)
        assert some.size.tolist() == full[picked].sum(axis=1).tolist()
        assert some.of().dense().tolist() == full[picked].tolist()
        assert some.of("ill").baseline is counts.baseline, "what classes are compared with stays"
        assert some.target.tolist() == np.arange(len(matrix))[picked].tolist()
        assert some.total == full.sum()


def test_people_outside_all_classes():
    some = ClassCounts(np.array([2, 3]), population=np.array([10, 20]), population_total=100)
    assert some.outside == 70
    assert some.take(np.array([1])).outside == 80, "who was in a class that is gone is outside"
    assert ClassCounts(np.array([2]), population=np.array([10]), population_total=5).outside == 0
    assert ClassCounts(np.array([2])).outside == 0


def test_people_outside_overlapping_classes():
    """Of 12 people 10 are in the first class, 8 in the second, 7 in both, 1 in none: the sum of the classes says -6."""
    both = ClassCounts(np.array([2, 3]), population=np.array([10, 8]), population_total=12, population_outside=1)
    assert both.take(np.array([True, True])).outside == 1
    assert both.take(np.array([1, 0])).outside == 1
    # without the first class 12 - 8 = 4 are outside, without the second 2; 1 + 10 and 1 + 8 cannot be
    assert [both.take(np.array([j])).outside for j in (1, 0)] == [4, 2]
    assert both.take(np.array([], dtype=np.int64)).outside == 12
    few = ClassCounts(np.array([1, 1]), population=np.array([3, 4]), population_total=20, population_outside=13)
    assert few.take(np.array([0])).outside == 17, "nobody is in two of them: those of the second are outside"
    assert few.take(np.array([0])).take(np.array([0])).outside == 17


def test_an_unknown_sensitive_column_is_refused():
    two = ClassCounts(np.array([1]), {name: ValueCounts.of(np.array([[1]])) for name in ("ill", "pay")})
    with pytest.raises(celosia.errors.UnknownName, match="ill"):
        two.of("il")
    with pytest.raises(celosia.errors.UnknownName):
        two.of()
