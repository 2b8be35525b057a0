"""Microaggregation on tables: worked examples, k-anonymity, reference files, mixed data, bad input."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, ParameterError, RequirementError
from celosia.methods.microaggregation.individual_ranking import IndividualRanking
from celosia.methods.microaggregation.microaggregate import Microaggregate
from celosia.methods.microaggregation.mixed_microaggregate import MixedMicroaggregate
from celosia.methods.microaggregation.optimal_univariate import OptimalUnivariate
from celosia.methods.microaggregation.projection_microaggregate import ProjectionMicroaggregate
from celosia.methods.microaggregation.variable_microaggregate import VariableMicroaggregate

AGES = [42, 28, 50, 23, 12, 68, 30, 46, 55, 61]
JOINT = [Microaggregate, VariableMicroaggregate, ProjectionMicroaggregate, MixedMicroaggregate]


def loss(x, y):
    return 100 * (((x - y) / x.std(axis=0)) ** 2).sum() / x.size


def test_worked_example():
    table = celosia.read(pl.DataFrame({"age": AGES}), celosia.Schema.of(quasi=["age"]))
    done = celosia.protect(table, Microaggregate(columns=["age"], k=3))
    assert done.polars()["age"].round().to_list() == [42, 21, 42, 21, 21, 61, 42, 42, 61, 61]
    assert done.history[-1]["loss"] == pytest.approx(0.15346, abs=1e-5)
    best = celosia.protect(table, OptimalUnivariate(column="age", k=3))
    assert best.history[-1]["loss"] * 2884.5 == pytest.approx(311.4167, abs=1e-3)
    found = celosia.protect(table, Microaggregate(columns=["age"], k=3, quality=True), seed=1)
    assert found.history[-1]["loss"] * 2884.5 == pytest.approx(311.4167, abs=1e-3), "the search finds the optimum here"


def test_raw_and_standardised_distances_of_the_course():
    data = pl.DataFrame(
        {
            "age": [42.0, 28, 51, 23, 12, 68, 30, 46, 55, 62],
            "income": [20000.0, 21000, 19003.2, 40000.55, 10000, 9500.33, 40400, 30300, 10100, 80700.2],
        }
    )

    def groups(standardise):
        done = celosia.protect(celosia.read(data), Microaggregate(columns=data.columns, k=3, standardise=standardise))
        rows = done.polars().rows()
        return {frozenset(i + 1 for i, row in enumerate(rows) if row == one) for one in rows}

    assert groups(standardise=False) == {frozenset({4, 7, 10}), frozenset({5, 6, 9}), frozenset({1, 2, 3, 8})}
    assert groups(standardise=True) == {frozenset({7, 8, 10}), frozenset({2, 4, 5}), frozenset({1, 3, 6, 9})}


@pytest.mark.parametrize(
    ("file", "golden"), [("tarragona", "Tarragona"), ("census", "CASC")], ids=["tarragona", "census"]
)
def test_reference_files(shared, file, golden):
    data = pl.read_csv(shared(f"data/{file}.csv")).cast(pl.Float64)
    x, names = data.to_numpy(), data.columns

    def reference(name):
        return pl.read_csv(shared(f"golden/sdcmicro/microagg_{golden}_{name}.csv.gz")).cast(pl.Float64).to_numpy()

    def ours(method):
        return celosia.protect(celosia.read(data), method, seed=1).polars().to_numpy()

    for k in (3, 4, 5, 10):
        assert loss(x, ours(Microaggregate(columns=names, k=k))) <= loss(x, reference(f"mdav{k}")) * 1.0001
    projected = ours(ProjectionMicroaggregate(columns=names, k=3))
    assert loss(x, projected) == pytest.approx(loss(x, reference("pca3")), rel=1e-9)
    assert np.allclose(ours(IndividualRanking(columns=names, k=3, optimal=False)), reference("onedims3"))
    assert loss(x, ours(IndividualRanking(columns=names, k=3))) < loss(x, reference("onedims3"))
    assert loss(x, ours(VariableMicroaggregate(columns=names, k=3))) < 1.01 * loss(x, reference("mdav3"))


@given(st.integers(0, 1000), st.integers(2, 5), st.sampled_from(range(len(JOINT))), st.booleans())
@settings(max_examples=40, deadline=None)
def test_grouping_all_quasi_identifiers_gives_k_anonymity(seed, k, which, missing):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2 * k, 60))
    data = pl.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 50, n)})
    if missing:
        data = data.with_columns(pl.when(pl.Series(np.arange(n) >= k)).then(pl.col("b")).alias("b"))
    table = celosia.read(data, celosia.Schema.of(quasi=["a", "b"]))
    done = celosia.protect(table, JOINT[which](columns=["a", "b"], k=k), seed=1)
    assert celosia.models.KAnonymity(k=k).holds(done)
    assert done.polars()["b"].is_null().equals(data["b"].is_null())
    assert done.polars()["b"].mean() == pytest.approx(data["b"].mean(), abs=1e-9)  # with decimals
    assert done.polars()["a"].mean() == pytest.approx(data["a"].mean(), abs=1e-9)


def test_individual_ranking_does_not_give_k_anonymity():
    rng = np.random.default_rng(0)
    data = pl.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    table = celosia.read(data, celosia.Schema.of(quasi=["a", "b"]))
    assert not celosia.models.KAnonymity(k=3).holds(celosia.protect(table, IndividualRanking(columns=["a", "b"], k=3)))


def test_quality_and_scale_on_tables():
    rng = np.random.default_rng(1)
    data = pl.DataFrame(np.exp(rng.normal(size=(800, 4))), schema=list("abcd"), orient="row")
    table = celosia.read(data)
    plain, quality, scale = (
        celosia.protect(table, Microaggregate(columns=data.columns, k=4, **kwargs), seed=1).history[-1]
        for kwargs in ({}, {"quality": True}, {"scale": True})
    )
    assert quality["loss"] < plain["loss"]
    assert scale["loss"] < 1.3 * plain["loss"]
    assert min(plain["smallest"], quality["smallest"], scale["smallest"]) >= 4
    assert max(quality["largest"], scale["largest"]) <= 7


def test_strata_and_other_aggregates():
    data = pl.DataFrame({"region": ["N", "S"] * 6, "x": [0.0, 1, 2, 3, 100, 5, 6, 7, 8, 9, 10, 11]})
    table = celosia.read(data)
    done = celosia.protect(table, Microaggregate(columns=["x"], k=3, within=["region"])).polars()
    groups = done.group_by("x").agg(pl.col("region").n_unique())
    assert groups["region"].max() == 1
    medoid = celosia.protect(table, Microaggregate(columns=["x"], k=3, aggregate="medoid")).polars()
    assert set(medoid["x"]) <= set(data["x"]), "a medoid is a value of the data"
    median = celosia.protect(table, Microaggregate(columns=["x"], k=12, aggregate="median")).polars()
    assert set(median["x"]) == {6.5}


def test_cosine_distance_groups_directions():
    data = pl.DataFrame({"a": [1.0, 10.0, -1.0, -20.0], "b": [1.0, 10.0, 1.0, 20.0]})
    method = Microaggregate(columns=["a", "b"], k=2, distance="cosine", standardise=False)
    done = celosia.protect(celosia.read(data), method).polars()
    assert done["a"].n_unique() == 2
    assert done["b"].n_unique() == 2 or done.n_unique() == 2


@pytest.mark.parametrize("where", [{}, {"within": ["area"]}])
def test_groups_of_rows_hold_k_persons(where):
    rng = np.random.default_rng(3)
    person = rng.integers(0, 60, 300)
    frame = pl.DataFrame(
        {
            "x": person + rng.normal(0, 0.1, 300),  # the rows of a person are nearest to each other
            "job": [f"job {p % 7}" for p in person],
            "area": (person % 2).tolist(),
            "i": [None if p < 2 else int(p) for p in person],  # records without an id are one person
        }
    )
    data = celosia.read(frame, celosia.Schema.of(quasi=["x"], person="i"))
    for method in (
        Microaggregate(columns=["x"], k=4, **where),
        MixedMicroaggregate(columns=["x", "job"], k=4, **where),
    ):
        done = celosia.protect(data, method).polars().with_columns(i=frame["i"])
        persons = done.group_by(*method.columns, *where.get("within", [])).agg(pl.col("i").n_unique())["i"]
        assert persons.min() >= 4
        assert len(persons) >= 5


def test_groups_of_households_hold_k_persons():
    """Two homes of one person are two households and one person."""
    homes = {"h": [1, 1, 2, 3, 3, 4], "i": [1, 1, 1, 2, 3, 4], "rent": [1.0, 1.0, 2.0, 8.0, 8.0, 9.0]}
    data = celosia.read(pl.DataFrame(homes), celosia.Schema.of(household="h", person="i"))
    assert celosia.protect(data, Microaggregate(columns=["rent"], k=2)).polars()["rent"].n_unique() == 1


def test_fewer_than_k_persons_are_refused():
    data = celosia.read(pl.DataFrame({"x": [1.0, 2.0, 3.0], "i": [1, 1, 2]}), celosia.Schema.of(person="i"))
    with pytest.raises(DataError, match="k is 3, but there are only 2 persons"):
        celosia.protect(data, Microaggregate(columns=["x"], k=3))


def test_households_are_grouped_as_one():
    homes = np.repeat(np.arange(8), 2)
    data = pl.DataFrame({"home": homes, "rent": (homes * 100.0)})
    table = celosia.read(data, celosia.Schema.of(quasi=["rent"], household="home"))
    done = celosia.protect(table, Microaggregate(columns=["rent"], k=4))
    assert done.history[-1]["groups"] == 2
    assert done.polars().group_by("rent").agg(pl.col("home").n_unique())["home"].min() == 4


@pytest.mark.parametrize(
    "method", [Microaggregate, VariableMicroaggregate, ProjectionMicroaggregate, IndividualRanking]
)
def test_bad_input_is_answered_exactly(method):
    data = pl.DataFrame({"x": [1.0, 2.0], "t": ["a", "b"], "inf": [float("inf"), 1.0], "c": [5.0, 5.0]})
    table = celosia.read(data)
    with pytest.raises(DataError, match=f"{method.name}: k is 3, but there are only 2 records"):
        celosia.protect(table, method(columns=["x"], k=3))
    with pytest.raises(DataError, match="'t' holds text or dates, but numbers are needed"):
        celosia.protect(table, method(columns=["t"], k=2))
    with pytest.raises(DataError, match="1 infinite values"):
        celosia.protect(table, method(columns=["inf"], k=2))
    with pytest.raises(ParameterError, match=f"{method.name}: k must be at least 2, got 1"):
        method(columns=["x"], k=1)
    assert celosia.protect(table, method(columns=["c"], k=2)).polars()["c"].to_list() == [5.0, 5.0]
    one = celosia.protect(celosia.read(pl.DataFrame({"x": [1.0, 2.0, 6.0]})), method(columns=["x"], k=2)).polars()
    assert one["x"].to_list() == [3.0] * 3, "k ≤ n < 2k is one group"
    few = pl.DataFrame({"x": [1.0, 2.0, 3.0, None], "y": [1.0, 2.0, 3.0, 4.0]})
    if method is not IndividualRanking:
        with pytest.raises(DataError, match="only 1 records with the same missing values"):
            celosia.protect(celosia.read(few), method(columns=["x", "y"], k=2))


def test_mixed_data_by_hand():
    data = pl.DataFrame(
        {
            "age": [20, 22, 24, 60, 64, 68],
            "size": ["S", "S", "M", "L", "L", "M"],
            "job": ["cook", "cook", "baker", "nurse", "judge", "nurse"],
        }
    )
    schema = celosia.Schema.of(quasi=data.columns, kinds={"size": "ordinal"}, orders={"size": ["S", "M", "L"]})
    done = celosia.protect(celosia.read(data, schema), MixedMicroaggregate(columns=data.columns, k=3))
    assert done.polars().rows() == [(22, "S", "cook")] * 3 + [(64, "L", "nurse")] * 3
    assert celosia.models.KAnonymity(k=3).holds(done)
    own = MixedMicroaggregate(columns=data.columns, k=3, aggregate={"age": "median", "job": "medoid"})
    assert celosia.protect(celosia.read(data, schema), own).polars()["age"].to_list() == [22] * 3 + [64] * 3


def test_words_and_sets_have_their_own_distances():
    data = pl.DataFrame({"name": ["anna", "anne", "bertha", "berta"], "tags": ["x|y", "z", "x|y|w", "z|q"]})
    by_name = celosia.protect(celosia.read(data), MixedMicroaggregate(columns=["name"], k=2, distance={"name": "edit"}))
    names = by_name.polars()["name"].to_list()
    assert names[0] == names[1] != names[2] == names[3]
    for how in ("jaccard", "cosine"):
        method = MixedMicroaggregate(columns=["tags"], k=2, distance={"tags": how})
        tags = celosia.protect(celosia.read(data), method).polars()["tags"].to_list()
        assert tags[0] == tags[2] != tags[1] == tags[3]


def test_mixed_groups_never_create_what_is_impossible():
    data = pl.DataFrame({"age": [10, 12, 40, 42], "status": ["single", "single", "married", "married"]})
    table = celosia.read(data)
    rule = "age < 30 AND status = 'married'"
    # the group of all four has the mean age 26 and the mode "married" (first of two)
    plain = celosia.protect(table, MixedMicroaggregate(columns=["age", "status"], k=4)).polars()
    assert set(plain.rows()) == {(26, "married")}
    method = MixedMicroaggregate(columns=["age", "status"], k=4, impossible=rule)
    made = celosia.protect(table, method).polars()
    assert set(made.rows()) == {(10, "single")}, "its first record stands for the group"
    never = MixedMicroaggregate(columns=["age"], k=4, impossible=[rule, "age > 30 AND status = 'single'"])
    with pytest.raises(RequirementError, match="add the columns of the condition to within"):
        celosia.protect(table, never)


@pytest.mark.parametrize("method", [Microaggregate, MixedMicroaggregate])
def test_whole_numbers_stay_whole_where_a_record_stands_for_its_group(method):
    ages = pl.DataFrame({"age": [1, 2, 4, None, 8, 9, 11, None]})
    medoid = "medoid" if method is Microaggregate else {"age": "medoid"}
    done = celosia.protect(celosia.read(ages), method(columns=["age"], k=2, aggregate=medoid)).polars()["age"]
    assert done.dtype == pl.Int64
    mean = celosia.protect(celosia.read(ages), method(columns=["age"], k=2)).polars()["age"]
    assert mean.sum() == 35
    assert mean.is_null().to_list() == ages["age"].is_null().to_list()
