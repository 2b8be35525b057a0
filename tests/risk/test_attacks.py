"""Inference, join, singling-out, linkability and membership attacks, and advice on k."""

from __future__ import annotations

import gc
import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest
from tests.reference.sources import PATIENTS

import celosia
from celosia.consent.protection.measures import re_identification
from celosia.errors import NotApplicable, ParameterError, UnknownName
from celosia.risk.attacks.classical_disclosure_risk import ClassicalDisclosureRisk
from celosia.risk.attacks.inference_attack import InferenceAttack
from celosia.risk.attacks.interval_disclosure import IntervalDisclosure
from celosia.risk.attacks.linking.distance_linkage import DistanceLinkage
from celosia.risk.attacks.linking.join_attack import JoinAttack
from celosia.risk.attacks.linking.linkability import Linkability
from celosia.risk.attacks.linking.probabilistic_linkage import ProbabilisticLinkage
from celosia.risk.attacks.membership.membership import Membership
from celosia.risk.attacks.singling_out import SinglingOut
from celosia.risk.household_risk import HouseholdRisk
from celosia.risk.individual_risk import IndividualRisk
from celosia.risk.k_advice import KAdvice
from celosia.risk.log_linear_risk import LogLinearRisk
from celosia.risk.population_uniques import PopulationUniques
from celosia.risk.suda import Suda
from celosia.risk.unsafe_cells import UnsafeCells

LEARNERS = ["decision-tree", "random-forest", "logistic-regression", "gradient-boosting", "nearest-neighbours"]


def frame(n, seed, noise=0.0):
    """People with an age that follows from job and city, up to noise."""
    rng = np.random.default_rng(seed)
    job, city = rng.integers(0, 4, n), rng.integers(0, 3, n)
    band = np.where(rng.random(n) < noise, rng.integers(0, 7, n), job + city)
    return pl.DataFrame(
        {
            "job": [f"j{x}" for x in job],
            "city": [f"c{x}" for x in city],
            "age": 20 + 10 * band,
            "pay": rng.normal(size=n),
        }
    )


@pytest.fixture(scope="module")
def people():
    return frame(600, 1, noise=0.2)


# inference


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_beats_the_majority_where_there_is_something_to_learn(people, learner):
    original = celosia.read(people)
    protected = celosia.read(people.with_columns(age=pl.lit("*")))
    evidence = InferenceAttack(target="age", learner=learner, external=0.3, repeats=2).evidence(original, protected)
    assert evidence["interval"][0] > evidence["baseline"]
    assert evidence["lift"] > 1.3
    assert evidence["advantage_interval"][0] > 0


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_learner_beats_the_majority_on_pure_noise(learner):
    rng = np.random.default_rng(3)
    data = pl.DataFrame(
        {"x": rng.normal(size=600), "c": rng.integers(0, 5, 600).astype(str), "t": rng.integers(0, 3, 600)}
    )
    original = celosia.read(data)
    protected = celosia.read(data.drop("t"))
    evidence = InferenceAttack(target="t", learner=learner, external=0.2).evidence(original, protected)
    assert evidence["advantage_interval"][0] <= 0
    assert evidence["interval"][0] <= evidence["baseline"]


def test_more_external_data_helps(people):
    original = celosia.read(people)
    protected = celosia.read(people.with_columns(age=pl.lit("*")))
    small, large = (InferenceAttack(target="age", external=share).value(original, protected) for share in (0.03, 0.5))
    assert small < large


def test_targets_together_and_a_subgroup(people):
    data = people.with_columns(private=pl.col("job") == "j0")
    original = celosia.read(data)
    protected = celosia.read(data.with_columns(age=pl.lit("*")))
    evidence = InferenceAttack(
        target=["age", "city"], predictors=["job", "city"], subgroup="private", external=0.2
    ).evidence(original, protected)
    assert evidence["subgroup"]["records"] == data["private"].sum()
    records = InferenceAttack(target=["age", "city"], predictors=["job", "city"], external=0.2).records(
        original, protected
    )
    assert records["risk"].mean() == pytest.approx(evidence["value"])
    # both columns must be right: never more often than one of them
    assert evidence["value"] <= InferenceAttack(target="age", predictors=["job", "city"], external=0.2).value(
        original, protected
    )


def test_same_seed_same_attack(people):
    original, protected = celosia.read(people), celosia.read(people.with_columns(age=pl.lit("*")))
    part = InferenceAttack(target="age", learner="random-forest", repeats=1)
    again = celosia.read(protected.polars())
    assert part.records(original, protected).equals(part.records(original, again))
    other = InferenceAttack(target="age", learner="random-forest", repeats=1, seed=1)
    assert not part.records(original, protected).equals(other.records(original, again))


