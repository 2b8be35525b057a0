"""Models judged on classes: worked examples, extremes, refusals."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError, SchemaError
from celosia.models.alpha_k import AlphaK
from celosia.models.average_risk import AverageRisk
from celosia.models.beta_likeness import BetaLikeness
from celosia.models.delta_disclosure import DeltaDisclosure
from celosia.models.delta_presence import DeltaPresence
from celosia.models.k_anonymity import KAnonymity
from celosia.models.k_map import KMap, largest_accepted_k, smallest_accepted_size
from celosia.models.l_diversity import LDiversity
from celosia.models.sample_uniqueness import SampleUniqueness
from celosia.models.t_closeness import TCloseness
from celosia.parts import build, describe, refuse_other_views, search_hints


def table(data, quasi, sensitive=(), **facts):
    return celosia.read(pl.DataFrame(data), celosia.Schema.of(quasi=quasi, sensitive=list(sensitive), **facts))


# -- worked examples: fuzzy-privacy thesis, examples 2.10, 2.19 and 2.25 ------------------------------------------------

PATIENTS = {
    "zip": [47677, 47602, 47678, 47905, 47979, 47906, 47973, 47607, 47906, 47925, 47923, 47923],
    "age": [29, 22, 27, 43, 52, 47, 36, 32, 55, 56, 61, 67],
    "disease": [
        *("gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis"),
        *("pneumonia", "stomach cancer", "heart attack", "heart attack", "angina pectoris", "pneumonia"),
    ],
}


def test_example_2_10_and_2_19():
    from celosia.hierarchy.intervals import Intervals
    from celosia.hierarchy.prefixes import Prefixes

    ages = Intervals(breaks=(32, 52), right=True)
    raw = table(PATIENTS, ["zip", "age"], ["disease"], hierarchies={"zip": Prefixes(masked=(2,)), "age": ages})
    recode = celosia.methods.Recode
    safe = celosia.protect(raw, recode(column="zip", level=1), recode(column="age", level=1), seed=1)
    assert KAnonymity(k=4).value(safe) == 4
    assert KAnonymity(k=4).classes(safe)["size"].to_list() == [4, 4, 4]
    assert LDiversity(l=3).value(safe) == 3
    assert sorted(LDiversity(l=3).classes(safe)["l"].to_list()) == [3, 3, 4]
    assert LDiversity(l=2, variant="entropy").value(safe) == pytest.approx(math.exp(1.0397207708))


NINE = {
    "zip": ["476**"] * 3 + ["479**"] * 3 + ["476**"] * 3,
    "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
    "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
    "disease": [
        *("gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis"),
        *("bronchitis", "pneumonia", "stomach cancer"),
    ],
}


def test_example_2_25(engine):
    schema = celosia.Schema.of(quasi=["zip", "age"], sensitive=["salary", "disease"])
    nine = celosia.read(pl.DataFrame(NINE), schema, engine=engine)
    salary = TCloseness(t=0.375, column="salary", distance="ordered")
    assert KAnonymity(k=3).value(nine) == 3
    assert LDiversity(l=3).value(nine) == 3
    assert salary.value(nine) == 0.375
    assert salary.holds(nine)
    by_age = dict(salary.classes(nine).select("age", "t").rows())
    assert by_age == {"2*": 0.375, ">=40": pytest.approx(1 / 6), "3*": pytest.approx(17 / 72)}
    assert TCloseness(t=1, column="salary", distance="ordered", aggregate="min").value(nine) == pytest.approx(1 / 6)
    assert TCloseness(t=1, column="disease").classes(nine)["t"].to_list() == pytest.approx([4 / 9] * 3)
    # each on its own: the largest over the columns
    assert TCloseness(t=1).value(nine) == pytest.approx(6 / 9)


# -- worked examples: introduction to privacy, tables 4 to 6, 16, 23 -----------------------------------------------------

JOBS = ["Teacher"] * 3 + ["Writer"] * 3
CODES = ["80100"] * 3 + ["97222"] * 3
SEXES = ["M"] * 3 + ["F"] * 3
INCOMES = {
    4: [10000, 18098, 20100, 28000, 30000, 9210],
    5: [10000, 10000, 10000, 28000, 25000, 23000],
    6: [10000, 20000, 10000, 28000, 25000, 23000],
}


def income(number):
    data = {"occupation": JOBS, "zip": CODES, "sex": SEXES, "income": INCOMES[number]}
    return table(data, ["occupation", "zip", "sex"], ["income"])


@pytest.mark.parametrize(
    ("number", "distinct", "entropy", "ordered", "equal"),
    [(4, 3, 3, 1 / 6, 1 / 2), (5, 1, 1, 1 / 3, 1 / 2), (6, 2, 1.88988157484231, 1 / 3, 1 / 2)],
)
def test_tables_4_to_6(number, distinct, entropy, ordered, equal):
    data = income(number)
    assert KAnonymity(k=3).value(data) == 3
    assert LDiversity(l=1).value(data) == distinct
    assert LDiversity(l=1, variant="entropy").value(data) == pytest.approx(entropy, abs=1e-12)
    assert LDiversity(l=distinct, variant="entropy").holds(data) is (number != 6)
    assert TCloseness(t=1, distance="ordered").value(data) == pytest.approx(ordered, abs=1e-12)
    assert TCloseness(t=1).value(data) == pytest.approx(equal)


def test_recursive_diversity_of_table_6():
    data = income(6)
    assert LDiversity(l=2, variant="recursive", c=3).holds(data)  # 2 < 3 * 1 and 1 < 3 * (1 + 1)
    assert not LDiversity(l=2, variant="recursive", c=2).holds(data)  # 2 < 2 is false
    assert LDiversity(l=2, variant="recursive", c=2.001).holds(data)
    assert not LDiversity(l=3, variant="recursive", c=1000).holds(data)


TABLE_16 = {
    "occupation": ["Sports", "Education", "Law", "Education", "Education", "Law", "Sports", "Sports", "Law"],
    "zip": ["80***", "40***", "97***", "40***", "40***", "97***", "80***", "80***", "97***"],
    "age": ["[30, 49]", "[10, 29]", "[50, 69]", "[10, 29]", "[10, 29]", "[50, 69]", "[30, 49]", "[30, 49]", "[50, 69]"],
    "marital": ["M", "DW", "DW", "M", "S", "S", "DW", "M", "S"],
}


def test_table_16_is_3_anonymous_without_marital_status_only():
    assert KAnonymity(k=3).value(table(TABLE_16, ["occupation", "zip", "age"])) == 3
    four = table(TABLE_16, list(TABLE_16))
    assert KAnonymity(k=3).value(four) == 1
    assert sorted(KAnonymity(k=3).classes(four)["size"].to_list()) == [1, 1, 1, 1, 1, 2, 2]


def test_table_23():
    zips = [*TABLE_16["zip"]]
    zips[4] = "97***"
    assert KAnonymity(k=2).value(table({**TABLE_16, "zip": zips}, list(TABLE_16))) == 1


# -- worked examples: the lecture's twelve patients ----------------------------------------------------------------------

DISEASES = {
    4: ["Heart", "Heart", "Flu", "Flu", "Cancer", "Heart", "Flu", "Flu"] + ["Cancer"] * 4,
    6: ["Heart", "Diabetes", "Cancer", "Flu", "Cancer", "Heart", "Flu", "Flu"] + ["Cancer"] * 4,
}
ZIPS = ["130**"] * 4 + ["1485*"] * 4 + ["130**"] * 4
AGES = ["<30"] * 4 + [">40"] * 4 + ["30-40"] * 4


def twelve(number, ages=AGES):
    data = {"zip": ZIPS, "age": ages, "nationality": ["*"] * 12, "disease": DISEASES[number]}
    return table(data, ["zip", "age", "nationality"], ["disease"])


def test_twelve_patients():
    assert (KAnonymity(k=4).value(twelve(4)), LDiversity(l=1).value(twelve(4))) == (4, 1)
    wider = twelve(4, [a if a == ">40" else "<=40" for a in AGES])
    assert (KAnonymity(k=4).value(wider), LDiversity(l=3).value(wider)) == (4, 3)
    assert LDiversity(l=1).value(twelve(6)) == 1
    assert sorted(LDiversity(l=1).classes(twelve(6))["l"].to_list()) == [1, 3, 4]


# -- the other models, by hand -------------------------------------------------------------------------------------------

# class a: flu flu flu heart, class b: flu heart heart heart; q = (1/2, 1/2)
MIXED = {"zip": ["a"] * 4 + ["b"] * 4, "disease": ["flu"] * 3 + ["heart"] + ["flu"] + ["heart"] * 3}


def test_alpha_k():
    data = table(MIXED, ["zip"], ["disease"])
    assert AlphaK(alpha=0.75, k=4).value(data) == 0.75
    assert AlphaK(alpha=0.75, k=4).holds(data)
    assert not AlphaK(alpha=0.75, k=5).holds(data)
    assert not AlphaK(alpha=0.7, k=4).holds(data)


def test_beta_and_delta():
    data = table(MIXED, ["zip"], ["disease"])
    assert BetaLikeness(beta=0.5).value(data) == 0.5  # (3/4 - 1/2) / (1/2)
    assert BetaLikeness(beta=0.5).holds(data)
    assert BetaLikeness(beta=0.5, enhanced=True).value(data) == 0.5  # -ln(1/2) = 0.69 allows it
    assert DeltaDisclosure(delta=1).value(data) == 1  # log2((1/4) / (1/2))
    assert not DeltaDisclosure(delta=1).holds(data)  # the bound is strict
    assert DeltaDisclosure(delta=1.01).holds(data)
    assert not DeltaDisclosure(delta=1).judge(data.class_counts(["disease"])).any()


def test_enhanced_beta_protects_frequent_values():
    data = table({"zip": ["a", "a", "b", "b"], "disease": ["flu", "flu", "flu", "heart"]}, ["zip"], ["disease"])
    # flu: q = 3/4, p = 1, gain 1/3 > -ln(3/4) = 0.288
    assert BetaLikeness(beta=5, enhanced=True).value(data) == math.inf
    assert BetaLikeness(beta=5).value(data) == 1


def test_average_risk():
    data = table({"age": [30, 30, 30, 31]}, ["age"])
    assert AverageRisk(risk=0.5).value(data) == 0.5
    assert AverageRisk(risk=0.5).holds(data)
    assert not AverageRisk(risk=0.49).holds(data)
    assert not AverageRisk(risk=0.5, highest=0.5).holds(data)
    assert AverageRisk(risk=0.5, highest=0.5, share=0.25).holds(data)
    fives = table({"age": [1] * 5 + [2] * 5}, ["age"])
    assert AverageRisk(risk=0.2, highest=0.2).holds(fives)
    assert AverageRisk(risk=0.2, highest=0.2).measure(fives.class_counts()).holds
    assert "above 0.2" in describe(AverageRisk(risk=0.2, highest=0.2))


def test_sample_uniqueness():
    data = table({"age": [30, 30, 30, 31]}, ["age"])
    assert SampleUniqueness(share=0.25).value(data) == 0.25 == SampleUniqueness(share=1).score(data.class_counts())
    assert SampleUniqueness(share=0.25).holds(data)


PEOPLE = pl.DataFrame({"age": [31, 35, 38, 42, 47, 90], "sex": ["F", "F", "M", "F", "F", "M"]})


def test_k_map_counts_raw_people_in_generalised_cells(engine):
    safe = celosia.read(
        pl.DataFrame({"age": ["30-39", "40-49"], "sex": ["F", "F"]}),
        celosia.Schema.of(quasi=["age", "sex"]),
        engine=engine,
    )
    assert KMap(k=2, population=PEOPLE).classes(safe)["k"].to_list() == [2, 2]
    presence = DeltaPresence(highest=0.5, population=PEOPLE)
    assert presence.value(safe) == 0.5
    assert presence.holds(safe)
    assert not DeltaPresence(lowest=0.1, highest=0.5, population=PEOPLE).holds(safe)  # two people are in no class
    assert presence.classes(safe)["population"].to_list() == [2, 2]


def test_k_map_through_a_hierarchy_and_overlapping_cells():
    jobs = {"Artist": ["Writer", "Dancer"], "Legal": ["Lawyer"]}
    people = pl.DataFrame({"job": ["Writer", "Writer", "Dancer", "Lawyer"]})
    safe = table({"job": ["Artist", "Writer", "Lawyer"]}, ["job"], hierarchies={"job": jobs})
    found = KMap(k=1, population=people).classes(safe)
    # a writer could be either of the first two records
    assert dict(found.select("job", "k").rows()) == {"Artist": 3, "Writer": 2, "Lawyer": 1}


@pytest.mark.parametrize(("reading", "people"), [("category", 1), ("wildcard", 3)])
def test_missing_cells_and_the_population(reading, people):
    population = pl.DataFrame({"age": ["30", "31", None]})
    safe = table({"age": [None]}, ["age"], missing={"age": reading}, kinds={"age": "nominal"})
    assert KMap(k=1, population=population).value(safe) == people


def test_a_population_must_contain_the_table():
    with pytest.raises(DataError, match="fewer records than the table in 1 of 1 classes"):
        KMap(k=1, population=PEOPLE).value(table({"age": [31, 31], "sex": ["F", "F"]}, ["age", "sex"]))


def test_estimated_k_map():
    assert smallest_accepted_size(5, 30162 / 300_000, 0.01) == 5
    assert smallest_accepted_size(5, 30162 / 317_000_000, 0.01) == 2
    sizes = np.arange(1, 30)
    for fraction in (0.001, 0.03, 0.5):
        for size, largest in zip(sizes, largest_accepted_k(sizes, fraction, 0.01), strict=True):
            assert (
                smallest_accepted_size(int(largest), fraction, 0.01)
                <= size
                < smallest_accepted_size(int(largest) + 1, fraction, 0.01)
            )
    data = table({"age": [30, 30, 31]}, ["age"])
    assert KMap(k=2, size=1_000_000).value(data) == 1
    assert KMap(k=2, size=1_000_000).smallest_size_in(data.class_counts()) == 2
    assert KMap(k=2, size=9).is_size_only()
    with pytest.raises(ParameterError, match="at least the 3 people"):
        KMap(k=2, size=2).value(data)
    # three rows of two persons fit into a population of two
    persons = table({"age": [30, 30, 31], "id": ["a", "a", "b"]}, ["age"], person="id")
    assert KMap(k=1, size=2).value(persons) == 1
    with pytest.raises(ParameterError, match="at least the 2 people"):
        KMap(k=1, size=1).value(persons)


def test_several_sensitive_columns():
    data = {"q": ["a"] * 4, "s": ["x", "x", "y", "z"], "r": ["u", "v", "v", "v"]}
    both = table(data, ["q"], ["s", "r"])
    assert LDiversity(l=2).value(both) == 2  # s has 3, r has 2
    assert LDiversity(l=2).classes(both)["l"].to_list() == [2]
    assert LDiversity(l=2, column="s").value(both) == 3
    # the other column joins the quasi-identifiers: within r = u there is one s
    assert LDiversity(l=2, others="quasi").value(both) == 1
    assert set(LDiversity(l=2, others="quasi").classes(both)["column"]) == {"s", "r"}
    with pytest.raises(ParameterError, match="Search with others = 'ignore'"):
        refuse_other_views(LDiversity(l=2, others="quasi"), both)


def test_missing_sensitive_values_protect_nobody():
    data = table({"q": ["a", "a", "a"], "s": ["x", None, None]}, ["q"], ["s"])
    for variant in ("distinct", "entropy", "recursive"):
        assert LDiversity(l=2, variant=variant).value(data) == 1
    assert AlphaK(alpha=0.5).value(data) == 1.0
    assert celosia.risk.Homogeneity().value(data) == 1.0
    assert LDiversity(l=1).value(table({"q": ["a", "a"], "s": [None, "x"]}, ["q"], ["s"])) == 1
    # with y as well: two known values, of which x has two thirds; a class without any value has one
    both = table({"q": ["a"] * 5 + ["b"], "s": ["x", "x", "y", None, None, None]}, ["q"], ["s"])
    assert LDiversity(l=2).classes(both)["l"].to_list() == [2, 1]
    assert AlphaK(alpha=0.5).classes(both)["alpha"].to_list() == pytest.approx([2 / 3, 1])


def test_suppressed_values_are_not_listed_as_disclosed():
    data = table({"q": ["a", "a", "b", "b"], "s": ["*", "*", "x", "x"]}, ["q"], ["s"])
    assert celosia.risk.Homogeneity().classes(data)["value"].to_list() == ["x"]
    assert celosia.risk.Homogeneity().value(data) == 0.5


@pytest.mark.parametrize(
    ("other", "text"),
    [("HIV ", "2 of 3"), ("hiv", "2 of 3"), ("\u212bngström", "2 of 3"), ("NA", "0 of 3"), ("n/a", "0 of 3")],
)
def test_spellings_of_a_sensitive_value_are_announced(other, text):
    values = ["HIV", other, "flu"] if text == "0 of 3" or other[:1] in "Hh" else ["A\u030angström", other, "flu"]
    data = table({"q": ["a"] * 3, "s": values}, ["q"], ["s"])
    with pytest.warns(UserWarning, match=f"column 's': {text} values differ") as seen:
        celosia.assess(data, [LDiversity(l=2)])
    assert not [value for value in values if value in str(seen[0].message)]


def test_missing_sensitive_values_are_a_category_of_distributions():
    numeric = table({"q": ["a", "a", "b"], "s": [1, 3, None]}, ["q"], ["s"])
    assert TCloseness(t=1, distance="value").value(numeric) > 0


def test_value_and_hierarchical_distance_by_hand():
    data = table({"q": ["a", "b"], "s": [0, 10]}, ["q"], ["s"])
    assert TCloseness(t=1, distance="value").value(data) == 0.5  # half of the mass moves over the whole range
    tree = {"A": ["x", "y"], "B": ["z", "w"]}
    four = table({"q": ["a", "a", "b", "b"], "s": ["x", "y", "z", "w"]}, ["q"], ["s"], hierarchies={"s": tree})
    assert TCloseness(t=1, distance="hierarchical").value(four) == 0.5
    with pytest.raises(SchemaError, match="needs a hierarchy"):
        TCloseness(t=1, distance="hierarchical").value(data)
    with pytest.raises(SchemaError, match="numeric"):
        TCloseness(t=1, distance="value").value(four)


def test_a_distance_of_ones_own():
    def chebyshev(p, q):
        return float(np.abs(p - q).max())

    data = table(MIXED, ["zip"], ["disease"])
    model = TCloseness(t=0.25, distance=chebyshev)
    assert model.value(data) == 0.25
    assert not search_hints(model).monotone_generalisation
    assert model.spec()["distance"] == "chebyshev"


def test_suppressed_records_belong_to_no_class_and_stay_in_the_baseline():
    data = table({"zip": ["a", "a", "b"], "s": ["x", "y", "y"]}, ["zip"], ["s"])
    safe = celosia.protect(data, celosia.methods.SuppressRecords(require=["k-anonymity(k=2)"]), seed=1)
    assert KAnonymity(k=2).value(safe) == 2
    assert LDiversity(l=2).value(safe) == 2
    # class a: (1/2, 1/2) against the input's (1/3, 2/3)
    assert TCloseness(t=1).value(safe) == pytest.approx(1 / 6)


def test_persons_are_counted():
    data = {"id": [1, 1, 1, 2], "q": ["a"] * 4, "s": ["x", "y", "y", "x"]}
    schema = celosia.Schema.of(quasi=["q"], sensitive=["s"], person="id")
    people = celosia.read(pl.DataFrame(data), schema)
    assert KAnonymity(k=2).value(people) == 2
    assert AlphaK(alpha=1).value(people) == 1  # x: both persons, y: person 1


def visits(ill, others, *, elsewhere=20):
    """Ten persons of class A with three other diagnoses each, ``ill`` of them with HIV; and a class B without HIV."""
    names = ["flu", "cold", "gout", "asthma", "none", "mumps"]
    rows = [("A", f"p{i}", names[(i + j) % 6]) for i in range(10) for j in range(others)]
    rows += [("A", f"p{i}", "HIV") for i in range(ill)]
    rows += [("B", f"q{i}", names[(i + j) % 6]) for i in range(elsewhere) for j in range(3)]
    frame = pl.DataFrame(rows, schema=["zip", "id", "ill"], orient="row")
    return celosia.read(frame, celosia.Schema.of(quasi=["zip"], sensitive=["ill"], person="id"))


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (AlphaK(alpha=0.4), 1),
        (LDiversity(l=2), 1),
        (LDiversity(l=2, variant="entropy"), 1),
        (LDiversity(l=2, variant="entropy", estimator="grassberger"), 1),
        (LDiversity(l=2, variant="recursive", c=100), 1),
        (BetaLikeness(beta=1.9), 2),  # 10 of 10 persons, 10 of 30 in the table
        (DeltaDisclosure(delta=1.5), math.log2(3)),
        (TCloseness(t=0.6), 2 / 3),
        (TCloseness(t=0.6, distance="ordered"), 2 / 3),
    ],
    ids=str,
)
def test_a_value_that_every_person_has_is_disclosed_whatever_else_they_have(model, value):
    people = visits(10, 3)
    assert model.value(people) == pytest.approx(value)
    assert not model.holds(people)


def test_shares_of_persons_bound_a_diversity():
    people = visits(8, 3)
    assert AlphaK(alpha=0.8).value(people) == 0.8
    assert LDiversity(l=2).value(people) == 6
    assert LDiversity(l=2, variant="entropy").value(people) == 1.25
    assert LDiversity(l=2, variant="recursive", c=3).value(people) == 1  # 8 < 3 (10 - 8) does not hold
    assert LDiversity(l=2, variant="recursive", c=5).value(people) == 2


def test_a_person_with_a_known_and_a_missing_value_counts_as_one_who_has_a_known_value():
    rows = {"id": [1, 1, 2, 2, 3, 4], "q": ["a"] * 6, "s": ["x", None, "x", None, "y", None]}
    people = celosia.read(pl.DataFrame(rows), celosia.Schema.of(quasi=["q"], sensitive=["s"], person="id"))
    assert AlphaK(alpha=1).value(people) == 0.75  # three of four persons have a missing value
    assert LDiversity(l=1).value(people) == 2
    known = celosia.read(pl.DataFrame(rows).drop_nulls(), people.schema)
    assert AlphaK(alpha=1).value(known) == 2 / 3


def test_rows_without_a_person_are_one_person_or_each_another():
    rows = {"id": [None, None, None, "a", "b", "c", "d"], "q": ["z"] * 7, "s": ["x", "x", "x", "x", "y", "w", "v"]}
    people = celosia.read(pl.DataFrame(rows), celosia.Schema.of(quasi=["q"], sensitive=["s"], person="id"))
    assert AlphaK(alpha=1).value(people) == 4 / 7  # as seven persons; as five it would be 2 / 5
    rows["s"] = ["x", "y", "w", "x", "x", "x", "x"]
    shared = celosia.read(pl.DataFrame(rows), people.schema)
    assert LDiversity(l=1).value(shared) == 1  # as five persons all have x
    assert AlphaK(alpha=1).value(shared) == 1


@pytest.mark.parametrize("missing", [False, True])
def test_persons_with_one_row_each_have_the_numbers_of_rows(missing):
    rng = np.random.default_rng(5)
    ill = [["flu", "cold", "HIV", None if missing else "gout"][v] for v in rng.choice(4, 60, p=[0.4, 0.3, 0.1, 0.2])]
    data = pl.DataFrame({"zip": rng.choice(["a", "b", "c"], 60), "ill": ill, "id": np.arange(60)})
    rows = celosia.read(data, celosia.Schema.of(quasi=["zip"], sensitive=["ill"]))
    people = celosia.read(data, celosia.Schema.of(quasi=["zip"], sensitive=["ill"], person="id"))
    for model in (
        AlphaK(alpha=0.4),
        LDiversity(l=2),
        LDiversity(l=2, variant="entropy"),
        LDiversity(l=2, variant="entropy", estimator="grassberger"),
        LDiversity(l=2, variant="recursive"),
        BetaLikeness(beta=1),
        DeltaDisclosure(delta=1),
        TCloseness(t=0.1),
        TCloseness(t=0.1, distance="ordered"),
    ):
        assert model.value(rows) == model.value(people), str(model)


@pytest.mark.parametrize(
    "model",
    [
        LDiversity(l=2),
        LDiversity(l=2, variant="entropy"),
        LDiversity(l=2, variant="entropy", estimator="grassberger"),
        LDiversity(l=2, variant="recursive"),
        TCloseness(t=0.1),
        TCloseness(t=0.1, distance="ordered"),
        AlphaK(alpha=0.5),
        BetaLikeness(beta=1),
        DeltaDisclosure(delta=1),
        AverageRisk(risk=0.1),
        SampleUniqueness(share=0.1),
    ],
)
def test_extremes(model):
    empty = table({"q": [], "s": []}, ["q"], ["s"])
    assert model.holds(empty)
    alone = table({"q": ["a"] * 5, "s": ["x"] * 5}, ["q"], ["s"])
    assert np.isfinite(model.value(alone))
    nulls = table({"q": [None, None], "s": [None, None]}, ["q"], ["s"])
    assert np.isfinite(model.value(nulls))
    assert build("model", model.spec()) == model == build("model", str(model))
    assert len(model.classes(alone)) == 1


def test_a_sensitive_column_is_needed():
    with pytest.raises(SchemaError, match="no sensitive column"):
        LDiversity(l=2).value(table({"q": ["a"]}, ["q"]))


@pytest.mark.parametrize(
    "text",
    [
        "l-diversity(l=0)",
        "l-diversity(l=2, c=0)",
        "t-closeness(t=-1)",
        "t-closeness(t=1, distance=near)",
        "alpha-k(alpha=0)",
        "beta-likeness(beta=0)",
        "delta-disclosure(delta=0)",
        "average-risk(risk=0)",
        "sample-uniqueness(share=2)",
        "k-map(k=2)",
        "k-map(k=2, size=3, population=a.csv)",
        "delta-presence(lowest=0.5, highest=0.1, population=a.csv)",
    ],
)
def test_bad_parameters(text):
    with pytest.raises(ParameterError):
        build("model", text)
