"""Attacks with background knowledge: the worked examples of the sources."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.errors import ParameterError
from celosia.kernels.disclosure.background import (
    average_answers,
    belief,
    candidates,
    difference_means,
    difference_sums,
    facts_needed,
    homogeneous,
    repetitions,
    similarity,
    skewness,
)

YOUNG = ["heart", "heart", "flu", "flu"]
MIDDLE = ["cancer"] * 4
DIVERSE = ["heart", "diabetes", "cancer", "flu"]


def test_bob_has_cancer():
    assert homogeneous(MIDDLE) == "cancer"
    assert homogeneous(YOUNG) is None


def test_umeko_has_flu():
    assert candidates(YOUNG, ["heart"]) == {"flu": 2}
    assert candidates(DIVERSE) == dict.fromkeys(DIVERSE, 1)
    sizes = [len(candidates(DIVERSE, DIVERSE[:0:-1][:facts])) for facts in range(4)]
    assert sizes == [4, 3, 2, 1]
    assert facts_needed(DIVERSE) == 3
    assert facts_needed(MIDDLE) == 0
    assert facts_needed([]) == 0


def test_similar_salaries():
    # Table 5: three writers earn between 23000 and 28000 of an overall 10000 to 28000
    everybody = [10000, 10000, 10000, 28000, 25000, 23000]
    assert similarity([28000, 25000, 23000], everybody) == ((23000, 28000), 5000 / 18000)
    with pytest.raises(ParameterError):
        similarity([], everybody)


def test_skewness():
    assert skewness(["a", "b"], ["a"] * 1 + ["b"] * 99) == {"a": 50.0, "b": pytest.approx(0.5 / 0.99)}


def test_differencing():
    assert difference_sums(1256257, 1256218) == 39
    ages = [42, 12, 28, 51, 23, 68, 30, 46, 55, 62]
    mean = np.mean(ages)
    assert difference_means(10, mean, np.mean(ages[1:])) == pytest.approx(42)
    assert difference_means(10, mean, np.mean(ages[:1] + ages[2:])) == pytest.approx(12)
    with pytest.raises(ParameterError, match="at least two"):
        difference_means(1, 3.0, 0.0)


def test_repeated_queries():
    n = repetitions(10)
    assert n == 3074
    rng = np.random.default_rng(1)
    means = rng.laplace(1.0, 10.0, (400, n)).mean(axis=1)
    assert 0.92 < (np.round(means) == 1).mean() < 0.975
    # a tenth of the questions is not enough
    few = rng.laplace(1.0, 10.0, (400, n // 10)).mean(axis=1)
    assert (np.round(few) == 1).mean() < 0.7
    mean, spread = average_answers([18.475044, 15.158466, -0.688716, -2.115105, -0.203654, 13.167499], 10)
    assert mean == pytest.approx(7.298922, abs=1e-6)
    assert spread == pytest.approx(10 * np.sqrt(2 / 6))
    with pytest.raises(ParameterError, match="positive"):
        repetitions(0)
    with pytest.raises(ParameterError, match="at least one answer"):
        average_answers([], 1)


def test_belief():
    # the block {wrist fracture, gastritis, pneumonia}; a bandaged wrist makes the fracture all but certain
    block = {"fracture": 1, "gastritis": 1, "pneumonia": 1}
    population = {"fracture": 0.2, "gastritis": 0.4, "pneumonia": 0.4}
    bandaged = belief(block, {"fracture": 0.95, "gastritis": 0.025, "pneumonia": 0.025}, population)
    # weights .95/.2, .025/.4, .025/.4
    assert bandaged.posterior["fracture"] == pytest.approx(4.75 / (4.75 + 0.125))
    assert bandaged.positive(0.96) == ["fracture"]
    # runs every day: no pneumonia
    runner = belief({"gastritis": 1, "pneumonia": 0}, {"gastritis": 0.5, "pneumonia": 0.5}, population)
    assert runner.negative() == ["pneumonia"]
    assert runner.positive() == ["gastritis"]
    assert runner.change == pytest.approx(0.5)


def test_belief_from_the_block_itself_tells_nothing():
    block = {"a": 3, "b": 1}
    prior = {"a": 0.2, "b": 0.8}
    found = belief(block, prior, {"a": 0.75, "b": 0.25})
    assert found.posterior == pytest.approx(prior)
    assert found.change == pytest.approx(0)
    with pytest.raises(ParameterError, match="no sensitive value"):
        belief({"a": 1}, {"b": 1.0}, {"a": 1.0})