def test_records_that_the_intruder_knows_are_not_predicted(people):
    original, protected = celosia.read(people), celosia.read(people.with_columns(age=pl.lit("*")))
    part = InferenceAttack(target="age", external=0.25, repeats=1)
    records, evidence = part.records(original, protected), part.evidence(original, protected)
    known = round(0.25 * len(people))
    assert records["risk"].null_count() == records["baseline"].null_count() == known
    assert records["risk"].drop_nulls().is_in([0.0, 1.0]).all()  # one try: right or wrong
    assert evidence["records"] == len(people) - known
    assert records["risk"].mean() == pytest.approx(evidence["value"])
    assert records["baseline"].mean() == pytest.approx(evidence["baseline"])
    # a second, disjoint sample leaves nobody out
    twice = InferenceAttack(target="age", external=0.25, repeats=2)
    assert twice.records(original, protected)["risk"].null_count() == 0
    assert twice.evidence(original, protected)["records"] == len(people)


def test_a_subgroup_that_nobody_predicts_has_no_share(people):
    original = celosia.read(people.with_columns(rare=pl.int_range(len(people)) == 0))
    protected = celosia.read(people.with_columns(age=pl.lit("*")))
    found = []
    for seed in range(12):
        part = InferenceAttack(target="age", external=0.9, repeats=1, subgroup="rare", seed=seed)
        known = part.records(original, protected)["risk"].is_null()[0]
        subgroup = part.evidence(original, protected)["subgroup"]
        assert (subgroup["value"] is None) == known
        assert subgroup["records"] == (0 if known else 1)
        found.append(known)
    assert set(found) == {True, False}


def test_groups_are_judged_by_the_records_that_were_predicted(people):
    original, protected = celosia.read(people), celosia.read(people.with_columns(age=pl.lit("*")))
    blocked = np.arange(len(people)) % 3 == 0
    found = re_identification(original, protected, ["age"], blocked, external=0.8, repeats=2)
    risk = InferenceAttack(target="age", external=0.8, repeats=2).records(original, protected)["risk"]
    assert 0.5 < risk.null_count() / len(people) < 0.75  # 0.8² of the records are in both samples
    assert found["all"]["records"] == len(people) - risk.null_count()
    assert found["all"]["value"] == pytest.approx(risk.mean())
    assert found["blocking"]["value"] == pytest.approx(risk.filter(pl.Series(blocked)).mean())


def test_inference_does_not_apply(people):
    original = celosia.read(people)
    with pytest.raises(NotApplicable, match="too few"):
        InferenceAttack(target="age").value(celosia.read(people[:3]), celosia.read(people[:3]))
    with pytest.raises(NotApplicable, match="no record is marked"):
        InferenceAttack(target="age", subgroup="city").evidence(original, original)
    with pytest.raises(UnknownName, match="'tool'"):
        InferenceAttack(target="age", predictors=["tool"]).value(original, original)
    with pytest.raises(ParameterError, match="learner must be"):
        InferenceAttack(target="age", learner="oracle")
    with pytest.raises(ParameterError, match="target"):
        InferenceAttack(target=[])


def test_coverage_of_the_interval():
    """The value of a known attack: the target is a coin that the release shows with probability 0.8."""
    runs, hit, half = 200, 0, 0
    rng = np.random.default_rng(12)
    for _ in range(runs):
        true = rng.integers(0, 2, 300)
        shown = np.where(rng.random(300) < 0.8, true, 1 - true)
        original, protected = (celosia.read(pl.DataFrame({"t": t})) for t in (true, shown))
        evidence = InferenceAttack(target="t", external=0.1, repeats=1).evidence(original, protected)
        low, high = evidence["interval"]
        middle = evidence["value"]
        hit += low <= 0.8 <= high
        half += (middle + low) / 2 <= 0.8 <= (middle + high) / 2
    assert binomtest(hit, runs, 0.95).pvalue > 1e-3
    assert binomtest(half, runs, 0.95, alternative="less").pvalue < 1e-6


# join


T1 = pl.DataFrame(
    {
        "name": ["Rashad Arnold", "Alyssa Cherry", "Myra Ford", "Meredith Perry", "Aimee Thornton"],
        "born": ["26/02/2018", "08/05/2018", "11/05/2018", "31/03/2019", "26/04/2018"],
        "sex": ["M", "M", "F", "F", "F"],
        "zip": ["73909", "14890", "58821", "465113", "90825"],
        "illness": ["cold", "hepatitis", "hepatitis", "HIV", "bronchitis"],
    }
)
ROLES = celosia.Schema.of(identifiers=["name"], quasi=["born", "sex", "zip"], sensitive=["illness"])


