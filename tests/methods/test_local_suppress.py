from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import ParameterError, RequirementError, UnknownName
from celosia.methods.suppression.local_suppress import LocalSuppress
from celosia.models.k_anonymity import KAnonymity

K7 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
FREE = ["REGION", "SEX", "AGE", "MARSTAT", "KINDPERS", "EDUC1"]


def open_table(path, keys, **more):
    return celosia.read(pl.read_csv(path, infer_schema_length=10_000), celosia.Schema.of(quasi=keys, **more))


def pairwise(protected, keys, reading):
    """Smallest frequency over all pairs of records, counted anew."""
    codes = np.column_stack([protected.codes(name)[0] for name in keys])
    least = len(codes)
    complete = (codes >= 0).all(axis=1)
    for row in np.unique(codes, axis=0):
        if reading == "category":
            found = (codes == row).all(axis=1)
        elif (row < 0).all():
            continue
        else:
            found = ((codes == row) | (codes < 0) | (row < 0)).all(axis=1)
            if reading == "conservative":
                found = (codes == row).all(axis=1) | (found & complete & bool((row < 0).any()))
        least = min(least, int(found.sum()))
    return least


@pytest.mark.parametrize(
    ("keys", "k", "reading", "cells"),
    [
        # at most what sdcMicro blanks; of category it says 150 records still violate k = 3
        (K7, 2, "wildcard", 157),
        (K7, 3, "wildcard", 293),
        (K7, 5, "wildcard", 500),
        (K7[:5], 3, "wildcard", 8),
        (K7, 3, "conservative", 333),
        (K7, 3, "category", 7 * 281),
    ],
)
def test_against_sdcmicro(shared, keys, k, reading, cells):
    original = open_table(shared("data/testdata.csv"), keys)
    protected = celosia.protect(original, LocalSuppress(k=k, missing=reading))
    evidence = protected.history[-1]
    assert evidence["cells"] <= cells
    assert evidence["cells"] == sum(protected.column(name).null_count() for name in keys)
    assert evidence["columns"] == {name: protected.column(name).null_count() for name in sorted(keys)}
    assert pairwise(protected, keys, reading) >= k
    assert KAnonymity(k=k).value(protected) >= k
    for name in keys:
        same = protected.column(name) == original.column(name)
        assert same.drop_nulls().all()


@pytest.mark.parametrize(("reading", "optimum"), [("wildcard", 146), ("conservative", 283)])
def test_proven_fewest_cells(shared, reading, optimum):
    original = open_table(shared("data/testdata.csv"), K7)
    evidence = celosia.protect(original, LocalSuppress(k=3, missing=reading, budget_seconds=60)).history[-1]
    assert evidence["optimal"]
    assert evidence["cells"] == evidence["lower_bound"] == optimum
    assert celosia.protect(original, LocalSuppress(k=3, missing=reading)).history[-1]["cells"] <= 1.1 * optimum


def test_free1(shared):
    original = open_table(shared("data/free1.csv"), FREE)
    protected = celosia.protect(original, LocalSuppress(k=3, missing="wildcard"))
    assert protected.history[-1]["cells"] <= 4388
    assert pairwise(protected, FREE, "wildcard") >= 3
    protected = celosia.protect(original, LocalSuppress(k=3))
    assert pairwise(protected, FREE, "category") >= 3


def test_hard_case(shared):
    keys = [*K7, "age"]
    original = open_table(shared("golden/sdcmicro/input_bench_n10000.csv.gz"), keys)
    protected = celosia.protect(original, LocalSuppress(k=3, missing="wildcard"))
    assert protected.history[-1]["cells"] <= 3695
    assert KAnonymity(k=3).value(protected) >= 3


def test_individual_risk(shared):
    original = open_table(shared("data/testdata.csv"), K7, weight="sampling_weight")
    protected = celosia.protect(original, LocalSuppress(risk=0.01, missing="wildcard"))
    assert protected.history[-1]["cells"] <= 157  # sdcMicro blanks the relation of every record above the limit
    assert celosia.risk.IndividualRisk().records(protected)["risk"].max() <= 0.01 + 1e-12
    assert celosia.risk.IndividualRisk().records(original)["risk"].max() > 0.01


