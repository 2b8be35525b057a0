"""Mechanisms at their edges: what is no number, thresholds and widths by summing, scores by counting."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from celosia.errors import DataError, ParameterError
from celosia.mechanisms import (
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyHistogram,
    Quantile,
    RandomisedResponse,
)

WHOLE = [Geometric(epsilon=1.0), DiscreteGaussian(rho=0.5)]
ADDITIVE = [Laplace(epsilon=1.0), Gaussian(epsilon=1.0, delta=1e-5), *WHOLE]
EVERY = [
    *ADDITIVE,
    Exponential(epsilon=1.0),
    NoisyHistogram(epsilon=1.0, delta=1e-6),
    Quantile(epsilon=1.0, lower=0, upper=1),
    RandomisedResponse(),
]


def named(mechanism):
    return mechanism.name


@pytest.mark.parametrize("value", [math.nan, math.inf, None, "55", [1, None], [2.0, math.nan]], ids=repr)
@pytest.mark.parametrize("mechanism", ADDITIVE, ids=named)
def test_what_is_no_number_gets_no_noise(mechanism, value):
    """The library below would take a missing answer for 0 and a text for its digits."""
    with pytest.raises(DataError, match="finite numbers only") as told:
        mechanism.answer(value)
    assert "55" not in str(told.value)


@pytest.mark.parametrize("mechanism", WHOLE, ids=named)
def test_whole_noise_is_for_whole_numbers(mechanism):
    """Cut to whole numbers, an answer that one person moves by a half could move by one."""
    for value in (5.5, [1, -0.25], np.array([0.5])):
        with pytest.raises(DataError, match="whole numbers only"):
            mechanism.answer(value)
    assert isinstance(mechanism.answer(5.0), int)
    with pytest.raises(ParameterError, match="too large for integer noise"):
        mechanism.answer(10**400)


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=named)
def test_numbers_of_numpy_are_answered_as_those_of_python(mechanism):
    for one in (np.int64(5), np.float32(5.0), np.True_):
        assert isinstance(mechanism.answer(one), int | float)
    for several in (np.arange(3), (0, 1, 2), range(3), iter([0, 1, 2])):
        assert len(mechanism.answer(several)) == 3
    assert mechanism.answer([]) == []


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.5, math.nan])
@pytest.mark.parametrize("mechanism", EVERY, ids=named)
def test_a_level_lies_between_0_and_1(mechanism, level):
    with pytest.raises(ParameterError, match=f"strictly between 0 and 1, got {level}"):
        mechanism.half_width(level)


@pytest.mark.parametrize("mechanism", EVERY, ids=named)
def test_a_higher_level_has_a_wider_interval(mechanism):
    widths = [mechanism.half_width(level) for level in (0.5, 0.9, 0.99, 0.9999)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]
    assert mechanism.half_width() == mechanism.half_width(0.95)


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (lambda: Laplace(epsilon=1, sensitivity=math.inf), "laplace: sensitivity must be a finite number, got inf"),
        (lambda: Exponential(epsilon=1, sensitivity=math.inf), "exponential: sensitivity must be a finite number"),
        (lambda: Geometric(epsilon=1, sensitivity=0), "geometric: sensitivity must be at least 1, got 0"),
        (lambda: Laplace(epsilon=1e7), "laplace: epsilon must be at most 1000000.0, got 10000000.0"),
        (lambda: Quantile(epsilon=1, lower=-1.7e308, upper=1.7e308), "both finite, got -1.7e.308 and 1.7e.308"),
        (lambda: Quantile(epsilon=1, lower=2, upper=1), "lower must be below upper, both finite, got 2.0 and 1.0"),
        (lambda: Quantile(epsilon=1, lower=0, upper=1, q=1.5), "quantile: q must be at most 1.0, got 1.5"),
        (lambda: Quantile(epsilon=1, lower=0, upper=1, rows=0), "quantile: rows must be at least 1, got 0"),
        (lambda: NoisyHistogram(epsilon=1, delta=0), "noisy-histogram: delta must be more than 0.0, got 0"),
        (lambda: NoisyHistogram(epsilon=1, delta=1e-6, groups=0), "groups must be at least 1, got 0"),
    ],
)
def test_refused_parameters_are_told(build, told):
    with pytest.raises(ParameterError, match=told):
        build()


def tail(epsilon, groups, least):
    """The chance that two-sided geometric noise is at least that much, summed up."""
    p = math.exp(-epsilon / groups)
    return sum((1 - p) / (1 + p) * p**z for z in range(least, least + 4000))


@pytest.mark.parametrize("delta", [1e-9, 1e-4, 0.2])
@pytest.mark.parametrize("groups", [1, 3, 20])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_a_threshold_is_the_smallest_that_hides_a_group_of_one(epsilon, groups, delta):
    found = NoisyHistogram(epsilon=epsilon, delta=delta, groups=groups).threshold()

    def shown(threshold):  # one of the groups that this person alone makes
        return 1 - (1 - tail(epsilon, groups, threshold - 1)) ** groups

    assert shown(found) <= delta * (1 + 1e-9)
    assert found == 2 or shown(found - 1) > delta * (1 - 1e-6)
    assert found == Geometric(epsilon=epsilon, sensitivity=groups).threshold(delta, groups)


@pytest.mark.parametrize("touched", [1, 7])
def test_gaussian_thresholds_hide_a_group_of_one(touched):
    """Of the discrete Gaussian by summing; the threshold may be one too large, never too small."""
    mechanism, delta = DiscreteGaussian(rho=0.05, sensitivity=2), 1e-4
    sigma, found = mechanism.scale(), mechanism.threshold(delta, touched)
    weight = {z: math.exp(-z * z / (2 * sigma**2)) for z in range(-400, 401)}

    def shown(threshold):
        each = sum(w for z, w in weight.items() if 1 + z >= threshold) / sum(weight.values())
        return 1 - (1 - each) ** touched

    assert shown(found) <= delta < shown(found - 2)


def test_a_histogram_tells_no_order_and_no_negative_count():
    mechanism = NoisyHistogram(epsilon=50.0, delta=1e-6)
    counts = {"b": 500, 3: 700, None: 600, "a": 1, "gone": -5}
    for order in itertools.permutations(counts):
        assert list(mechanism.answer({name: counts[name] for name in order})) == ["b", 3, None]
    assert mechanism.answer({}) == {}
    assert NoisyHistogram(epsilon=0.1, delta=1e-6).interval(2)[0] == 0
    with pytest.raises(DataError, match="whole numbers only"):
        mechanism.answer({"a": 5.5})


def counted(values, mechanism):
    """Each candidate with the values below and above it, one by one; missing ones left out, others in the bounds."""
    inside = [min(max(x, mechanism.lower), mechanism.upper) for x in values if not math.isnan(x)]
    width = (mechanism.upper - mechanism.lower) / mechanism.steps
    for candidate in (mechanism.lower + i * width for i in range(mechanism.steps + 1)):
        less, more = sum(x < candidate for x in inside), sum(x > candidate for x in inside)
        if mechanism.q in (0, 1):
            yield -abs((less if mechanism.q == 0 else more) - mechanism.half_width(0.95))
        else:
            yield -abs((1 - mechanism.q) * less - mechanism.q * more)


@pytest.mark.parametrize("q", [0, 0.1, 0.5, 0.75, 1])
def test_scores_of_a_quantile_are_counts(q):
    rng = np.random.default_rng(3)
    mechanism = Quantile(epsilon=2.0, lower=-4, upper=4, q=q, steps=8, rows=2)
    for n in (0, 1, 5, 12):
        values = rng.integers(-8, 9, n).astype(float)
        values[rng.random(n) < 0.2] = math.nan
        assert mechanism.scores(values) == pytest.approx(list(counted(values, mechanism)))


@pytest.mark.parametrize("q", [0, 0.2, 0.5, 1])
def test_no_person_moves_a_score_by_more_than_stated(q):
    rng = np.random.default_rng(4)
    mechanism = Quantile(epsilon=1.0, lower=0, upper=10, q=q, steps=20, rows=3)
    for _ in range(40):
        others, hers = rng.integers(-2, 13, 9).astype(float), rng.integers(-2, 13, 3).astype(float)
        with_her, without = mechanism.scores(np.append(others, hers)), mechanism.scores(others)
        assert np.abs(with_her - without).max() <= mechanism.global_sensitivity() + 1e-9


def test_choices_by_hand():
    # 2 * 3 / 0.5 * ln(10 / 0.1) = 12 ln 100
    assert Exponential(epsilon=0.5, sensitivity=3).half_width(0.9, 10) == pytest.approx(12 * math.log(100))
    # 2 * (4 * 0.75) / 0.5 * ln(101 / 0.05) = 12 ln 2020
    quarter = Quantile(epsilon=0.5, lower=0, upper=1, q=0.25, steps=100, rows=4)
    assert quarter.half_width() == pytest.approx(12 * math.log(2020))
    assert quarter.ranks() == math.ceil(12 * math.log(2020))
    assert Exponential(epsilon=1.0).answer([-7.0]) == 0
    assert math.isnan(Exponential(epsilon=1.0).variance())
    with pytest.raises(DataError, match="a score is missing"):
        Exponential(epsilon=1.0).answer([1.0, math.nan])


@pytest.mark.parametrize("answer", ["no", ["yes"], [2], [math.nan], 0.5], ids=repr)
def test_only_true_and_false_are_responded(answer):
    """Any text is true to Python, a no as well."""
    with pytest.raises(DataError, match="neither true nor false"):
        RandomisedResponse().answer(answer)


def test_a_missing_answer_and_those_of_numpy():
    for missing in (None, [True, None]):
        with pytest.raises(DataError, match="an answer is missing; leave that person out"):
            RandomisedResponse().answer(missing)
    sure = RandomisedResponse(truth=1 - 1e-15)
    assert sure.answer(np.True_) is True
    assert sure.answer(0) is False
    assert sure.answer(np.array([True, False])) == [True, False]


def test_estimates_of_shares_by_hand():
    # truth 0.5, share 0.4 of 100: 0.4 * 0.6 / (100 * 0.25) = 0.0096, and 1.959964 * 0.09798 = 0.19204 around 0.3
    mechanism = RandomisedResponse()
    assert mechanism.variance(0.4, 100) == pytest.approx(0.0096)
    assert mechanism.interval(0.4, 100) == pytest.approx((0.3 - 0.19204, 0.3 + 0.19204), abs=1e-5)
    # nobody said yes: -0.5 without variance, everybody: 1.5; moved into the shares there are
    assert mechanism.interval(0.0, 10) == (0.0, 0.0)
    assert mechanism.interval(1.0, 10) == (1.0, 1.0)
    for share, people in ((1.2, 10), (-0.1, 10), (0.5, 0)):
        with pytest.raises(ParameterError, match=f"and people be at least 1, got {share} and {people}"):
            mechanism.variance(share, people)