def test_the_match_of_the_lecture_is_false():
    original = celosia.read(T1, ROLES)
    release = celosia.read(T1.with_columns(name=pl.lit("*****")), ROLES)
    rashad = pl.DataFrame({"name": ["Rashad Arnold"], "born": ["08/05/2018"]})
    evidence = JoinAttack(external=rashad).evidence(original, release)
    assert (evidence["claimed"], evidence["right"], evidence["false"]) == (1, 0, 1)
    assert evidence["value"] == 0
    assert JoinAttack(external=rashad).records(original, release)["joined"].to_list() == [0, 1, 0, 0, 0]
    correct = pl.DataFrame({"name": ["Rashad Arnold"], "born": ["26/02/2018"]})
    assert JoinAttack(external=correct).value(original, release) == 1
    # nobody knows the truth: the claim is taken as right
    blind = JoinAttack(external=rashad.rename({"name": "who"}))
    assert blind.value(original, release) == 1
    assert not blind.evidence(original, release)["truth_known"]


def test_generalised_cells_join_with_what_they_can_stand_for():
    raw = pl.DataFrame({"who": [f"p{i}" for i in range(12)], **PATIENTS})
    release = raw.with_columns(
        who=pl.lit("*"),
        zip=pl.Series(["130**"] * 4 + ["1485*"] * 4 + ["130**"] * 4),
        age=pl.Series(["<30"] * 4 + [">40"] * 4 + ["30-40"] * 4),
    )
    schema = celosia.Schema.of(identifiers=["who"], quasi=["zip", "age"])
    original, protected = celosia.read(raw, schema), celosia.read(release, schema)
    external = pl.DataFrame(
        {"who": ["p0", "p9", "stranger", "p5"], "zip": ["13053", "13053", "99999", "14853"], "age": [28, 37, 30, 70]}
    )
    found = JoinAttack(external=external).people(original, protected)
    assert found["joined"].to_list() == [4, 4, 0, 4]
    assert found["right"].to_list() == [True, True, False, True]
    assert JoinAttack(external=external).value(original, protected) == pytest.approx(3 * 0.25 / 4)
    evidence = JoinAttack(external=external).evidence(original, protected)
    assert (evidence["claimed"], evidence["ambiguous"], evidence["unmatched"]) == (0, 3, 1)
    # the zip alone: eight candidates
    assert JoinAttack(external=external, on=["zip"]).people(original, protected)["joined"].to_list() == [8, 8, 0, 4]


def test_join_against_all_pairs():
    rng = np.random.default_rng(5)
    data = pl.DataFrame({"id": [str(i) for i in range(80)], "a": rng.integers(0, 5, 80), "b": rng.integers(0, 4, 80)})
    schema = celosia.Schema.of(identifiers=["id"], quasi=["a", "b"])
    original, protected = celosia.read(data, schema), celosia.read(data, schema)
    external = data.sample(30, seed=1)
    found = JoinAttack(external=external).people(original, protected)
    sizes = external.join(data.group_by("a", "b").len(), on=["a", "b"], how="left", maintain_order="left")["len"]
    assert found["joined"].to_list() == sizes.to_list()
    assert found["risk"].to_list() == pytest.approx((1 / sizes).to_list())


def test_join_does_not_apply():
    original = celosia.read(T1, ROLES)
    with pytest.raises(NotApplicable, match="shares no quasi-identifier"):
        JoinAttack(external=pl.DataFrame({"name": ["x"]})).value(original, original)
    with pytest.raises(UnknownName, match="'shoe'"):
        JoinAttack(external=T1, on=["shoe"]).value(original, original)


# synthetic data


@pytest.fixture(scope="module")
def populations():
    """People used for a release, people who were not, and a release that copies or models them."""
    used, unused = frame(400, 7), frame(400, 8)
    rng = np.random.default_rng(9)
    model = used.with_columns(pl.col(name).shuffle(seed=i) for i, name in enumerate(used.columns))
    model = model.with_columns(pay=pl.Series(rng.normal(size=400)))
    return celosia.read(used), unused, celosia.read(used.sample(400, seed=2, shuffle=True)), celosia.read(model)


def attacks(control):
    return [
        SinglingOut(control=control, attacks=200),
        Linkability(first=["job", "pay"], second=["city", "age", "pay"], control=control, attacks=200),
        Membership(control=control, attacks=200),
    ]


def test_a_copy_is_found_out(populations):
    original, control, copy, _ = populations
    for part in attacks(control):
        evidence = part.evidence(original, copy)
        assert evidence["value"] > 0.4, part
        assert evidence["interval"][0] > 0, part
        assert evidence["better_than_guessing"], part