def small(**more):
    data = {
        "sex": ["f", "f", "f", "m", "m", "m"],
        "zip": [1, 1, 2, 3, 3, 3],
        "job": ["a", "b", "b", "a", "a", "c"],
        "town": ["x", "x", "y", "z", "z", "z"],
    }
    return celosia.read(pl.DataFrame(data), celosia.Schema.of(quasi=["sex", "zip", "job"], **more))


@pytest.mark.parametrize("reading", ["category", "wildcard", "conservative"])
def test_linked_columns_with_missing_values(reading):
    keys = ["x", "y", "z"]
    for seed in range(30):
        rng = np.random.default_rng(seed)
        data = pl.DataFrame({name: rng.choice(["a", "b", None], 8, p=[0.4, 0.4, 0.2]).tolist() for name in keys})
        original = celosia.read(data, celosia.Schema.of(quasi=keys))
        done = celosia.protect(original, LocalSuppress(k=2, missing=reading, linked=[["x", "y"]]))
        assert pairwise(done, keys, reading) >= 2
        lost = [done.column(name).is_null() & data[name].is_not_null() for name in keys]
        # who loses one of the two has lost the other, or never had it
        assert (lost[0] <= done.column("y").is_null()).all()
        assert (lost[1] <= done.column("x").is_null()).all()


@pytest.mark.parametrize("reading", ["category", "wildcard", "conservative"])
def test_k_counts_persons_and_every_stratum_has_its_own(reading):
    keys = ["x", "y"]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = {name: rng.choice(["a", "b", None], 12, p=[0.5, 0.4, 0.1]).tolist() for name in keys}
        # north: three persons, one of them with seven rows; south: three with one row each
        frame = pl.DataFrame({**rows, "who": [1] * 7 + [2, 3] + [4, 5, 6], "area": ["n"] * 9 + ["s"] * 3})
        schema = celosia.Schema.of(quasi=keys, person="who", missing=dict.fromkeys(keys, reading))
        for k in (2, 3):
            whole = celosia.protect(celosia.read(frame, schema), LocalSuppress(k=k))
            assert KAnonymity(k=k).holds(whole)
            done = celosia.protect(celosia.read(frame, schema), LocalSuppress(k=k, within="area")).polars()
            for _, part in done.group_by("area"):
                assert KAnonymity(k=k).holds(celosia.read(part, schema))
        with pytest.raises(RequirementError, match="4 persons must be alike, but the smallest stratum"):
            celosia.protect(celosia.read(frame, schema), LocalSuppress(k=4, within="area"))


def test_classes_of_enough_persons_keep_their_cells():
    # three persons in each class: nothing lacks company, however many rows one of them has
    frame = pl.DataFrame({"q": ["a"] * 3 + ["b"] * 12, "who": [1, 2, 3, 5, 6] + [4] * 10})
    original = celosia.read(frame, celosia.Schema.of(quasi=["q"], person="who"))
    assert celosia.protect(original, LocalSuppress(k=3)).history[-1]["cells"] == 0
    # rows without an id are one person
    unknown = celosia.read(frame.with_columns(who=pl.when(pl.col("q") == "b").then("who")), original.schema)
    assert KAnonymity(k=3).holds(done := celosia.protect(unknown, LocalSuppress(k=3)))
    assert done.history[-1]["cells"] == 15


