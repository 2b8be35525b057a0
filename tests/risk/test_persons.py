"""Persons with several rows: counted once wherever records are compared, whatever a missing value means."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, NotApplicable

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
@settings(max_examples=25, deadline=None)
@given(ROWS)
@pytest.mark.sampled
def test_frequencies_by_looking_at_all_rows(reading, rows):
    expected = slow(rows, reading)
    for engine in ("polars", "duckdb"):
        data = table(rows, reading, engine)
        assert data.frequencies().tolist() == expected
        assert data.classes.sizes[0].min() == min(expected)
        assert data.class_counts(in_order=True).size.min() == min(expected)
        assert celosia.models.KAnonymity(k=2).value(data) == min(expected)
        assert data.classes.over(data.schema.quasi)[0].min() == min(expected)


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=25, deadline=None)
@given(ROWS)
@pytest.mark.sampled
def test_weights_of_a_person_count_once(reading, rows):
    expected = slow(rows, reading, weighted=True)
    for engine in ("polars", "duckdb"):
        data = table(rows, reading, engine, weight="w")
        assert data.frequencies(weight=True) == pytest.approx(expected)
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


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=40, deadline=None)
@given(ROWS, st.booleans())
def test_the_profile_reads_missing_values_as_the_table_does(reading, rows, persons):
    rows = rows if persons else [(q, r, i) for i, (q, r, _) in enumerate(rows)]
    data = table(rows, reading)
    if not persons:
        data = data.with_schema(celosia.Schema.of(quasi=["q", "r"], missing={"q": reading, "r": reading}))
    found = celosia.risk.Uniqueness().profile(data).to_dicts()
    for row, columns in zip(found, [(0,), (1,), (0, 1)], strict=True):
        small = [(r[0] if 0 in columns else "", r[1] if 1 in columns else "", r[2]) for r in rows]
        own = [tuple(r[j] for j in columns) for r in rows]
        frequency = dict(zip(own, slow_subset(small, columns, reading), strict=True))
        units = {(cell, r[2]) for cell, r in zip(own, rows, strict=True)}
        assert row["classes"] == len(frequency)
        assert row["smallest"] == min(frequency.values())
        assert row["unique"] == pytest.approx(sum(frequency[cell] == 1 for cell, _ in units) / len(units))
        assert row["distinction"] == pytest.approx(len(frequency) / len(units))
    assert found[-1]["unique"] == pytest.approx(celosia.risk.Uniqueness().value(data))


def slow_subset(rows, columns, reading):
    """Persons among the rows that are compatible on some columns."""
    return [
        float(
            len(
                {
                    other[2]
                    for other in rows
                    if compatible([own[j] for j in columns], [other[j] for j in columns], reading)
                }
            )
        )
        for own in rows
    ]


def test_records_that_are_told_by_their_stars_are_in_no_smaller_table(engine):
    data = pl.DataFrame({"q": ["a", "*", "a"], "r": ["x", "*", "y"], "i": [1, 2, 3]})
    for person in ("i", None):
        stars = celosia.read(data, celosia.Schema.of(quasi=["q", "r"], person=person), engine=engine)
        assert celosia.risk.Uniqueness().profile(stars)["classes"].to_list() == [1, 2, 2]


# -- means and shares ----------------------------------------------------------------------------------------------------


def visits(**columns):
    """Person a has three rows in class 1; a again, b and c are in class 2."""
    data = {"age": [1, 1, 1, 2, 2, 2], "who": list("aaaabc"), **columns}
    roles = {name: name for name in ("household",) if name in columns}
    schema = celosia.Schema.of(quasi=["age"], person="who", sensitive=["ill"] if "ill" in columns else [], **roles)
    return celosia.read(pl.DataFrame(data), schema)


def test_means_are_over_persons():
    # class 1: one person, risk 1; class 2: three persons, risk 1/3; by rows (3 + 3 / 3) / 6
    assert celosia.risk.IndividualRisk().value(visits()) == pytest.approx((1 + 3 / 3) / 4)
    found = celosia.risk.IndividualRisk().evidence(visits())
    assert (found["records"], found["unique"], found["expected"]) == (4, 1, pytest.approx(2))
    found = celosia.risk.Journalist(size=3).evidence(visits())
    assert (found["records"], found["unique"], found["average"]) == (4, 1, pytest.approx(2 / 4))


def test_a_member_of_a_household_is_a_person():
    # house 1: a with risk 1; house 2: a with 1/3 and b with 1/3; house 3: c with 1/3
    found = celosia.risk.HouseholdRisk().evidence(visits(household=[1, 1, 1, 2, 2, 3]))
    assert found["records"] == 4
    assert found["expected"] == pytest.approx(1 + 2 * (1 - (2 / 3) ** 2) + 1 / 3)
    one = celosia.risk.HouseholdRisk().records(visits(household=[1, 1, 1, 1, 2, 2]))
    assert one["household"].to_list() == pytest.approx([1] * 4 + [1 - (2 / 3) ** 2] * 2)


def test_a_value_that_all_persons_have_is_disclosed():
    # in class 2 each of a, b and c has the flu, and b something else besides
    ill = pl.DataFrame({"age": [2] * 4, "who": list("abbc"), "ill": ["flu", "flu", "HIV", "flu"]})
    table = celosia.read(ill, celosia.Schema.of(quasi=["age"], sensitive=["ill"], person="who"))
    assert celosia.risk.Homogeneity().value(table) == 1
    assert celosia.risk.Homogeneity().classes(table).select("size", "share").rows() == [(3, 1.0)]
    # a's three rows in class 1 are one of four persons in classes
    assert celosia.risk.Homogeneity().value(visits(ill=["x", "x", "x", "p", "q", "r"])) == pytest.approx(1 / 4)


def test_candidates_are_persons():
    part = celosia.risk.AttackerKnows(known={"age": 1})
    table = visits(ill=["x", "x", "y", "p", "q", "r"])
    assert part.value(table) == 1
    assert part.evidence(table)["identity"]
    assert part.remaining_values(table) == {"ill": {"x": 1, "y": 1}}


def test_the_population_counts_persons_too():
    people = pl.DataFrame({"age": [31, 35, 35, 42], "who": ["a", "a", "b", "c"]})
    table = celosia.read(
        pl.DataFrame({"age": ["30-39", "40-49"], "who": ["a", "c"]}), celosia.Schema.of(quasi=["age"], person="who")
    )
    # a has two rows between 30 and 39: two persons, not three
    assert celosia.risk.Journalist(population=people).records(table)["F"].to_list() == [2, 1]
    assert celosia.models.KMap(k=1, population=people).value(table) == 1


def test_a_wildcard_may_be_somebody_else():
    # the record without an age may be the person of 31 or of 35: the class of 31 still has one person
    table = celosia.read(
        pl.DataFrame({"age": [31, None]}), celosia.Schema.of(quasi=["age"], missing={"age": "wildcard"})
    )
    people = pl.DataFrame({"age": [31, 35]})
    assert celosia.risk.Journalist(population=people).records(table)["F"].to_list() == [1, 2]


def test_models_of_classes_refuse_missing_values_that_may_be_anything():
    table = celosia.read(
        pl.DataFrame({"age": [31, None, 31], "ill": list("xyx")}),
        celosia.Schema.of(quasi=["age"], sensitive=["ill"], missing={"age": "wildcard"}),
    )
    for part in (
        celosia.risk.PopulationUniques(size=9),
        celosia.risk.LogLinearRisk(size=9),
        celosia.risk.Homogeneity(),
    ):
        with pytest.raises(NotApplicable, match="missing"):
            part.value(table)


def test_a_population_is_as_large_as_its_persons():
    # three persons in four combinations of class and person: the thirty people stand for forty of those
    found = celosia.risk.PopulationUniques(model="zayatz", size=30).evidence(visits())
    assert found["population"] == 40
    with pytest.raises(DataError, match=r"\(2\) cannot be smaller than the table \(3 persons\)"):
        celosia.risk.PopulationUniques(model="zayatz", size=2).value(visits())
