"""The noise has the stated scale: 0.7 and 1.3 times it are rejected, and neighbours stay within epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from celosia.errors import ParameterError
from celosia.kernels.budget import noise as n
from celosia.kernels.budget import scales

DRAWS = 100_000


def fits(draws: np.ndarray, stated: n.Noise) -> bool:
    """The mean absolute draw within five standard errors of the stated one, and the stated share within its half
    width."""
    error = np.abs(draws)
    standard = math.sqrt(max(stated.variance - stated.mean_absolute**2, 1e-12) / len(draws))
    share = np.mean(error <= stated.half_width(0.9))
    exact = stated.probability_within(stated.half_width(0.9))
    return bool(
        abs(error.mean() - stated.mean_absolute)
        < 5 * standard + 0.002 * stated.mean_absolute * (not isinstance(stated, n.LaplaceNoise))
        and abs(share - exact) < 5 * math.sqrt(exact * (1 - exact) / len(draws))
    )


@pytest.mark.parametrize(
    "stated",
    [
        n.LaplaceNoise(10.0),
        n.LaplaceNoise(0.7),
        n.LaplaceNoise(40.0, discrete=False),
        n.GaussianNoise(5.0),
        n.GaussianNoise(80.0),
        n.GaussianNoise(3.0, discrete=False),
    ],
)
def test_draws_have_the_stated_scale_and_no_other(stated):
    count = DRAWS if stated.discrete and isinstance(stated, n.LaplaceNoise) else DRAWS // 5
    draws = np.array(stated.add([0] * count), dtype=float)
    assert fits(draws, stated)
    for factor in (0.7, 1.3):
        assert not fits(draws, type(stated)(stated.scale * factor, stated.discrete))
    assert abs(draws.mean()) < 5 * math.sqrt(stated.variance / count)


@pytest.mark.parametrize(
    "stated", [n.LaplaceNoise(3.3), n.LaplaceNoise(0.4), n.GaussianNoise(2.2), n.GaussianNoise(41.0)]
)
def test_distribution_functions_against_plain_summation(stated):
    reach = range(-2000, 2001)
    if isinstance(stated, n.LaplaceNoise):
        weights = np.array([math.exp(-abs(z) / stated.scale) for z in reach])
    else:
        weights = np.array([math.exp(-z * z / (2 * stated.scale**2)) for z in reach])
    weights /= weights.sum()
    z = np.array(reach)
    assert (weights * z**2).sum() == pytest.approx(stated.variance, rel=0.02)
    assert (weights * np.abs(z)).sum() == pytest.approx(stated.mean_absolute, rel=0.03)
    for t in (0, 1, 2.5, 7):
        assert weights[np.abs(z) <= t].sum() == pytest.approx(stated.probability_within(t), abs=2e-4)
    for level in (0.5, 0.9, 0.95, 0.999):
        t = stated.half_width(level)
        assert weights[np.abs(z) <= t].sum() >= level - 2e-4
        assert t == 0 or weights[np.abs(z) <= t - 1].sum() < level + 2e-4


@pytest.mark.parametrize("stated", [n.LaplaceNoise(1.7, discrete=False), n.GaussianNoise(2.2, discrete=False)])
def test_distribution_functions_on_the_reals_against_plain_summation(stated):
    z = np.linspace(-60, 60, 600_001)
    laplace = isinstance(stated, n.LaplaceNoise)
    weights = np.exp(-np.abs(z) / stated.scale if laplace else -((z / stated.scale) ** 2) / 2)
    weights /= weights.sum()
    assert (weights * z**2).sum() == pytest.approx(stated.variance, rel=1e-4)
    assert (weights * np.abs(z)).sum() == pytest.approx(stated.mean_absolute, rel=1e-4)
    assert stated.probability_within(-0.1) == 0
    for t in (0, 0.3, 1, 2.5, 7):
        assert weights[np.abs(z) <= t].sum() == pytest.approx(stated.probability_within(t), abs=2e-4)
    for level in (0.5, 0.9, 0.95, 0.999):
        assert weights[np.abs(z) <= stated.half_width(level)].sum() == pytest.approx(level, abs=2e-4)


def largest_loss(first: np.ndarray, second: np.ndarray) -> float:
    """A lower confidence bound on epsilon from draws on two neighbours: the best event among tails and intervals."""
    best = 0.0
    for cut in np.quantile(np.concatenate([first, second]), np.linspace(0.02, 0.98, 49)):
        for above in (True, False):
            a = np.mean(first > cut) if above else np.mean(first <= cut)
            b = np.mean(second > cut) if above else np.mean(second <= cut)
            for p, q in ((a, b), (b, a)):
                low = p - 4 * math.sqrt(p * (1 - p) / len(first))
                high = q + 4 * math.sqrt(q * (1 - q) / len(second))
                if low > 0 and high > 0:
                    best = max(best, math.log(low / high))
    return best


def test_two_neighbours_bound_epsilon_and_catch_a_broken_mechanism():
    epsilon = 0.5
    honest = n.laplace_for(1, epsilon)
    first, second = (np.array(honest.add([v] * DRAWS)) for v in (14237, 14236))
    assert largest_loss(first, second) <= epsilon
    assert largest_loss(first, second) > 0.8 * epsilon  # the test has power: it nearly reaches the bound
    broken = n.LaplaceNoise(honest.scale * 0.7)
    first, second = (np.array(broken.add([v] * DRAWS)) for v in (14237, 14236))
    assert largest_loss(first, second) > epsilon


def test_gaussian_at_its_epsilon():
    sigma = scales.gaussian(1.0, 1.0, 1e-3)
    noise = n.GaussianNoise(sigma, discrete=False)
    first, second = (np.array(noise.add([v] * 30_000)) for v in (1.0, 0.0))
    cut = sigma**2 * 1.0 + 0.5  # the event {x > eps sigma^2 / Delta + Delta / 2} attains delta
    p, q = np.mean(first > cut), np.mean(second > cut)
    assert p <= math.e * q + 1e-3 + 4 * math.sqrt(p / 30_000) + 4 * math.e * math.sqrt(q / 30_000)
    assert scales.gaussian_delta(sigma, 1.0) <= 1e-3
    assert scales.gaussian_delta(sigma * 0.999, 1.0) > 1e-3


def test_scales_of_the_sources():
    assert scales.laplace(1, 0.1) == 10  # E14
    assert scales.laplace(1, 0.1 / 4) == pytest.approx(40)  # E16
    assert [n.LaplaceNoise(1 / e, discrete=False).variance for e in (0.1, 0.5, 1, 3)] == pytest.approx(
        [200, 8, 2, 2 / 9]
    )
    assert n.LaplaceNoise(10.0, discrete=False).probability_within(1) == pytest.approx(0.0952, abs=1e-4)  # V05
    assert n.LaplaceNoise(1 / math.log(20), discrete=False).probability_within(1) == pytest.approx(0.95)


def test_analytic_gaussian_is_never_larger_than_the_classical_one():
    for epsilon in (0.1, 0.5, 0.99):
        for delta in (1e-3, 1e-6, 1e-12):
            assert scales.gaussian(2.0, epsilon, delta) < 2.0 * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def test_cost_by_opendps_map_never_exceeds_what_was_asked():
    for epsilon in (0.1, 0.3, 1 / 3, 0.7, 1e-3):
        for sensitivity in (1, 3, 90):
            assert n.laplace_for(sensitivity, epsilon).spent(sensitivity) <= epsilon
            assert n.gaussian_for_zcdp(sensitivity, epsilon).spent(sensitivity) <= epsilon


def _spreads(rows: int, largest: int) -> Iterator[tuple[int, ...]]:
    """All ways in which a person's rows can lie in keys that nobody else has."""
    yield ()
    for first in range(1, min(rows, largest) + 1):
        yield from ((first, *rest) for rest in _spreads(rows - first, first))


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
@pytest.mark.parametrize("delta", [0.2, 0.01, 1e-6])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_row_threshold_hides_a_person_however_the_rows_are_spread(epsilon, delta, rows):
    scale = rows / epsilon
    p = math.exp(-1 / scale)

    def reached(t: int) -> float:
        """The chance that the noise is at least t > 0."""
        return p**t / (1 + p)

    def shown(t: int) -> float:
        return max(1 - math.prod(1 - reached(t - count) for count in spread) for spread in _spreads(rows, rows))

    t = scales.row_threshold(scale, delta, rows)
    assert shown(t) <= delta * (1 + 1e-9)
    assert t == rows + 1 or shown(t - 1) > delta, "no larger than it must be"


