"""Class-based risks: worked examples, by hand, and a slow second way."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.sources import ADULT

import celosia
from celosia.errors import NotApplicable, ParameterError, UnknownName
from celosia.parts import build
from celosia.risk.attacker_knows import AttackerKnows
from celosia.risk.homogeneity import Homogeneity
from celosia.risk.journalist import Journalist
from celosia.risk.marketer import Marketer
from celosia.risk.uniqueness import Uniqueness


def table(data, quasi, sensitive=(), **facts):
    return celosia.read(pl.DataFrame(data), celosia.Schema.of(quasi=quasi, sensitive=list(sensitive), **facts))


# -- what an intruder knows ----------------------------------------------------------------------------------------------

TABLE_3 = {
    "occupation": [
        *("Runner", "School teacher", "Police det.", "Professor", "Student"),
        *("Police capt.", "Boxer", "Horse rider", "Military lt."),
    ],
    "zip": ["80222", "40831", "97206", "40831", "40831", "97206", "80237", "80911", "97201"],
    "age": [42, 28, 51, 23, 12, 68, 30, 46, 55],
    "sex": ["M", "F", "M", "M", "F", "M", "F", "M", "F"],
    "income": [25050, 18098, 28760, 26062, 790, 30033, 55093, 17330, 15700],
}


@pytest.mark.parametrize(
    ("known", "matches"),
    [
        ({"occupation": "Military lt."}, [9]),
        ({"zip": "40831", "sex": "F"}, [2, 5]),
        ({"zip": 40831}, [2, 4, 5]),
        ({"sex": "F"}, [2, 5, 7, 9]),  # the source prints 0.2; four women are 0.25
        ({"age": "[40-60)", "sex": "M"}, [1, 3, 8]),
        ({"zip": "00000"}, []),
    ],
)
def test_table_3(engine, known, matches):
    schema = celosia.Schema.of(quasi=["occupation", "zip", "age", "sex"], sensitive=["income"])
    data = celosia.read(pl.DataFrame(TABLE_3), schema, engine=engine)
    risk = AttackerKnows(known=known)
    assert (np.flatnonzero(risk.candidates(data)) + 1).tolist() == matches
    assert risk.value(data) == (1 / len(matches) if matches else 0)
    found = risk.evidence(data)
    assert found["identity"] is (len(matches) == 1)
    assert ("income" in found["disclosed"]) is (len(matches) == 1)
    assert risk.records(data)["risk"].sum() == pytest.approx(1.0 if matches else 0.0)


TABLE_23 = {
    "occupation": ["Sports", "Education", "Law", "Education", "Education", "Law", "Sports", "Sports", "Law"],
    "zip": ["80***", "40***", "97***", "40***", "97***", "97***", "80***", "80***", "97***"],
    "age": ["[30, 49]", "[10, 29]", "[50, 69]", "[10, 29]", "[10, 29]", "[50, 69]", "[30, 49]", "[30, 49]", "[50, 69]"],
    "marital": [
        *("Married", "{Divorced, Widow/er}", "{Divorced, Widow/er}", "Married", "Single", "Single"),
        *("{Divorced, Widow/er}", "Married", "Single"),
    ],
    "income": [25050, 18098, 28760, 26062, 790, 30033, 55093, 17330, 15700],
}


def test_table_23_keating_and_thackeray():
    data = table(TABLE_23, ["occupation", "zip", "age", "marital"], ["income"])
    keating = AttackerKnows(known={"occupation": "Education", "zip": "970**"})
    assert (np.flatnonzero(keating.candidates(data)) + 1).tolist() == [5]
    assert keating.evidence(data)["identity"]
    assert keating.remaining_values(data)["income"] == {"790": 1}
    thackeray = AttackerKnows(known={"occupation": "Education", "zip": "400**"})
    assert (np.flatnonzero(thackeray.candidates(data)) + 1).tolist() == [2, 4]
    assert set(thackeray.remaining_values(data)["income"]) == {"18098", "26062"}
    assert "age" in thackeray.evidence(data)["disclosed"]
    widow = AttackerKnows(known={"marital": "Widow/er", "zip": 40555})
    assert (np.flatnonzero(widow.candidates(data)) + 1).tolist() == [2]


def patients(diseases):
    ages = ["<30"] * 4 + [">40"] * 4 + ["30-40"] * 4
    data = {"zip": ["130**"] * 4 + ["1485*"] * 4 + ["130**"] * 4, "age": ages, "nationality": ["*"] * 12}
    return table({**data, "disease": diseases}, ["zip", "age", "nationality"], ["disease"])


T4 = ["Heart", "Heart", "Flu", "Flu", "Cancer", "Heart", "Flu", "Flu"] + ["Cancer"] * 4
T6 = ["Heart", "Diabetes", "Cancer", "Flu", "Cancer", "Heart", "Flu", "Flu"] + ["Cancer"] * 4


def test_homogeneity_attack_on_bob():
    bob = AttackerKnows(known={"zip": "13053", "age": 35})
    assert bob.remaining_values(patients(T4))["disease"] == {"Cancer": 4}
    assert "disease" in bob.evidence(patients(T4))["disclosed"]
    assert bob.value(patients(T4)) == 0.25


def test_background_knowledge_about_umeko():
    umeko = AttackerKnows(known={"zip": "13068", "age": 24, "nationality": "Japan"}, excluded={"disease": ["Heart"]})
    assert umeko.remaining_values(patients(T4))["disease"] == {"Flu": 2}


def test_facts_one_by_one():
    left = []
    facts: list[str] = []
    for fact in (None, "Cancer", "Heart", "Diabetes"):
        facts = [*facts, fact] if fact else facts
        known = AttackerKnows(known={"zip": "13068", "age": 24}, excluded={"disease": facts})
        left.append(known.evidence(patients(T6))["remaining"]["disease"])
    assert left == [4, 3, 2, 1]


def test_knowledge_is_matched_through_the_hierarchy():
    jobs = {"Artist": ["Writer", "Dancer"], "Professional": ["Engineer", "Lawyer"]}
    data = table({"job": ["Artist", "Professional", "Artist"]}, ["job"], hierarchies={"job": jobs})
    assert AttackerKnows(known={"job": "Dancer"}).candidates(data).tolist() == [True, False, True]
    raw = table({"job": ["Writer", "Lawyer", "Dancer"]}, ["job"], hierarchies={"job": jobs})
    assert AttackerKnows(known={"job": "Artist"}).candidates(raw).tolist() == [True, False, True]


def test_excluded_generalised_cells():
    data = table({"m": ["{a, b}", "a", "c"]}, ["m"])
    assert AttackerKnows(excluded={"m": ["a"]}).candidates(data).tolist() == [True, False, True]
    assert AttackerKnows(excluded={"m": ["a", "b"]}).candidates(data).tolist() == [False, False, True]


def test_knowledge_refusals():
    with pytest.raises(ParameterError, match="at least one column"):
        AttackerKnows()
    with pytest.raises(UnknownName, match=r"no column named 'zipp'. Did you mean 'zip'"):
        AttackerKnows(known={"zipp": 1}).value(patients(T4))
    risk = AttackerKnows(known={"zip": "13053"}, excluded={"disease": ["Flu"]})
    assert build("risk", str(risk)) == risk


# -- homogeneity ---------------------------------------------------------------------------------------------------------


def test_homogeneity_lists_disclosing_classes(engine):
    ages = ["<30"] * 4 + [">40"] * 4 + ["30-40"] * 4
    schema = celosia.Schema.of(quasi=["age"], sensitive=["disease"])
    data = celosia.read(pl.DataFrame({"age": ages, "disease": T6}), schema, engine=engine)
    risk = Homogeneity()
    assert risk.value(data) == pytest.approx(4 / 12)
    assert risk.classes(data).select("age", "size", "value", "share", "facts").rows() == [
        ("30-40", 4, "Cancer", 1.0, 0)
    ]
    assert risk.records(data)["disclosed"].to_list() == [False] * 8 + [True] * 4
    # a class with d values is disclosed by d - 1 facts
    assert risk.records(data)["facts"].to_list() == [3] * 4 + [2] * 4 + [0] * 4
    assert Homogeneity(share=0.5).value(data) == pytest.approx(8 / 12)
    assert risk.evidence(data)["facts"] == 0


def test_homogeneity_of_table_5():
    data = table({"job": ["T"] * 3 + ["W"] * 3, "income": [10000] * 3 + [28000, 25000, 23000]}, ["job"], ["income"])
    assert Homogeneity().classes(data)["value"].to_list() == ["10000"]


# -- populations ---------------------------------------------------------------------------------------------------------

PEOPLE = pl.DataFrame({"age": [31, 35, 38, 42, 47]})


def test_journalist_and_marketer_by_hand(engine):
    data = celosia.read(
        pl.DataFrame({"age": ["30-39", "40-49", "30-39"]}), celosia.Schema.of(quasi=["age"]), engine=engine
    )
    journalist, marketer = Journalist(population=PEOPLE), Marketer(population=PEOPLE)
    assert journalist.records(data)["F"].to_list() == [3, 2, 3]
    assert journalist.value(data) == 0.5
    assert journalist.evidence(data)["average"] == pytest.approx((1 / 3 + 1 / 2 + 1 / 3) / 3)
    assert marketer.value(data) == pytest.approx((2 / 3 + 1 / 2) / 3)  # (1/n) sum |E| / F
    assert Journalist(size=30).value(data) == pytest.approx(1 / 10)  # f N / n = 1 * 30 / 3
    assert Marketer().value(data) == pytest.approx(2 / 3)
    assert Marketer(size=30).evidence(data)["expected"] == pytest.approx(2 / 10)


def test_journalist_with_weights():
    schema = celosia.Schema.of(quasi=["age"], weight="w")
    data = celosia.read(pl.DataFrame({"age": [1, 1, 2], "w": [10.0, 30.0, 5.0]}), schema)
    assert Journalist().records(data)["F"].to_list() == [40, 40, 5]
    assert Journalist().value(data) == 0.2


def test_marketer_counts_persons(engine):
    # class 1: person a with three rows; class 2: a again, b with two rows, c
    data = pl.DataFrame({"age": [1, 1, 1, 2, 2, 2, 2], "who": list("aaaabbc"), "w": [5.0, 5, 5, 5, 20, 20, 15]})
    alone = celosia.read(data, celosia.Schema.of(quasi=["age"], person="who"), engine=engine)
    # two classes over the four persons in them; by rows it would be (3 + 4/3) / 7
    assert Marketer().value(alone) == pytest.approx(2 / 4)
    assert Marketer().evidence(alone) == {"value": 0.5, "expected": pytest.approx(2), "records": 4}
    weighted = celosia.read(data, celosia.Schema.of(quasi=["age"], person="who", weight="w"), engine=engine)
    # a stands for 5 people, b for 20, c for 15: F is 5 and 40, not 15 and 60
    assert Journalist().records(weighted)["F"].to_list() == [5, 5, 5, 40, 40, 40, 40]
    assert Marketer().value(weighted) == pytest.approx((1 / 5 + 3 / 40) / 4)
    assert Marketer().records(weighted)["risk"].to_list() == pytest.approx([1 / 5] * 3 + [1 / 40] * 4)
    # three persons of thirty: every person stands for ten
    assert Marketer(size=30).value(alone) == pytest.approx((1 / 10 + 3 / 30) / 4)
    with pytest.raises(ParameterError, match="at least the 3 persons"):
        Marketer(size=2).value(alone)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from([1, 2, None]), st.integers(0, 4)), min_size=1, max_size=25
    ),
    st.booleans(),
    st.booleans(),
)
def test_marketer_class_by_class(rows, persons, weighted):
    data = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64, "id": pl.Int64}, orient="row")
    data = data.with_columns(w=pl.col("id") * 3.5 + 1)
    schema = celosia.Schema.of(quasi=["x", "y"], person="id" if persons else None, weight="w" if weighted else None)
    classes: dict[tuple, list] = {}
    for i, (x, y, who) in enumerate(rows):
        classes.setdefault((x, y), []).append((who, 0 if persons else i))
    sample = [len(set(members)) for members in classes.values()]
    people = [
        sum(3.5 * who + 1 for who, _ in set(members)) if weighted else len(set(members)) for members in classes.values()
    ]
    expected = sum(f / F for f, F in zip(sample, people, strict=True))
    found = Marketer().evidence(celosia.read(data, schema))
    assert found["value"] == pytest.approx(expected / sum(sample))
    assert found["expected"] == pytest.approx(expected)
    assert found["records"] == sum(sample)


def test_populations_are_needed():
    data = table({"age": [1, 1, 2]}, ["age"])
    with pytest.raises(NotApplicable, match="give the population"):
        Journalist().value(data)
    with pytest.raises(ParameterError, match="at least the 3 rows"):
        Journalist(size=2).value(data)


def test_suppressed_records_have_no_risk():
    data = table({"age": ["1", "1", "2"]}, ["age"])
    safe = celosia.protect(data, celosia.methods.SuppressRecords(require=["k-anonymity(k=2)"]), seed=1)
    assert Marketer().records(safe)["risk"].to_list() == [0.5, 0.5, 0]
    assert Marketer().value(safe) == 0.5
    assert Uniqueness().value(safe) == 0


# -- uniqueness ----------------------------------------------------------------------------------------------------------


def test_uniqueness_of_table_3():
    data = table(TABLE_3, ["occupation", "zip", "age", "sex"])
    profile = {row["columns"]: row for row in Uniqueness().profile(data).iter_rows(named=True)}
    assert profile["occupation"]["unique"] == 1
    assert profile["zip"]["unique"] == pytest.approx(4 / 9)
    assert profile["sex"]["smallest"] == 4
    assert profile["zip, sex"]["unique"] == pytest.approx(5 / 9)
    assert len(profile) == 15
    assert Uniqueness().evidence(data)["by_size"][1] == 1


def test_separation_by_hand():
    """Of the six pairs of four records one is alike on age, two on sex, none on both."""
    data = table({"age": [1, 1, 2, 3], "sex": ["F", "M", "F", "M"]}, ["age", "sex"])
    found = {row["columns"]: row["separation"] for row in Uniqueness().profile(data).iter_rows(named=True)}
    assert found == pytest.approx({"age": 5 / 6, "sex": 4 / 6, "age, sex": 1})


def test_all_511_subsets_of_adult(shared):
    data = pl.read_csv(shared("data/adult/adult.csv"), separator=";")
    adult = celosia.read(data, celosia.Schema.of(quasi=list(ADULT)))
    profile = Uniqueness().profile(adult)
    assert len(profile) == 511
    last = profile.row(-1, named=True)
    assert last["classes"] == 19502
    assert last["unique"] == pytest.approx(0.514, abs=5e-4)
    assert last["distinction"] == pytest.approx(0.6466, abs=5e-5)
    assert last["separation"] == pytest.approx(0.99991, abs=5e-6)


def test_too_many_subsets_are_refused():
    wide = table({f"c{i}": [1] for i in range(14)}, [f"c{i}" for i in range(14)])
    with pytest.raises(NotApplicable, match="16383 subsets, more than 5000; give `largest`"):
        Uniqueness().profile(wide)
    assert len(Uniqueness(largest=2).profile(wide)) == 14 + 91


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from([1, 2, None]), st.booleans(), st.integers(0, 3)),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
)
def test_profile_by_counting_records(rows, persons):
    names = ["x", "y", "z"]
    data = pl.DataFrame(rows, schema=["x", "y", "z", "id"], orient="row")
    schema = celosia.Schema.of(quasi=names, person="id" if persons else None)
    found = Uniqueness().profile(celosia.read(data, schema)).rows(named=True)
    subsets = [s for size in (1, 2, 3) for s in combinations(range(3), size)]
    for row, subset in zip(found, subsets, strict=True):
        members: dict[tuple, list] = {}
        for record in rows:
            members.setdefault(tuple(record[i] for i in subset), []).append(record[3])
        sizes = [len(set(m)) if persons else len(m) for m in members.values()]
        assert row["classes"] == len(sizes)
        assert row["smallest"] == min(sizes)
        assert row["unique"] == pytest.approx(sizes.count(1) / sum(sizes))
