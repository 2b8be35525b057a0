"""The experiment on preferences: the generated case, the analysis of variance, and a quick run."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import stats

from celosia.experiments.consent import reproduce
from celosia.experiments.consent.adult import study
from celosia.experiments.consent.anova import anova, assumptions, residuals
from celosia.experiments.consent.case import STUDENTS, students
from celosia.experiments.consent.experiment import paired


def test_the_case_has_its_shape():
    frame = students(np.random.default_rng(3))
    assert len(frame) == STUDENTS
    assert {name: frame.n_unique(name) for name in frame.columns} == {
        "sex": 2, "score": 531, "province": 7, "canton": 81, "district": 467, "school": 980,
    }  # fmt: skip
    assert frame.select("province", "canton", "district").unique().height == 467, "a place has one parent"
    assert frame.equals(students(np.random.default_rng(3)))


def test_a_one_way_analysis_by_hand():
    """Three levels, four blocks: equal to scipy's F when the blocks do not matter, and to the textbook otherwise."""
    y = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0], [1.5, 2.5, 4.0], [2.5, 2.0, 5.5]])
    block, rule, rest = anova(y, ["rule"])
    # means of the levels 1.75, 2.375, 4.625, of all 2.91667: SS = 4 Σ(m − M)²
    level = y.mean(axis=0)
    assert rule.squares == pytest.approx(4 * ((level - y.mean()) ** 2).sum())
    assert block.squares == pytest.approx(3 * ((y.mean(axis=1) - y.mean()) ** 2).sum())
    assert (rule.freedom, block.freedom, rest.freedom) == (2, 3, 6)
    assert rule.squares + block.squares + rest.squares == pytest.approx(((y - y.mean()) ** 2).sum())
    assert rule.p == pytest.approx(stats.f.sf(rule.squares / 2 / (rest.squares / 6), 2, 6))
    assert rest.squares == pytest.approx((residuals(y) ** 2).sum())


def test_an_interaction_is_found_and_noise_is_not():
    rng = np.random.default_rng(8)
    y = rng.normal(0, 1, (30, 4, 2, 3))
    p = {effect.name: effect.p for effect in anova(y, ["k", "external", "rule"])}
    assert min(v for v in p.values() if v is not None) > 0.001
    y[:, 0, 1] += 1.0
    p = {effect.name: effect.p for effect in anova(y, ["k", "external", "rule"])}
    assert p["k × external"] < 0.001
    assert p["k × rule"] > 0.001
    checks = assumptions(y, rng.permutation(y.size))
    assert min(checks["normality p"], checks["equal variance p"], checks["independence p"]) > 0.001
    skewed = rng.exponential(1, y.shape) * np.array([1, 5, 1])
    assert assumptions(skewed, rng.permutation(y.size))["equal variance p"] < 0.001
    assert assumptions(skewed, rng.permutation(y.size))["normality p"] < 0.001


def test_paired_differences_equal_scipys():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 1, 30), rng.normal(0.5, 1, 30)
    found, other = paired(a, b), stats.ttest_rel(a, b)
    assert found["p"] == pytest.approx(other.pvalue)
    interval = other.confidence_interval(0.99)
    assert (found["low"], found["high"]) == pytest.approx((interval.low, interval.high))


def test_a_quick_run(tmp_path):
    """Five blocks: the class rule is the control, coarser protects blocking owners and costs others little."""
    found = reproduce(tmp_path, blocks=5, k=(60,), external=(0.1,), extra=30)
    assert found["labels equal to the control (class rule)"] >= 0.99
    assert found["coarser: lowers P_reid of blocking owners significantly"] == "1 of 1"
    assert found["exchange: lowers P_reid of blocking owners significantly"] == "1 of 1"
    assert found["coarser: rise of the others' GCP, of the control's, at most"] < 0.5
    assert int(found["coarser: smallest class"].split()[0]) >= 60, "equal places: k in the strict sense"
    assert found["post-condition holds in every run"]
    others = [d for d in found["differences"] if d["rule"] == "coarser" and d["group"] == "others"]
    mine = [d for d in found["differences"] if d["rule"] == "coarser" and d["group"] == "blocking"]
    assert mine[0]["mean"] > others[0]["mean"]
    page = (tmp_path / "consent.html").read_text()
    assert "Figure 8.4" in page
    drawn = set(re.findall(r'class="(?:swatch )?(s\d)"', page))
    assert len(drawn) == 5
    assert all(f".{colour} {{ fill:" in page and f".swatch.{colour} {{" in page for colour in drawn), (
        "every rule has a colour"
    )
    assert "<script" not in page
    assert len(json.loads((tmp_path / "consent.json").read_text())["questions"]) == 7


def test_the_adult_study(shared):
    """Golden: classes and GCP of Mondrian at k = 400; race never beats the most frequent value."""
    rows = study(shared("data/adult.data"), lambda *_: None, counts=(1, 6), sizes=(400,), learners=("decision-tree",))
    assert [(r["classes"], round(100 * r["gcp"], 2)) for r in rows] == [(35, 1.56), (57, 57.60)]
    for row in rows:
        assert 0.7 < row["race decision-tree"] <= row["race baseline"]
        assert row["age decision-tree"] > row["age baseline"]
    assert rows[0]["age decision-tree"] > rows[1]["age decision-tree"]