@pytest.mark.parametrize("reading", ["category", "wildcard", "conservative"])
def test_subsets_strata_and_linked_columns(reading):
    pairs = celosia.protect(small(), LocalSuppress(k=2, missing=reading, subsets=2))
    for keep in (["sex", "zip"], ["sex", "job"], ["zip", "job"]):
        assert pairwise(pairs, keep, reading) >= 2
    named = celosia.protect(small(), LocalSuppress(k=2, missing=reading, subsets=[["sex", "job"]]))
    assert pairwise(named, ["sex", "job"], reading) >= 2
    assert named.column("zip").null_count() == 0
    linked = celosia.protect(small(), LocalSuppress(k=2, missing=reading, linked=[["zip", "town"]]))
    assert linked.column("zip").is_null().to_list() == linked.column("town").is_null().to_list()
    strata = celosia.protect(small(), LocalSuppress(k=2, missing=reading, within="sex"))
    for value in "fm":
        part = strata.polars().filter(pl.col("sex") == value)
        inside = celosia.read(part, celosia.Schema.of(quasi=["zip", "job"]))
        assert pairwise(inside, ["zip", "job"], reading) >= 2
    assert strata.column("sex").null_count() == 0


def test_importance_spares_a_column(shared):
    original = open_table(shared("data/testdata.csv"), K7)
    plain = celosia.protect(original, LocalSuppress(k=3)).history[-1]["columns"]
    spared = celosia.protect(original, LocalSuppress(k=3, importance={"relat": 5})).history[-1]["columns"]
    assert spared["relat"] < plain["relat"] / 4


def test_persons_are_counted():
    data = {"zip": [1, 1, 1, 2, 2, 2, 3, 3], "who": ["a", "a", "b", "c", "c", "c", "d", "e"]}
    original = celosia.read(pl.DataFrame(data), celosia.Schema.of(quasi=["zip"], person="who"))
    protected = celosia.protect(original, LocalSuppress(k=2))
    assert KAnonymity(k=2).holds(protected)
    assert protected.polars().group_by("zip").agg(pl.col("who").n_unique())["who"].min() >= 2


def test_result_carries_its_reading():
    protected = celosia.protect(small(), LocalSuppress(k=2, missing="conservative"))
    assert {protected.schema[name].missing.value for name in ("sex", "zip", "job")} == {"conservative"}
    assert LocalSuppress(k=2).apply(small(missing={"zip": "wildcard"}), None).evidence["missing"] == "wildcard"


def test_same_on_every_engine(engine):
    data = small().polars()
    original = celosia.read(data, celosia.Schema.of(quasi=["sex", "zip", "job"]), engine=engine)
    expected = celosia.protect(small(), LocalSuppress(k=2)).polars()
    assert celosia.protect(original, LocalSuppress(k=2)).polars().equals(expected)
    assert original.polars().equals(data)


def test_refusals():
    with pytest.raises(RequirementError, match=r"7 records must be alike, but the table has 6\. At most 6"):
        celosia.protect(small(), LocalSuppress(k=7))
    with pytest.raises(RequirementError, match="the smallest stratum of 'sex' has 3"):
        celosia.protect(small(), LocalSuppress(k=4, within="sex"))
    with pytest.raises(RequirementError, match=r"risk of 0\.01 cannot be reached with 6 records"):
        celosia.protect(small(), LocalSuppress(risk=0.01))
    with pytest.raises(ParameterError, match="either k or risk"):
        LocalSuppress()
    with pytest.raises(ParameterError, match="either k or risk"):
        LocalSuppress(k=2, risk=0.1)
    with pytest.raises(ParameterError, match="importance must be above 0"):
        LocalSuppress(k=2, importance={"sex": -1})
    with pytest.raises(ParameterError, match="there are 3"):
        celosia.protect(small(), LocalSuppress(k=2, subsets=4))
    with pytest.raises(UnknownName, match="Did you mean 'zip'"):
        celosia.protect(small(), LocalSuppress(k=2, importance={"zipp": 2}))
    with pytest.raises(UnknownName, match="'towns'"):
        celosia.protect(small(), LocalSuppress(k=2, linked=[["zip", "towns"]]))
    with pytest.raises(ParameterError, match="needs a quasi-identifier"):
        celosia.protect(small(), LocalSuppress(k=2, linked=[["town"]]))
