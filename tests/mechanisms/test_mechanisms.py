from __future__ import annotations

import math

import numpy as np
import pytest

import celosia
from celosia.errors import DataError, ParameterError
from celosia.mechanisms import Exponential, Gaussian, Geometric, Laplace, NoisyHistogram, Quantile, RandomisedResponse
from celosia.parts import parts

DRAWS = 20_000


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(epsilon=0.1),
        Laplace(epsilon=2, sensitivity=90),
        Geometric(epsilon=0.1),
        Geometric(epsilon=0.5, sensitivity=3),
        Gaussian(epsilon=0.5, delta=1e-6),
    ],
)
def test_draws_have_the_stated_variance_and_interval(mechanism):
    draws = np.array(mechanism.answer([0] * DRAWS), dtype=float)
    # standard error of the mean absolute deviation; 0.7 and 1.3 times the stated scale are far outside
    mean = mechanism.noise().mean_absolute
    error = 5 * math.sqrt((mechanism.variance() - mean**2) / DRAWS)
    found = np.abs(draws).mean()
    assert abs(found - mean) < error
    assert abs(found - 0.7 * mean) > error
    assert abs(found - 1.3 * mean) > error
    low, high = mechanism.interval(0, 0.9)
    inside = np.mean((draws >= low) & (draws <= high))
    assert inside == pytest.approx(mechanism.coverage(high), abs=0.012)
    assert inside > 0.888


def test_lecture_values():
    assert Laplace(epsilon=0.1).scale() == 10
    assert Laplace(epsilon=0.1 / 4).scale() == pytest.approx(40)
    assert Laplace(epsilon=0.1).coverage(1) == pytest.approx(1 - math.exp(-0.1))
    assert Laplace(epsilon=0.1).cost() == celosia.kernels.budget.cost.Cost.pure(0.1)
    for epsilon in (0.1, 0.5, 1, 3):  # density at 0 is epsilon / 2: within a tiny t about epsilon t
        assert Laplace(epsilon=epsilon).coverage(1e-6) == pytest.approx(epsilon * 1e-6, rel=1e-3)


def test_a_single_number_and_whole_numbers():
    assert isinstance(Geometric(epsilon=1).answer(5), int)
    assert isinstance(Laplace(epsilon=1).answer(5.5), float)
    assert len(Laplace(epsilon=1).answer([1.0, 2.0])) == 2


def test_randomised_response_of_quixote():
    mechanism = RandomisedResponse()
    assert mechanism.epsilon() == pytest.approx(math.log(3))
    for p in (0, 0.1, 0.5, 0.9, 1):
        share = 0.25 + p / 2
        assert mechanism.estimate(share) == pytest.approx(2 * share - 0.5)
        assert mechanism.estimate(share) == pytest.approx(p)
    truth = np.arange(20_000) < 6000
    answers = np.array(mechanism.answer(truth.tolist()))
    assert answers.mean() == pytest.approx(0.25 + 0.3 / 2, abs=5 * math.sqrt(0.24 / 20_000))
    low, high = mechanism.interval(answers.mean(), 20_000, 0.9999)
    assert low < 0.3 < high
    assert RandomisedResponse(truth=0.9).epsilon() == pytest.approx(math.log(19))


def test_selection_and_quantile():
    assert Exponential(epsilon=100).answer([0, 1, 7, 3]) == 2
    with pytest.raises(DataError):
        Exponential(epsilon=1).answer([])
    x = np.concatenate([np.arange(1000), [np.nan]])
    mechanism = Quantile(epsilon=1, lower=0, upper=1000, q=0.25)
    found = np.array([mechanism.answer(x) for _ in range(60)])
    assert np.mean(np.abs(found - 250) <= mechanism.ranks()) >= 0.95
    assert np.std(found) > 0


def test_a_group_of_one_stays_hidden_and_large_groups_are_shown():
    mechanism = NoisyHistogram(epsilon=1, delta=1e-6)
    shown = [mechanism.answer({"alone": 1, "many": 500}) for _ in range(500)]
    assert all("alone" not in answer for answer in shown)
    assert all("many" in answer for answer in shown)
    loose = NoisyHistogram(epsilon=1, delta=0.5)  # broken on purpose: it shows groups of one
    assert any("alone" in loose.answer({"alone": 1}) for _ in range(100))


def test_refusals():
    for build in (
        lambda: Laplace(epsilon=0),
        lambda: Laplace(epsilon=1, sensitivity=0),
        lambda: Geometric(epsilon=1, sensitivity=1.5),
        lambda: Gaussian(epsilon=1),
        lambda: Gaussian(epsilon=1, delta=1),
        lambda: RandomisedResponse(truth=1),
        lambda: Quantile(epsilon=1, lower=1, upper=1),
    ):
        with pytest.raises(ParameterError):
            build()


def test_every_mechanism_states_its_cost_and_variance():
    for cls in parts("mechanism").values():
        assert callable(cls.cost)
        assert callable(cls.variance)
