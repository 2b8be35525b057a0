"""Designs, generalised inverses and IPSO: identities by hand, on random data, and against a second way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.errors import DataError
from celosia.kernels.synthesis.design import design
from celosia.kernels.synthesis.ipso import identities, ipso


def data(seed: int, n: int, s: int, t: int, *, singular: bool = False):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, s)) * 10.0 ** rng.integers(-2, 5, s) + 100
    if singular and s > 1:
        x[:, -1] = x[:, :-1].sum(axis=1)
    y = rng.normal(size=(n, t)) * 10.0 ** rng.integers(-2, 5, t) + x[:, :1] * 0.1
    return x, y, rng.normal(size=(n, t))


def scaled_gap(a, b, y):
    sd = y.std(axis=0)
    return np.abs((a - b) / sd).max()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.integers(0, 30), st.booleans())
def test_the_identities_hold_whenever_there_are_enough_records(seed, s, t, more, singular):
    n = 1 + s + t + more
    x, y, noise = data(seed, n, s, t, singular=singular)
    for form in ("burridge", "thesis"):
        if form == "thesis" and n < 1 + s + 2 * t:
            continue
        made = {v: ipso(x, y, noise, v, form=form) for v in "ABC"}
        sd = y.std(axis=0)
        for v in "ABC":
            assert identities(x, y, made[v])["regression"] < 1e-10
            assert np.abs((made[v].mean(axis=0) - y.mean(axis=0)) / sd).max() < 1e-10
        assert identities(x, y, made["C"])["residual covariance"] < 1e-10
        # covariances of the dependent columns, and with the independent ones
        z, w, u = (a - a.mean(axis=0) for a in (y, made["C"], x))
        assert np.abs((z.T @ z - w.T @ w) / n / np.outer(sd, sd)).max() < 1e-10
        assert np.abs((u.T @ (z - w)) / n / np.outer(u.std(axis=0), sd)).max() < 1e-10


def test_a_is_the_fit_of_numpys_least_squares():
    x, y, noise = data(3, 50, 3, 2)
    one = np.column_stack([np.ones(50), x])
    slow = one @ np.linalg.lstsq(one, y, rcond=None)[0]
    assert scaled_gap(ipso(x, y, noise, "A"), slow, y) < 1e-10
    assert scaled_gap(design(x).coefficients(y), np.linalg.lstsq(one, y, rcond=None)[0], y) < 1e-8
    bare = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    assert scaled_gap(ipso(x, y, noise, "A", intercept=False), bare, y) < 1e-9


def test_c_is_burridges_formula_with_cholesky_factors():
    x, y, noise = data(5, 40, 2, 3)
    model = design(x)
    free = model.residuals((noise - noise.mean(axis=0)) / noise.std(axis=0))
    left = model.residuals(y)
    low, own = np.linalg.cholesky(left.T @ left), np.linalg.cholesky(free.T @ free)
    slow = model.fitted_values(y) + free @ np.linalg.inv(own).T @ low.T
    made = ipso(x, y, noise, "C")
    # the factors agree up to the signs of their columns, and so does the distribution
    assert np.allclose((made - model.fitted_values(y)).T @ (made - model.fitted_values(y)), low @ low.T)
    assert np.allclose((slow - model.fitted_values(y)).T @ (slow - model.fitted_values(y)), low @ low.T)


def test_the_noise_of_b_has_the_asked_scale():
    x, y, noise = data(7, 400, 2, 2)
    left = design(x).residuals(y)
    unit = ipso(x, y, noise, "B", scale="unit") - ipso(x, y, noise, "A")
    scaled = ipso(x, y, noise, "B", scale="residual") - ipso(x, y, noise, "A")
    assert np.allclose(unit.std(axis=0), 1.0, atol=0.05)
    assert np.allclose((scaled**2).sum(axis=0), (left**2).sum(axis=0))


def test_the_thesis_form_is_orthogonal_to_the_original_too():
    x, y, noise = data(8, 60, 2, 2)
    for form, small in (("thesis", True), ("burridge", False)):
        extra = ipso(x, y, noise, "C", form=form) - design(x).fitted_values(y)
        r = (extra / extra.std(axis=0)).T @ (y - y.mean(axis=0)) / y.std(axis=0) / 60
        assert bool(np.abs(r).max() < 1e-10) is small


def test_too_few_records_are_refused_with_the_number():
    x, y, noise = data(1, 4, 2, 2)
    with pytest.raises(DataError, match=r"variant C needs at least 5 records .* got 4"):
        ipso(x, y, noise, "C")
    assert ipso(x, y, noise, "A").shape == (4, 2)


def test_constant_and_repeated_columns_add_nothing():
    x, y, noise = data(2, 30, 2, 1)
    wide = np.column_stack([x, np.full(30, 7.0), x[:, 0], 3 * x[:, 1] - 2])
    assert design(wide).rank == 3
    assert np.allclose(ipso(wide, y, noise, "C"), ipso(x, y, noise, "C"))
    flat = np.full((30, 1), 4.0)
    assert np.allclose(ipso(x, flat, noise, "C"), 4.0)


@pytest.mark.parametrize("setup", [((1, 3, 4, 6, 7, 9, 11, 12, 13), (2, 5, 8, 10), 4),
                                   ((4, 7, 12, 13), (1, 2, 3, 5, 6, 8, 9, 10, 11), 9)])  # fmt: skip
def test_the_identities_hold_on_the_singular_designs_of_the_census(shared, setup):
    values = np.loadtxt(shared("data/census.csv"), delimiter=",", skiprows=1)
    dependent, independent, rank = setup
    x, y = values[:, np.array(independent) - 1], values[:, np.array(dependent) - 1]
    assert design(x).rank == rank  # one less than the columns with the intercept: v5 = v8 + v10
    made = ipso(x, y, np.random.default_rng(0).normal(size=y.shape), "C")
    assert max(identities(x, y, made).values()) < 1e-12
    assert np.abs(np.cov(made.T) / np.cov(y.T) - 1).max() < 1e-10


R2 = {"S1": [.00158, .33303, .90607, .60954, .96279, .23065, .91397, .95903, .91712], "S2": [.92539, .96672, .96705, .92269]}  # fmt: skip


def test_the_fit_explains_the_golden_shares_of_variance(shared):
    values = np.loadtxt(shared("data/census.csv"), delimiter=",", skiprows=1)
    for name, dependent, independent in (
        ("S1", (1, 3, 4, 6, 7, 9, 11, 12, 13), (2, 5, 8, 10)),
        ("S2", (4, 7, 12, 13), (1, 2, 3, 5, 6, 8, 9, 10, 11)),
    ):
        x, y = values[:, np.array(independent) - 1], values[:, np.array(dependent) - 1]
        fit = ipso(x, y, np.zeros_like(y), "A")
        assert np.allclose(fit.var(axis=0) / y.var(axis=0), R2[name], atol=6e-6)