def test_an_independent_model_is_not(populations):
    original, control, _, model = populations
    for part in attacks(control):
        evidence = part.evidence(original, model)
        assert evidence["interval"][0] <= 0.01, part
        assert evidence["interval"][0] <= evidence["value"] <= evidence["interval"][1], part


def test_attacks_without_a_control_say_what_they_are(populations):
    original, _, copy, _ = populations
    evidence = SinglingOut(attacks=100).evidence(original, copy)
    assert evidence["value"] == evidence["rate"]
    assert "control" not in evidence
    by_pay = Linkability(first=["job", "pay"], second=["pay", "age"], attacks=100)
    assert by_pay.evidence(original, copy)["value"] == 1
    # job and city alone leave some thirty equally near records: a link is then a guess among them
    assert Linkability(attacks=400).evidence(original, copy)["value"] < 0.2
    with pytest.raises(NotApplicable, match="control table"):
        Membership().value(original, copy)
    with pytest.raises(NotApplicable, match="two shared columns"):
        Linkability().value(celosia.read(pl.DataFrame({"x": [1]})), celosia.read(pl.DataFrame({"x": [1]})))


def test_records_of_the_synthetic_attacks(populations):
    original, control, copy, _ = populations
    assert SinglingOut(attacks=50).records(original, copy)["singled_out"].sum() <= 50
    linked = Linkability(attacks=50).records(original, copy)["linked"]
    assert linked.null_count() == 350
    distance = Membership(control=control).records(original, copy)["distance"]
    assert distance.to_list() == pytest.approx([0.0] * 400, abs=1e-12)


def test_missing_values_do_not_break_the_attacks():
    data = pl.DataFrame(
        {"x": [1.0, None, 3.0, 4.0], "c": ["a", "b", None, "a"], "e": pl.Series([None] * 4, dtype=pl.Float64)}
    )
    table = celosia.read(data)
    assert SinglingOut(attacks=20, size=2).evidence(table, table)["attacks"] > 0
    assert 0 <= Linkability(first=["x", "e"], second=["c"]).value(table, table) <= 1
    assert 0 <= Membership(control=data).value(table, table) <= 1


# advice


def test_advice_on_k():
    data = pl.DataFrame({"age": [30] * 12 + [31] * 4 + [32]})
    evidence = KAdvice().evidence(celosia.read(data, celosia.Schema.of(quasi=["age"])))
    assert evidence["value"] == pytest.approx(1 / 17)
    assert evidence["acceptable"]
    assert {rule["k"]: rule["violated"] for rule in evidence["thresholds"]} == {3: 1, 5: 5, 11: 5, 20: 17}
    assert all(rule["source"] for rule in evidence["thresholds"])
    records = KAdvice().records(celosia.read(data, celosia.Schema.of(quasi=["age"])))
    assert records["meets"].to_list() == [11] * 12 + [3] * 4 + [0]


def test_evidence_is_plain_data(people, populations):
    """Evidence goes into reports and certificates: it must be written as JSON."""
    original, control, copy, _ = populations
    risks = [
        *attacks(control),
        InferenceAttack(target="age", repeats=1),
        DistanceLinkage(),
        ProbabilisticLinkage(false_link=0.01),
        IntervalDisclosure(),
        ClassicalDisclosureRisk(known=(1, 2)),
        JoinAttack(external=people, on=["job", "city"]),
    ]
    for part in risks:
        written = json.loads(json.dumps(part.evidence(original, copy), allow_nan=False))
        assert written["value"] == pytest.approx(part.value(original, copy))
    schema = celosia.Schema.of(quasi=["job", "city", "age"], household="age")
    table = celosia.read(people, schema)
    alone = [IndividualRisk(wanted=0.1), HouseholdRisk(), Suda(), UnsafeCells(), KAdvice()]
    for part in (*alone, PopulationUniques(size=10_000), LogLinearRisk(size=10_000)):
        written = json.loads(json.dumps(part.evidence(table), allow_nan=False))
        assert written["value"] == pytest.approx(part.value(table))


def test_a_cache_never_answers_for_another_table(people):
    """Results are cached on the protected table; a new original must not get those of an old one."""
    protected = celosia.read(people.with_columns(pay=pl.col("pay") + 1e-5))
    values = []
    for shift in range(3):
        moved = celosia.read(people.with_columns(pay=pl.col("pay").shuffle(seed=shift) if shift else pl.col("pay")))
        values.append(DistanceLinkage(columns=["pay"]).value(moved, protected))
        del moved
        gc.collect()
    assert values[0] > 0.5
    assert max(values[1:]) < 0.1
