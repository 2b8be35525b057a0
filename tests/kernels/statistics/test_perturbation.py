"""Arithmetic behind the perturbations: at hand-checked points, and distributions that reject 0.7 and 1.3 times the scale."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from celosia.errors import DataError, ParameterError
from celosia.kernels.perturbation.noise import covariance, log_normal_factors, reflect, root, truncated_factors
from celosia.kernels.perturbation.response import epsilon, estimate_shares, response_matrix, truth
from celosia.kernels.perturbation.shuffle import shuffle
from celosia.kernels.perturbation.transition import invariant, raise_diagonal, toward_margin, unbiased_counts
from celosia.methods.bases.aggregate import means, medians, medoids, middle_codes, modes
from celosia.methods.bases.robust import centre_and_scatter, outliers, squared_distances
from celosia.methods.noise.orthogonal_mask import rotate


@given(st.floats(-1e6, 1e6), st.floats(-100, 100), st.floats(0, 50))
@settings(max_examples=200, deadline=None)
def test_a_reflected_value_is_inside_and_an_inner_one_stays(x, low, width):
    high = low + width
    folded = float(reflect(np.array([x]), low, high)[0])
    assert low - 1e-9 <= folded <= high + 1e-9
    if low < x < high:
        assert folded == pytest.approx(x, abs=1e-9)


def test_reflection_at_one_side_only():
    assert reflect(np.array([-3.0, 2.0]), 0.0, math.inf).tolist() == [3.0, 2.0]
    assert reflect(np.array([-3.0, 12.0]), -math.inf, 10.0).tolist() == [-3.0, 8.0]
    assert math.isnan(reflect(np.array([np.nan]), 0.0, 1.0)[0])
    with pytest.raises(ParameterError, match="the smaller first"):
        reflect(np.array([0.0]), 1.0, 0.0)


def test_covariance_of_the_course():
    age = [42, 28, 51, 23, 12, 68, 30, 46, 55, 62]
    income = [20000, 21000, 19003.2, 40000.55, 10000, 9500.33, 40400, 30300, 10100, 80700.2]
    sigma = covariance(np.column_stack([age, income]).astype(float))
    assert sigma[0, 0] == pytest.approx(294.21)
    assert sigma[0, 1] == pytest.approx(53003.2214)
    assert sigma[0, 1] / math.sqrt(sigma[0, 0] * sigma[1, 1]) == pytest.approx(0.1497010111237286)
    assert np.allclose(root(sigma) @ root(sigma).T, sigma)


@pytest.mark.parametrize("make", [log_normal_factors, truncated_factors])
def test_factors_have_mean_one_and_the_stated_variance(make):
    rng = np.random.default_rng(0)
    draws = rng.standard_normal(200_000) if make is log_normal_factors else rng.random(200_000)
    factor = make(0.04, draws)
    assert factor.mean() == pytest.approx(1.0, abs=0.002)
    assert factor.var() == pytest.approx(0.04, rel=0.03)
    assert factor.min() > 0
    with pytest.raises(ParameterError, match="log-normal shape"):
        truncated_factors(0.5, np.array([0.5]))


@pytest.mark.parametrize(("p", "n", "d"), [(0.1, 200, 3), (1.0, 181, 2), (2.0, 90, 1)])
def test_rotations_keep_moments_exactly_and_move_by_the_share(p, n, d):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, d)) * [10, 1, 0.1][:d] + 5
    y = rotate(x, p, rng)
    assert np.allclose(y.mean(axis=0), x.mean(axis=0))
    assert np.allclose(np.cov(y.T), np.cov(x.T))
    share = np.mean([((rotate(x, p, rng) - x) ** 2).sum() / ((x - x.mean(axis=0)) ** 2).sum() for _ in range(60)])
    assert share == pytest.approx(p, rel=0.12)
    with pytest.raises(DataError, match="at least 9 records"):
        rotate(x[:8], p, rng)


@pytest.mark.parametrize("p", [1e-6, 1e-12, 1e-16])
def test_small_rotations_move_by_their_share(p):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(500, 2))
    share = ((rotate(x, p, rng) - x) ** 2).sum() / ((x - x.mean(axis=0)) ** 2).sum()
    assert 0.85 * p < share < 1.15 * p


@given(st.lists(st.integers(1, 500), min_size=1, max_size=8), st.floats(0.3, 1.0))
@settings(max_examples=100, deadline=None)
def test_the_diagonal_is_a_lower_bound_and_counts_are_kept(counts, diagonal):
    t = np.array(counts, dtype=float)
    if len(t) > 1 and diagonal < (t / t.sum()).min():
        return
    matrix = toward_margin(t, diagonal)
    assert np.allclose(matrix.sum(axis=1), 1)
    assert (matrix >= 0).all()
    assert np.allclose(t @ matrix, t)
    assert np.diag(matrix).min() == pytest.approx(diagonal if len(t) > 1 else 1.0)


@given(st.integers(2, 6), st.integers(0, 10_000), st.floats(0.05, 1.0))
@settings(max_examples=100, deadline=None)
def test_any_matrix_can_be_made_invariant_with_a_lower_bound(size, seed, diagonal):
    rng = np.random.default_rng(seed)
    given_matrix = rng.dirichlet(np.ones(size), size)
    t = rng.integers(1, 100, size).astype(float)
    matrix = raise_diagonal(invariant(given_matrix, t), diagonal)
    assert np.allclose(t @ matrix, t)
    assert np.diag(matrix).min() >= diagonal - 1e-12
    assert np.allclose(matrix.sum(axis=1), 1)


def test_invariant_matrix_of_sdcmicro_passes_our_checks(shared):
    import json

    golden = json.loads(shared("golden/sdcmicro/pram_testdata_water_roof.json").read_text())["water"]
    matrix, counts = np.array(golden["Rs"]), np.array(golden["freq"], dtype=float)
    assert np.allclose(counts @ matrix, counts)
    assert np.diag(matrix).min() < 0.8, "its pd = 0.8 is no lower bound"
    assert np.diag(raise_diagonal(matrix, 0.8)).min() >= 0.8


def test_counts_are_estimated_without_bias_and_with_the_right_error():
    rng = np.random.default_rng(2)
    matrix = np.array([[0.8, 0.2, 0.0], [0.1, 0.7, 0.2], [0.0, 0.3, 0.7]])
    truth_counts = np.array([500, 300, 200])
    found, errors = [], []
    for _ in range(800):
        seen = sum(rng.multinomial(t, row) for t, row in zip(truth_counts, matrix, strict=True))
        estimate, error = unbiased_counts(seen.astype(float), matrix)
        found.append(estimate)
        errors.append(error)
    assert np.allclose(np.mean(found, axis=0), truth_counts, atol=4)
    assert np.allclose(np.std(found, axis=0), np.mean(errors, axis=0), rtol=0.1)
    with pytest.raises(DataError, match="singular"):
        unbiased_counts(np.ones(2), np.full((2, 2), 0.5))


def test_randomised_response_of_the_course():
    assert response_matrix(0.5, 2).tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert epsilon(0.5, 2) == pytest.approx(math.log(3))
    for q in (0.1, 0.5, 0.9):
        assert epsilon(q, 2) == pytest.approx(math.log((1 + q) / (1 - q)))
        for k in (2, 5, 20):
            matrix = response_matrix(q, k)
            assert math.log((matrix.max(axis=0) / matrix.min(axis=0)).max()) == pytest.approx(epsilon(q, k))
            assert truth(epsilon(q, k), k) == pytest.approx(q)
    share, _, _ = estimate_shares(np.array([60.0, 40.0]), 0.5)
    assert share[0] == pytest.approx(2 * 0.6 - 0.5)


def test_the_interval_of_randomised_response_covers():
    rng = np.random.default_rng(3)
    q, p, n, hits = 0.4, np.array([0.55, 0.3, 0.15]), 400, 0
    answers = p @ response_matrix(q, 3)
    for _ in range(500):
        _, low, high = estimate_shares(rng.multinomial(n, answers).astype(float), q)
        hits += low[1] <= p[1] <= high[1]
    assert 0.92 <= hits / 500 <= 0.98


def test_robust_centre_ignores_a_cluster_of_outliers():
    rng = np.random.default_rng(4)
    x = np.vstack([rng.normal(size=(300, 2)), rng.normal(size=(30, 2)) + 40])
    centre, scatter = centre_and_scatter(x, rng)
    assert np.abs(centre).max() < 0.4
    assert np.abs(centre_and_scatter(x)[0]).min() > 2
    assert set(np.flatnonzero(outliers(x, 0.001, rng)).tolist()) >= set(range(300, 330))
    assert outliers(x, 0.001, rng).sum() < 40
    collinear = np.column_stack([x[:, 0], 2 * x[:, 0], x[:, 1]])
    assert np.isfinite(squared_distances(collinear, *centre_and_scatter(collinear))).all()
    assert scatter.shape == (2, 2)
    with pytest.raises(DataError, match="too few"):
        centre_and_scatter(x[:2])


def test_shuffling_keeps_margins_exactly_and_rank_correlations_on_average():
    rng = np.random.default_rng(5)
    base = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0.5], [0.8, 1, 0.4], [0.5, 0.4, 1]], 4000)
    x, s = np.exp(base[:, :2]), base[:, 2:]
    y = shuffle(x, s, rng)
    assert (np.sort(y, axis=0) == np.sort(x, axis=0)).all()
    before = stats.spearmanr(np.hstack([x, s])).statistic
    after = stats.spearmanr(np.hstack([y, s])).statistic
    assert np.abs(before - after).max() < 0.05
    # given s, the new values know nothing of the old ones: partial correlation is about 0
    old = stats.spearmanr(x[:, 0], y[:, 0]).statistic
    assert old == pytest.approx(before[0, 2] ** 2, abs=0.06)


def test_aggregates_against_plain_loops():
    rng = np.random.default_rng(6)
    group = np.concatenate([np.arange(5), rng.integers(0, 5, 30)])
    x = rng.normal(size=(35, 2))
    codes = rng.integers(0, 4, 35)
    for g in range(5):
        own = group == g
        assert np.allclose(means(x, group)[g], x[own].mean(axis=0))
        assert np.allclose(medians(x, group)[g], np.median(x[own], axis=0))
        assert modes(codes, group)[g] == np.bincount(codes[own]).argmax()
        assert middle_codes(codes, group)[g] == np.sort(codes[own])[(own.sum() - 1) // 2]
        pairwise = ((x[own][:, None] - x[own][None]) ** 2).sum(axis=(1, 2))
        assert medoids(x, group)[g] == np.flatnonzero(own)[pairwise.argmin()]
