"""The strongest applicable attack decides: general ones, and those of a reader of the certificate."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable
from celosia.risk.attacks.classical_disclosure_risk import ClassicalDisclosureRisk
from celosia.risk.attacks.disclosure_risk import DisclosureRisk


def table(n=300, columns="abcd"):
    rng = np.random.default_rng(5)
    mixing = rng.normal(size=(len(columns), len(columns)))
    return celosia.read(pl.DataFrame(rng.normal(size=(n, len(columns))) @ mixing, schema=list(columns)))


STEPS = [
    "rank-swap(columns=[a, b, c, d], window=0.1)",
    "individual-ranking(columns=[a, b, c, d], k=5)",
    "microaggregate(columns=[a, b, c, d], k=5)",
    "noise(columns=[a, b, c, d], p=0.2)",
    "correlated-noise(columns=[a, b, c, d], p=0.2)",
    "shuffle(columns=[a, b])",
]


@pytest.mark.parametrize("step", STEPS)
def test_it_is_never_below_the_risk_of_the_literature_nor_below_any_link(step):
    original = table()
    protected = celosia.protect(original, step, seed=1)
    found = DisclosureRisk().evidence(original, protected)
    assert found["value"] == DisclosureRisk().value(original, protected)
    assert found["value"] >= ClassicalDisclosureRisk().value(original, protected) - 1e-12
    links = [
        name
        for name in found["attacks"]
        if not issubclass(celosia.parts.find("attack", name), celosia.parts.DisclosesValue)
    ]
    assert found["value"] >= max(found["attacks"][name]["value"] for name in links) - 1e-12
    assert set(found["decided"]) <= set(found["attacks"])
    assert found["interval"][0] <= found["value"] <= found["interval"][1]
    assert DisclosureRisk().deciding_attacks(original, protected) == found["decided"]
    assert len(DisclosureRisk().records(original, protected)) == len(original)


def test_the_attack_that_decided_is_named():
    original = table()
    for step, attack in (
        ("rank-swap(columns=[a, b, c, d], window=0.1)", "rank-intersection"),
        ("correlated-noise(columns=[a, b, c, d], p=0.02)", "noise-linkage"),
    ):
        protected = celosia.protect(original, step, seed=1)
        assert DisclosureRisk().evidence(original, protected)["decided"] == [attack]


def test_without_a_step_it_is_the_better_linkage_or_its_mean_with_the_intervals():
    original = table()
    protected = celosia.read(celosia.protect(original, "noise(columns=[a, b, c, d], p=0.5)", seed=1).polars())
    found = DisclosureRisk().evidence(original, protected)
    attacks = found["attacks"]
    assert set(attacks) == {"distance-linkage", "probabilistic-linkage", "interval-disclosure"}
    link = max(attacks[name]["value"] for name in ("distance-linkage", "probabilistic-linkage"))
    assert found["value"] == pytest.approx(max(link, (link + attacks["interval-disclosure"]["value"]) / 2))


def test_a_step_without_an_attack_of_its_own_is_named():
    original = table()
    protected = celosia.protect(original, "sample(share=0.9)", "noise(columns=[a], p=0.1)", seed=1)
    general = DisclosureRisk().evidence(original, protected).get("general", [])
    assert general == [name for name in ("sample",) if not celosia.parts.attacks_reading(name)]


def test_categories_are_linked_by_gower_and_nothing_to_compare_is_refused():
    data = pl.DataFrame({"c": list("aabbcc"), "d": list("xyxyxy")})
    one = celosia.read(data)
    found = DisclosureRisk().evidence(one, one)
    assert set(found["attacks"]) == {"distance-linkage", "probabilistic-linkage"}
    assert found["value"] == 1.0
    with pytest.raises(NotApplicable):
        DisclosureRisk().value(one, celosia.read(pl.DataFrame({"other": [1, 2, 3, 4, 5, 6]})))


def test_the_score_is_that_of_the_strongest_attack_and_says_which():
    original = table()
    protected = celosia.protect(original, "rank-swap(columns=[a, b, c, d], window=0.1)", seed=1)
    new = celosia.loss.Score().parts(original, protected)
    old = celosia.loss.Score(risk="classical-disclosure-risk").parts(original, protected)
    assert new["decided"] == ["rank-intersection"]
    assert "decided" not in old
    assert new["score"] > old["score"] + 10


def test_an_attack_that_lacks_a_column_stays_silent():
    original = table().replace({"s": np.arange(300) % 3})
    protected = celosia.protect(
        original, "rank-swap(columns=[a, b], window=0.1, within=[s])", "drop(columns=[s])", seed=1
    )
    found = DisclosureRisk(columns=["a", "b"]).evidence(original, protected)
    assert "is not in both tables" in found["not_applicable"]["rank-intersection"]
    assert found["decided"]
