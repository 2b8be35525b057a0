from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, ParameterError, RequirementError, SchemaError, UnknownName
from celosia.methods.generalisation.anatomise import Anatomise
from celosia.methods.generalisation.permute import Permute
from celosia.views.estimates import estimated_count

# the ten patients of the lecture: rows 1-6 are its group 1, rows 7-10 its group 2
AGE = [30, 30, 30, 32, 32, 32, 36, 38, 38, 38]
SEX = ["Male"] * 6 + ["Female"] * 4
DISEASE = ["Hepatitis", "Hepatitis", "HIV", "Hepatitis", "HIV", "HIV", "COVID", "COVID", "Heart", "Heart"]
HEART = ({"age": 38}, {"disease": "Heart"})


def patients(engine="polars"):
    data = pl.DataFrame({"age": AGE, "sex": SEX, "disease": DISEASE})
    return celosia.read(data, celosia.Schema.of(quasi=["age", "sex"], sensitive=["disease"]), engine=engine)


def second(protected, name="sensitive"):
    return protected.private_history[-1]["tables"][name].polars()


def test_the_lecture(engine):
    protected = celosia.protect(patients(engine), Anatomise(l=2))
    assert protected.polars()["group"].to_list() == [1] * 6 + [2] * 4
    assert protected.names == ("age", "sex", "group")
    assert set(second(protected).rows()) == {
        (1, "Hepatitis", 3),
        (1, "HIV", 3),
        (2, "COVID", 2),
        (2, "Heart", 2),
    }
    assert protected.history[-1]["tables"] == ["sensitive"]
    assert estimated_count(patients(), *HEART) == 2.0
    assert estimated_count(protected, *HEART) == 1.5


def test_the_lecture_generalised():
    cells = ["[30-35)"] * 6 + ["[35-40)"] * 4
    data = pl.DataFrame({"age": cells, "sex": SEX, "disease": DISEASE})
    schema = celosia.Schema.of(quasi=["age", "sex"], sensitive=["disease"], kinds={"age": "nominal"})
    assert estimated_count(celosia.read(data, schema), *HEART) == 0.4


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from(["near", "buckets"]))
def test_no_value_exceeds_its_share(seed, l, groups):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    values = rng.integers(0, 6, n)
    data = pl.DataFrame({"age": rng.integers(0, 20, n), "s": values})
    original = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["s"]))
    most = np.bincount(values).max()
    if most * l > n:
        with pytest.raises(RequirementError, match=rf"one value has {most} of the {n} records. l = {n // most} can"):
            celosia.protect(original, Anatomise(l=l, groups=groups))
        return
    protected = celosia.protect(original, Anatomise(l=l, groups=groups), seed=seed)
    counts = second(protected)
    sizes = protected.polars().group_by("group").len()
    joined = counts.join(sizes, on="group")
    assert (joined["count"] * l <= joined["len"]).all()
    assert counts["count"].sum() == n
    assert counts.group_by("s").agg(pl.col("count").sum()).sort("s").rows() == data.group_by("s").len().sort("s").rows()
    shuffled = celosia.protect(original, Permute(l=l, groups=groups), seed=seed).polars()
    assert shuffled["age"].to_list() == data["age"].to_list()
    assert sorted(shuffled["s"]) == sorted(values)


def test_buckets_are_as_small_as_possible():
    protected = celosia.protect(patients(), Anatomise(l=3, groups="buckets"), seed=4)
    sizes = protected.polars()["group"].value_counts()["count"]
    assert sizes.min() == 3  # ten records: two groups of three and one of four
    assert sizes.max() == 4
    assert protected.history[-1]["reconstruction_error"]["disease"] == pytest.approx((6 * 2 / 3 + 4 * 3 / 4) / 10)


def test_permutation_inside_groups():
    protected = celosia.protect(patients(), Permute(l=2), seed=2).polars()
    assert sorted(protected["disease"][:6]) == sorted(DISEASE[:6])
    assert sorted(protected["disease"][6:]) == sorted(DISEASE[6:])
    assert protected.drop("disease").equals(patients().polars().drop("disease"))
    assert celosia.protect(patients(), Permute(l=2), seed=2).polars().equals(protected)


def test_permutation_is_uniform():
    # "38 and Heart" in group 2 has the expectation 3 * 2/4 = 1.5 over all shuffles: 1 and 2 come evenly
    copies = 2000
    data = pl.DataFrame(
        {
            "copy": np.repeat(np.arange(copies), 4),
            "age": AGE[6:] * copies,
            "disease": DISEASE[6:] * copies,
        }
    )
    original = celosia.read(data, celosia.Schema.of(quasi=["copy"], sensitive=["disease"]))
    shuffled = celosia.protect(original, Permute(), seed=9).polars()
    hit = shuffled.group_by("copy").agg(((pl.col("age") == 38) & (pl.col("disease") == "Heart")).sum().alias("n"))
    counts = hit["n"].to_numpy()
    error = counts.std() / np.sqrt(copies)
    assert set(counts) == {1, 2}
    assert abs(counts.mean() - 1.5) < 4 * error
    assert abs(counts.mean() - 0.7 * 1.5) > 8 * error
    assert abs(counts.mean() - 1.3 * 1.5) > 8 * error


def test_permutation_inside_classes():
    protected = celosia.protect(patients(), Permute(), seed=3)
    assert sorted(protected.polars()["disease"][:3]) == sorted(DISEASE[:3])
    assert protected.polars()["disease"][6] == "COVID"  # alone in its class
    assert protected.history[-1]["alone"] == 1