@pytest.mark.parametrize("shape", ["laplace", "gaussian"])
def test_threshold_keeps_a_single_person_hidden(shape):
    scale, delta, touched = 2.0, 1e-4, 3
    t = scales.threshold(scale, delta, touched, shape=shape)
    z = np.arange(-400, 401)
    weights = np.exp(-np.abs(z) / scale) if shape == "laplace" else np.exp(-(z**2) / (2 * scale**2))
    weights /= weights.sum()
    shown = weights[1 + z >= t].sum()
    assert 1 - (1 - shown) ** touched <= delta
    if shape == "laplace":  # exact there: one lower would break the promise
        assert 1 - (1 - weights[1 + z >= t - 1].sum()) ** touched > delta


def test_selection_follows_its_scores():
    """Permute-and-flip at epsilon 1 with two scores one apart: P(worse) = e^{-1/2} / 2."""
    picks = np.array([n.choose([0.0, 1.0], 1.0, 1.0) for _ in range(8000)])
    expected = math.exp(-0.5) / 2
    assert abs(np.mean(picks == 0) - expected) < 5 * math.sqrt(expected * (1 - expected) / 8000)


def test_coin_of_quixote():
    yes = np.array([n.respond(True, 0.75) for _ in range(20_000)])
    no = np.array([n.respond(False, 0.75) for _ in range(20_000)])
    assert abs(yes.mean() - 0.75) < 5 * math.sqrt(0.1875 / 20_000)
    assert abs(no.mean() - 0.25) < 5 * math.sqrt(0.1875 / 20_000)
    assert math.log(yes.mean() / no.mean()) == pytest.approx(math.log(3), abs=0.1)


def test_refusals():
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ParameterError):
            n.LaplaceNoise(bad)
        with pytest.raises(ParameterError):
            scales.laplace(1.0, bad)
    with pytest.raises(ParameterError):
        scales.threshold(1.0, 0.0)
    with pytest.raises(ParameterError, match=r"scale must be positive and touched at least 1, got 0\.0 and 1"):
        scales.threshold(0.0, 1e-6)
    for noise in (n.LaplaceNoise(1.0), n.GaussianNoise(1.0), n.LaplaceNoise(1.0, discrete=False)):
        for level in (0.0, 1.0):
            with pytest.raises(ParameterError, match="level"):
                noise.half_width(level)
    with pytest.raises(ParameterError, match="too large"):
        n.LaplaceNoise(1.0).add([2**63])
    assert n.LaplaceNoise(1.0).add([]) == []


def test_large_sums_keep_their_size():
    (found,) = n.LaplaceNoise(5.0).add([2**40])
    assert abs(found - 2**40) < 1000
    (found,) = n.GaussianNoise(5.0).add([2**40])
    assert abs(found - 2**40) < 1000
    assert n.laplace_for(2**33, 1.0).spent(2**33) <= 1.0
