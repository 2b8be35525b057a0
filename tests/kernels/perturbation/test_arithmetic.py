"""Reflection, rotation, shuffling and randomised response: exact where they must be exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from celosia.kernels.perturbation.noise import reflect
from celosia.kernels.perturbation.response import epsilon, estimate_shares, truth
from celosia.kernels.perturbation.shuffle import normal_scores, shuffle
from celosia.kernels.statistics.intervals import wilson
from celosia.methods.noise import orthogonal_mask
from celosia.methods.noise.orthogonal_mask import helmert, rotate

decimals = st.integers(-10_000, 10_000).map(lambda k: k / 100)  # 0.1 and the like are no sums of halves


@given(decimals, decimals, decimals)
@settings(max_examples=300, deadline=None)
def test_bounds_hold_to_the_last_digit_and_what_is_inside_stays(x, a, b):
    low, high = sorted((a, b))
    for bounds in ((low, high), (low, math.inf), (-math.inf, high)):
        folded = float(reflect(np.array([x]), *bounds)[0])
        assert bounds[0] <= folded <= bounds[1]
        if bounds[0] <= x <= bounds[1]:
            assert folded == x


def test_a_mirror_at_both_sides_by_hand():
    x = np.array([-0.5, 1.25, 2.5, 3.25, -7.75, np.nan])
    # between 0 and 1: 0.5; 0.75; 0.5; 3.25 → -1.25 → 1.25 → 0.75; -7.75 → 7.75 → … → 0.25
    assert reflect(x, 0.0, 1.0)[:5].tolist() == [0.5, 0.75, 0.5, 0.75, 0.25]
    assert np.isnan(reflect(x, 0.0, 1.0)[5])
    assert reflect(x, 2.0, 2.0)[:5].tolist() == [2.0] * 5
    assert reflect(np.array([-1.0, 1e9 + 0.1]), -1e9, math.inf).tolist() == [-1.0, 1e9 + 0.1]


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_helmert_columns_are_orthonormal_and_sum_to_zero(size):
    basis = helmert(size)
    assert basis.shape == (size, size - 1)
    assert basis.T @ basis == pytest.approx(np.eye(size - 1))
    assert basis.sum(axis=0) == pytest.approx(np.zeros(size - 1))


@pytest.mark.parametrize("n", [9, 10, 17, 18, 19, 27, 40])
@pytest.mark.parametrize("p", [0.01, 0.5, 2.0])
def test_the_matrix_itself(n, p, monkeypatch):
    """Rotating the unit vectors gives T: orthogonal, with T1 = 1, and as far from I as p says."""
    monkeypatch.setattr(orthogonal_mask, "CHUNK", 2)
    turn = rotate(np.eye(n), p, np.random.default_rng(n))
    assert turn @ turn.T == pytest.approx(np.eye(n), abs=1e-9)
    assert turn.sum(axis=1) == pytest.approx(np.ones(n))
    # Σ|Tx - x|² over all directions: p times n whatever the blocks
    assert ((turn - np.eye(n)) ** 2).sum() == pytest.approx(p * n, rel=1e-6)
    assert not np.allclose(turn, rotate(np.eye(n), p, np.random.default_rng(n + 1)))


@given(st.floats(0, 2000), st.integers(2, 50))
@settings(max_examples=200, deadline=None)
def test_truth_is_the_inverse_of_the_loss_at_any_size(loss, categories):
    q = truth(loss, categories)
    assert 0 <= q <= 1
    if loss < 25:  # beyond, 1 - q has no digits left
        assert epsilon(q, categories) == pytest.approx(loss, rel=1e-4, abs=1e-12)
    assert truth(loss + 0.5, categories) >= q
    assert truth(loss, categories + 1) <= q


def test_truth_at_the_ends():
    assert truth(0.0, 3) == 0.0
    assert truth(math.inf, 3) == 1.0
    assert epsilon(1.0, 3) == math.inf
    assert epsilon(0.0, 3) == 0.0
    assert truth(1e-9, 4) == pytest.approx(1e-9 / 4, rel=1e-6)  # ε / K: no digits lost


def test_shares_of_answers():
    share, low, high = estimate_shares(np.array([30.0, 70.0]), 1.0)  # everybody tells the truth: Wilson's interval
    assert share.tolist() == [0.3, 0.7]
    assert [low[0], high[0]] == pytest.approx(wilson(30, 100))
    # half tell the truth, of three: (Y - 1/6) / (1/2), cut to [0, 1]
    share, low, high = estimate_shares(np.array([10.0, 20.0, 70.0]), 0.5)
    assert share == pytest.approx([0.0, 2 * 0.2 - 1 / 3, 1.0])
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert all(np.isnan(part).all() for part in estimate_shares(np.zeros(2), 0.5))


def test_normal_scores_by_hand():
    # ranks 2.5, 2.5, 1 of three numbers, over 4
    found = normal_scores(np.array([np.nan, 5.0, 5.0, 1.0]))
    assert np.isnan(found[0])
    assert found[1:] == pytest.approx(stats.norm.ppf([0.625, 0.625, 0.25]))


def test_shuffling_where_there_is_little_to_shuffle():
    rng = np.random.default_rng(1)
    given_columns = rng.normal(size=(30, 1)) @ np.array([[1.0, 2.0]])  # collinear
    x = np.column_stack([np.full(30, 0.1), rng.normal(size=30), np.full(30, np.nan)])
    x[4, 1] = np.nan
    y = shuffle(x, given_columns, rng)
    assert y[:, 0].tolist() == [0.1] * 30
    assert np.isnan(y[:, 2]).all()
    assert np.isnan(y[4, 1])
    assert np.nansum(y[:, 1]) == pytest.approx(np.nansum(x[:, 1]))
    assert shuffle(x[:0], given_columns[:0], rng).shape == (0, 3)


def test_what_is_told_by_the_given_columns_stays_in_order():
    """A column that is a function of the given one has nothing left to draw: it comes back as it was."""
    s = stats.norm.ppf(np.random.default_rng(2).permutation(np.arange(1, 200)) / 200)
    x = np.exp(s)[:, None]
    assert np.array_equal(shuffle(x, s[:, None], np.random.default_rng(3)), x)