def test_columns_together_or_apart():
    data = pl.DataFrame({"age": [1] * 40, "a": list(range(40)), "b": list(range(40))})
    original = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["a", "b"]))
    joint = celosia.protect(original, Permute(), seed=1).polars()
    assert joint["a"].to_list() == joint["b"].to_list() != data["a"].to_list()
    apart = celosia.protect(original, Permute(together=False), seed=1).polars()
    assert apart["a"].to_list() != apart["b"].to_list()


def test_several_sensitive_columns():
    data = pl.DataFrame({"age": [1, 2, 3, 4], "a": ["x", "y", "x", "y"], "b": [1, 1, 2, 2]})
    original = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["a", "b"]))
    protected = celosia.protect(original, Anatomise(l=2))
    assert protected.names == ("age", "group")
    assert second(protected, "sensitive_a")["count"].sum() == 4
    assert estimated_count(protected, {"age": [1, 2]}, {"b": 1}) == 1.0
    only = celosia.protect(original, Anatomise(l=2, columns=["a"]))
    assert only.names == ("age", "group")  # the other sensitive column does not slip through


def test_estimates_on_other_cells():
    tree = [["flu", "lung", "*"], ["asthma", "lung", "*"], ["ulcer", "gut", "*"]]
    data = pl.DataFrame(
        {"why": ["lung", "flu", "*", "{flu, ulcer}"], "age": ["*", "5", "[1, 4]", "(1-4]"], "s": ["y"] * 4}
    )
    schema = celosia.Schema.of(
        quasi=["why", "age"],
        sensitive=["s"],
        hierarchies={"why": tree},
        bounds={"age": (0, 9)},
        kinds={"age": "numeric"},
    )
    table = celosia.read(data, schema)
    assert estimated_count(table, {"why": "flu"}, {"s": "y"}) == pytest.approx(1 / 2 + 1 + 1 / 3 + 1 / 2)
    assert estimated_count(table, {"age": [2, 5]}, {"s": "y"}) == pytest.approx(2 / 10 + 1 + 1 / 4 + 1 / 3)
    assert estimated_count(table, {"age": [2, 5]}, {"s": "n"}) == 0


def visits(persons, values):
    data = pl.DataFrame({"age": list(range(len(persons))), "disease": values, "i": persons})
    return celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["disease"], person="i"))


@pytest.mark.parametrize("groups", ["near", "buckets"])
def test_nobody_is_twice_in_a_group(groups):
    """With several sensitive columns, records without an id, and persons with up to five records."""
    rng = np.random.default_rng(5)
    person = [None if p == 0 else int(p) for p in np.repeat(np.arange(200), rng.integers(1, 6, 200))]
    n = len(person)
    data = pl.DataFrame({"age": rng.integers(20, 80, n), "a": rng.integers(0, 6, n), "b": rng.integers(0, 7, n)})
    names = ["a", "b"] if groups == "near" else ["a"]
    schema = celosia.Schema.of(quasi=["age"], sensitive=names, person="i")
    table = celosia.read(data.with_columns(i=pl.Series(person)), schema)
    done = celosia.protect(table, Anatomise(l=3, groups=groups), seed=1)
    found = data.with_columns(group=done.polars()["group"], i=pl.Series(person))
    assert found["group"].n_unique() > 10
    for (_,), rows in found.group_by("group"):
        assert rows["i"].is_unique().all()
        for name in names:
            assert rows[name].value_counts()["count"].max() * 3 <= len(rows)


def test_a_person_with_too_many_records_is_refused():
    with pytest.raises(RequirementError, match="One person has 3 records, which must go to 3 different groups"):
        celosia.protect(visits([1, 1, 1, 2, 3], list("abcde")), Anatomise(l=2))


def test_classes_of_one_person_are_counted_as_alone():
    data = pl.DataFrame({"age": [30, 30, 50, 50], "disease": list("abab"), "i": [1, 1, 2, 3]})
    table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["disease"], person="i"))
    assert celosia.protect(table, Permute(), seed=1).history[-1]["alone"] == 1


def test_refusals():
    named = celosia.read(
        pl.DataFrame({"age": [1, 2], "group": [1, 2], "s": ["a", "b"]}),
        celosia.Schema.of(quasi=["age"], sensitive=["s"]),
    )
    with pytest.raises(DataError, match="already has a column 'group'"):
        celosia.protect(named, Anatomise(l=2))
    with pytest.raises(ParameterError, match="one sensitive column"):
        estimated_count(patients(), {}, {})
    with pytest.raises(UnknownName, match="'diseases'"):
        estimated_count(celosia.protect(patients(), Anatomise(l=2)), {}, {"diseases": "Heart"})
    stars = celosia.read(pl.DataFrame({"age": ["*"], "s": ["a"]}), celosia.Schema.of(quasi=["age"], sensitive=["s"]))
    with pytest.raises(SchemaError, match="declare a hierarchy"):
        estimated_count(stars, {"age": 3}, {"s": "a"})
    two = celosia.read(
        pl.DataFrame({"age": [1, 2], "a": ["x", "y"], "b": ["x", "y"]}),
        celosia.Schema.of(quasi=["age"], sensitive=["a", "b"]),
    )
    with pytest.raises(ParameterError, match="works with one sensitive column"):
        celosia.protect(two, Anatomise(l=2, groups="buckets"))


def test_a_measure_of_the_values_that_were_set_apart_is_refused_with_the_reason():
    safe = celosia.protect(patients(), Anatomise(l=2))
    with pytest.raises(SchemaError, match=r"the table has no sensitive column.*anatomise"):
        celosia.risk.Homogeneity().value(safe)
