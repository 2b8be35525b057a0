"""Log-linear risk: against direct arithmetic, a simulated population, coverage of the intervals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from celosia.errors import DataError
from celosia.risk import log_linear as module
from celosia.risk.log_linear import _misfit, _Table, log_linear


def population(cards, pairs, N, seed, strength=0.7):
    """Poisson frequencies of all cells with main effects and the given interactions."""
    rng = np.random.default_rng(seed)
    m = len(cards)
    log_rate = np.zeros(cards)
    for a, card in enumerate(cards):
        effect = -1.1 * np.sort(rng.exponential(1.0, card))
        log_rate = log_rate + effect.reshape([card if i == a else 1 for i in range(m)])
    for a, b in pairs:
        effect = rng.normal(0, strength, (cards[a], cards[b]))
        log_rate = log_rate + effect.reshape([cards[i] if i in (a, b) else 1 for i in range(m)])
    p = np.exp(log_rate).ravel()
    return rng.poisson(N * p / p.sum())


def patterns(f, cards):
    cells = np.flatnonzero(f)
    return np.stack(np.unravel_index(cells, cards), axis=1).astype(np.int32), f[cells].astype(float)


def truth(f, F):
    return ((f == 1) & (F == 1)).sum(), (1 / F[f == 1]).sum()


def test_independence_by_hand():
    # margins 10, 4 and 9, 5 of n = 14: mu of the unique cell (1, 1) is 4 · 5 / 14
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    found = log_linear(codes, np.array([6.0, 4.0, 3.0, 1.0]), 0.2, np.random.default_rng(0), "independence")
    rate = 4 * 5 / 14 / 0.2
    assert found.tau1 == pytest.approx(math.exp(-0.8 * rate))
    assert found.tau2 == pytest.approx((1 - math.exp(-0.8 * rate)) / (0.8 * rate))
    assert found.unique.tolist()[:3] == [0, 0, 0]
    assert found.interactions == ()


def test_margins_are_fitted():
    rng = np.random.default_rng(1)
    cards = (3, 4, 2)
    f = rng.poisson(5, cards).astype(float)
    codes, counts = patterns(f.ravel(), cards)
    table = _Table.of(codes, counts, dense=True)
    mu = table.fit([(0, 1), (1, 2)]).reshape(cards)
    np.testing.assert_allclose(mu.sum(axis=2), f.sum(axis=2), rtol=1e-6)
    np.testing.assert_allclose(mu.sum(axis=0), f.sum(axis=0), rtol=1e-6)
    # a decomposable model has a closed form: n_ij+ n_+jk / n_+j+
    closed = f.sum(axis=2, keepdims=True) * f.sum(axis=0, keepdims=True) / f.sum(axis=(0, 2), keepdims=True)
    np.testing.assert_allclose(mu, closed, rtol=1e-6)


def test_large_key_tables(monkeypatch):
    codes = np.array([[0, 0], [9, 9], [3, 4]], dtype=np.int32)
    counts = np.array([5.0, 1.0, 2.0])
    rng = np.random.default_rng(0)
    whole = log_linear(codes, counts, 0.1, rng, "independence")
    monkeypatch.setattr(module, "LARGEST_TABLE", 50)
    # independence needs the observed cells only; the others say what to do
    assert log_linear(codes, counts, 0.1, rng, "independence").tau1 == pytest.approx(whole.tau1)
    with pytest.raises(DataError, match="has 100 cells, more than 50"):
        log_linear(codes, counts, 0.1, rng, "two-way")


def test_a_simulated_population_of_100_000():
    # 5 % samples; on average some 26 sample uniques are population uniques, and 1/F adds up to some 74
    cards = (2, 5, 6, 7, 10)
    F = population(cards, [(0, 1), (2, 3), (1, 4)], 100_000, 11)
    rng = np.random.default_rng(5)
    true, found, sample_mean = [], [], []
    for _ in range(12):
        f = rng.binomial(F, 0.05)
        codes, counts = patterns(f, cards)
        estimate = log_linear(codes, counts, 0.05, rng, "stepwise", replicates=2)
        true.append(truth(f, F))
        found.append((estimate.tau1, estimate.tau2))
        # what sdcMicro computes: the sample mean in the place of the population's
        mu = _Table.of(codes, counts, dense=True).fit(estimate.interactions)[
            np.ravel_multi_index(tuple(codes.T), cards)
        ]
        sample_mean.append(np.exp(-0.95 * mu[counts == 1]).sum())
    (t1, t2), (e1, e2) = np.mean(true, axis=0), np.mean(found, axis=0)
    assert 15 < t1 < 45
    assert 50 < t2 < 130
    assert e1 == pytest.approx(t1, rel=0.25)
    assert e2 == pytest.approx(t2, rel=0.25)
    assert np.mean(sample_mean) > 3 * t1


def test_stepwise_finds_the_interactions_that_are_there():
    cards = (3, 4, 5, 6)
    pairs = {(0, 1), (2, 3)}
    F = population(cards, pairs, 200_000, 2, strength=1.0)
    f = np.random.default_rng(1).binomial(F, 0.1)
    codes, counts = patterns(f, cards)
    found = log_linear(codes, counts, 0.1, np.random.default_rng(0), "stepwise", replicates=0)
    assert set(found.interactions) <= pairs
    simple = log_linear(codes, counts, 0.1, np.random.default_rng(0), "independence", replicates=0)
    assert abs(found.misfit) < abs(simple.misfit)
    assert math.isnan(simple.tau1_interval[0])


def test_misfit_is_standard_normal_under_the_model():
    rng = np.random.default_rng(3)
    mu = rng.gamma(0.5, 0.4, 4000)
    values = [_misfit(rng.poisson(mu).astype(float), mu, 0.1) for _ in range(400)]
    assert np.mean(values) == pytest.approx(0, abs=0.2)
    assert np.std(values) == pytest.approx(1, abs=0.12)


@pytest.mark.long
def test_intervals_cover_and_half_of_them_do_not():
    runs, cards = 2000, (4, 5, 6, 7)
    rng = np.random.default_rng(9)
    p = np.ones(1)
    for card in cards:
        p = np.multiply.outer(p, np.sort(rng.dirichlet(np.full(card, 0.7)))).ravel()
    hits = np.zeros(2)
    halves = np.zeros(2)
    for _ in range(runs):
        F = rng.poisson(6000 * p)
        f = rng.binomial(F, 0.1)
        codes, counts = patterns(f, cards)
        found = log_linear(codes, counts, 0.1, rng, "independence")
        sides = ((found.tau1, found.tau1_interval), (found.tau2, found.tau2_interval))
        for i, ((value, (low, high)), true) in enumerate(zip(sides, truth(f, F), strict=True)):
            hits[i] += low <= true <= high
            halves[i] += value - (value - low) / 2 <= true <= value + (high - value) / 2
    for hit, half in zip(hits, halves, strict=True):
        assert binomtest(int(hit), runs, 0.95).pvalue > 1e-3
        assert binomtest(int(half), runs, 0.95, alternative="less").pvalue < 1e-6


def test_unknown_cells_do_not_matter_to_two_keys():
    # with two keys all two-way is the saturated model: mu = f, so a unique has rate 1/pi
    codes = np.array(list(itertools.product(range(3), range(3))), dtype=np.int32)
    counts = np.array([5.0, 1, 2, 1, 1, 3, 2, 4, 1])
    found = log_linear(codes, counts, 0.25, np.random.default_rng(0), "two-way", replicates=0)
    assert found.tau1 == pytest.approx(4 * math.exp(-0.75 * 4))
