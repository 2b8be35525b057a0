"""Every mechanism of the catalogue: its answers have the stated distribution, variance and interval, and one person
changes them by no more than the cost that it states.

A new mechanism needs an example in ``tests/reference/mechanisms.py``. The noise comes from the operating system and
cannot be repeated: every bound lies five standard errors off, and a wrong scale must lie beyond it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.reference.mechanisms import EXAMPLES, Example, draws

from celosia.kernels.budget.cost import Cost
from celosia.parts import Mechanism, parts

MECHANISMS = parts("mechanism")
SHOWN = [pytest.param(one, id=f"{name}-{i}") for name, shown in EXAMPLES.items() for i, one in enumerate(shown)]
DRAWS = 10_000
CHOICES = 3_000
"""Choices are drawn one by one."""
DRAWN: dict[tuple[str, str], np.ndarray] = {}
"""Answers that a test has drawn, for the next one."""


def test_every_mechanism_has_an_example():
    for name in MECHANISMS:
        assert EXAMPLES.get(name), f"add an example of {name} to tests/reference/mechanisms.py"
    assert set(EXAMPLES) == set(MECHANISMS), "an example is of no mechanism"


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_keeps_the_contract(name):
    for word in ("answer", "cost", "global_sensitivity", "half_width"):
        assert getattr(MECHANISMS[name], word) is not getattr(Mechanism, word), f"{name} does not define {word}"
    for one in EXAMPLES[name]:
        mechanism = one.mechanism()
        assert isinstance(mechanism.cost(), Cost)
        assert mechanism.cost().loss > 0
        assert mechanism.half_width(0.5) < mechanism.half_width(0.99) < math.inf


def asked(one: Example, data: object) -> np.ndarray:
    key = str(one.mechanism()), repr(data)
    if key not in DRAWN:
        DRAWN[key] = draws(one.mechanism(), data, CHOICES if isinstance(data, list) else DRAWS)
    return DRAWN[key]


def off(share: float, n: int) -> float:
    """Five standard errors of a share."""
    return 5 * math.sqrt(max(share * (1 - share), 1 / n) / n)


@pytest.mark.parametrize("one", SHOWN)
def test_answers_have_the_stated_distribution(one):
    for data in (one.first, one.second):
        answers = asked(one, data)
        expected = one.chance(one.mechanism(), data, one.cut)
        assert abs(np.mean(answers <= one.cut) - expected) < off(expected, len(answers))


@pytest.mark.parametrize("one", SHOWN)
def test_one_person_changes_an_answer_by_no_more_than_the_cost(one):
    """(ε, δ): P[A] ≤ e^ε P[A'] + δ by the exact chances, both ways; where the inputs spend all of it, not with 0.7 ε."""
    mechanism = one.mechanism()
    cost = mechanism.cost()
    a, b = (one.chance(mechanism, data, one.cut) for data in (one.first, one.second))
    epsilon = cost.loss if cost.measure != "zcdp" else math.inf
    if cost.measure == "zcdp":  # Rényi divergence of order 2 of the event is at most 2ρ
        for p, q in ((a, b), (b, a)):
            assert math.log(p * p / q + (1 - p) ** 2 / (1 - q)) <= 2 * cost.loss + 1e-9
        return
    for p, q in ((a, b), (b, a), (1 - a, 1 - b), (1 - b, 1 - a)):
        assert p <= math.exp(epsilon) * q + cost.delta + 1e-9
    if one.tight:
        spent = max(abs(math.log(a / b)), abs(math.log((1 - a) / (1 - b))))
        assert spent > 0.7 * epsilon, "a cost of 0.7 times the stated one would not be told from it"
        answers = [np.mean(asked(one, data) <= one.cut) for data in (one.first, one.second)]
        assert abs(answers[0] - answers[1]) > abs(a - b) / 2


@pytest.mark.parametrize("one", SHOWN)
def test_neighbours_differ_by_what_a_person_moves(one):
    mechanism = one.mechanism()
    assert one.moved <= mechanism.global_sensitivity()
    if isinstance(one.first, dict):
        (before,), (after,) = one.first.values(), one.second.values()
        assert abs(after - before) * mechanism.groups <= mechanism.global_sensitivity()
    elif isinstance(one.first, list):
        scores = [mechanism.scores(x) if hasattr(mechanism, "scores") else np.array(x) for x in (one.first, one.second)]
        assert 0 < np.abs(scores[0] - scores[1]).max() <= mechanism.global_sensitivity()
    else:
        assert abs(float(one.second) - float(one.first)) == mechanism.global_sensitivity()


@pytest.mark.parametrize("one", SHOWN)
def test_the_variance_is_the_empirical_one(one):
    """A sample variance has a relative error of √((kurtosis - 1) / n); 0.7 and 1.3 times the stated one lie outside."""
    mechanism = one.mechanism()
    if math.isnan(mechanism.variance()):
        return
    if isinstance(one.first, bool):  # the estimate behind the answers of people of whom half say yes
        told = mechanism.answer([i % 2 == 0 for i in range(DRAWS)])
        found = np.array([mechanism.estimate(float(answer)) for answer in told])
    elif isinstance(one.first, dict):  # all groups are far above the threshold
        found = asked(one, {"a": 10_000})
    else:
        found = asked(one, one.first)
    centred = found - found.mean()
    variance = float(np.mean(centred**2))
    kurtosis = float(np.mean(centred**4)) / variance**2
    error = 5 * math.sqrt(max(kurtosis - 1, 1e-3) / len(found))
    assert error < 0.2
    assert abs(variance / mechanism.variance() - 1) < error


@pytest.mark.parametrize("one", SHOWN)
def test_an_answer_is_off_by_no_more_than_the_half_width(one):
    mechanism = one.mechanism()
    answers = asked(one, one.first)
    if isinstance(one.first, bool):
        far = np.abs(mechanism.estimate(float(answers.mean()))) > mechanism.half_width(0.999999, 0.25, DRAWS)
    elif isinstance(one.first, dict):
        far = np.abs(asked(one, {"a": 10_000}) - 10_000) > mechanism.half_width(0.9)
    elif isinstance(one.first, list):
        scores = mechanism.scores(one.first) if hasattr(mechanism, "scores") else np.array(one.first)
        options = answers.astype(int)  # the candidates of the example are 0, 1, 2 …
        limit = mechanism.half_width(0.9, len(scores)) if mechanism.name == "exponential" else mechanism.half_width(0.9)
        far = scores.max() - scores[options] > limit
    else:
        far = np.abs(answers - one.first) > mechanism.half_width(0.9)
    assert np.mean(far) < 0.1 + off(0.1, len(answers))
