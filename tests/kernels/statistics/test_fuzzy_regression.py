"""Fuzzy c-regression: the objective, known mixtures, blind choice, radial functions, stepwise states."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.errors import DataError, ParameterError
from celosia.kernels.synthesis.design import design
from celosia.kernels.synthesis.fuzzy_regression import (
    best_fit,
    blind_clusters,
    first_memberships,
    fit,
    iterations,
    radial_features,
)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 10**6),
    st.integers(2, 6),
    st.integers(1, 3),
    st.integers(1, 2),
    st.sampled_from([1.2, 1.5, 2.0, 3.0]),
)
def test_the_objective_never_increases_and_memberships_add_up(seed, c, s, t, m):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(40, s)), rng.normal(size=(40, t))
    x[:, -1] = x[:, 0]  # a singular design when there are several columns
    start = rng.dirichlet(np.ones(c), 40)
    last = np.inf
    for state in islice(iterations(design(x), y, start, m), 25):
        assert state.objective <= last * (1 + 1e-12)
        assert np.allclose(state.memberships.sum(axis=1), 1)
        last = state.objective


def test_the_objective_never_increases_on_the_census(shared):
    values = np.loadtxt(shared("data/census.csv"), delimiter=",", skiprows=1)
    x = values[:, [1, 4, 7, 9]]
    for j in (0, 6, 11):  # a weight, taxable income, and wages that mostly equal earnings
        y = values[:, [j]]
        y = (y - y.mean()) / y.std()
        for c in (2, 7, 15):
            start = first_memberships(x, y, c, 1.5, np.random.default_rng(c))
            trace = [s.objective for s in islice(iterations(design(x), y, start), 30)]
            assert all(b <= a * (1 + 1e-12) for a, b in pairwise(trace))


def slow_step(x, y, u, m):
    """One iteration as the formulas say, with loops."""
    n, c = u.shape
    one = np.column_stack([np.ones(n), x])
    errors = np.empty((n, c))
    for i in range(c):
        d = np.diag(u[:, i] ** m)
        beta = np.linalg.pinv(one.T @ d @ one) @ one.T @ d @ y
        errors[:, i] = ((y - one @ beta) ** 2).sum(axis=1)
    new = np.empty_like(u)
    for k in range(n):
        for i in range(c):
            new[k, i] = 1 / sum((errors[k, i] / errors[k, j]) ** (1 / (m - 1)) for j in range(c))
    return new, float((new**m * errors).sum())


def test_one_iteration_is_that_of_the_formulas():
    rng = np.random.default_rng(4)
    x, y, u = rng.normal(size=(12, 2)), rng.normal(size=(12, 2)), rng.dirichlet(np.ones(3), 12)
    states = iterations(design(x), y, u, 1.5)
    for _ in range(3):
        state = next(states)
        u, objective = slow_step(x, y, u, 1.5)
        assert np.allclose(state.memberships, u, atol=1e-8)
        assert np.isclose(state.objective, objective)


def test_it_finds_the_lines_of_a_known_mixture():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (300, 1))
    which = np.arange(300) % 3
    lines = np.array([[0.0, 1.0], [20.0, -1.0], [5.0, 3.0]])
    y = (lines[which, 0] + lines[which, 1] * x[:, 0] + rng.normal(0, 0.05, 300))[:, None]
    state = best_fit(x, y, design(x), 3, rng, starts=10, max_iterations=100)
    found = state.lines(design(x))[:, :, 0]
    found = found[np.argsort(found[:, 1])]
    assert np.allclose(found, lines[np.argsort(lines[:, 1])], atol=0.1)
    groups = [state.nearest()[which == i] for i in range(3)]
    assert min((g == np.bincount(g).argmax()).mean() for g in groups) > 0.9


def test_lines_predict_what_the_state_predicts():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, 2)) + 5, rng.normal(size=(50, 2)) * 9 + 3
    for intercept in (True, False):
        model = design(x, intercept=intercept)
        state = best_fit(x, y, model, 2, rng)
        lines = state.lines(model)
        cluster = state.nearest()
        slow = np.array([lines[i, 0] + x[k] @ lines[i, 1:] for k, i in enumerate(cluster)])
        assert np.allclose(state.predict(model, cluster), slow)
        if not intercept:
            assert np.allclose(lines[:, 0], 0)


def test_more_starts_never_have_a_larger_objective():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(80, 1)), rng.normal(size=(80, 1))
    one = best_fit(x, y, design(x), 4, np.random.default_rng(9), starts=1)
    many = best_fit(x, y, design(x), 4, np.random.default_rng(9), starts=6)
    assert many.objective <= one.objective


def test_it_stops_at_a_small_change_or_the_limit():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(60, 1)), rng.normal(size=(60, 1))
    start = first_memberships(x, y, 2, 1.5, rng)
    assert fit(design(x), y, start, tolerance=1e-12, max_iterations=3).iteration == 3
    state = fit(design(x), y, start, tolerance=1e-3, max_iterations=500)
    assert state.change <= 1e-3


def test_a_blind_choice_follows_the_shares_and_ignores_y():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4000, 2))
    memberships = np.tile([0.8, 0.2], (4000, 1))
    share = (blind_clusters(x, memberships, rng.random(4000)) == 0).mean()
    assert abs(share - 0.8) < 0.03
    assert not abs(share - 0.56) < 0.03


def test_radial_functions_let_a_model_bend():
    rng = np.random.default_rng(6)
    x = rng.uniform(-3, 3, (200, 1))
    y = np.sin(2 * x)
    bent = design(radial_features(x, 12, rng)).residuals(y)
    straight = design(x).residuals(y)
    assert (bent**2).sum() < 0.05 * (straight**2).sum()


def test_wrong_parameters_are_said():
    x = y = np.zeros((3, 1))
    with pytest.raises(ParameterError, match="m must be greater than 1, got 1"):
        next(iterations(design(x), y, np.ones((3, 1)), 1.0))
    with pytest.raises(DataError, match="c must be smaller than the number of records, 3, got 3"):
        first_memberships(x, y, 3, 1.5, np.random.default_rng(0))
    with pytest.raises(DataError, match="radial must be at least 1 and below the number of records"):
        radial_features(x, 5, np.random.default_rng(0))
