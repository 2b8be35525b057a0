"""Probabilistic information loss: each part by hand, and against samples whose surprise is known to be uniform."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from scipy import stats

from celosia.loss.numbers import surprise as probabilistic_loss
from celosia.loss.numbers.surprise import (
    QUANTILES,
    Terms,
    kernel_density,
    normal_density,
    surprise,
    terms,
)


def test_mean_variance_and_covariance_by_hand():
    # x: -1 0 0 1, moved by 1: μ₂ = 1/2, Var of the mean = 1/8, z = 1 / √(1/8) = √8
    x = np.array([[-1.0], [0.0], [0.0], [1.0]])
    assert terms(x, x + 1).mean == pytest.approx(math.erf(math.sqrt(8 / 2)))
    assert terms(x, x + 1).variance == 0.0
    # doubled: μ₂' = 2, μ₄ = 1/2, Var of the variance = (1/2 - 1/4) / 4 = 1/16, z = 1.5 / (1/4) = 6
    assert terms(x, 2 * x).variance == pytest.approx(math.erf(6 / math.sqrt(2)))
    assert terms(x, 2 * x).mean == 0.0
    # a second column 1 0 0 1: μ₁₁ = 0, μ₂₂ = mean of x² (y - 1/2)² = (1/4 + 1/4) / 4 = 1/8, Var = 1/32;
    # doubled and turned round, 0 0 0 2 against -1 0 0 1: covariance 1/2, z = (1/2) / √(1/32) = √8
    both, other = np.column_stack([x[:, 0], [1, 0, 0, 1]]), np.column_stack([x[:, 0], [0.0, 0, 0, 2]])
    assert terms(both, other).covariance == pytest.approx(math.erf(math.sqrt(8 / 2)))


def test_the_mean_of_the_parts_leaves_out_those_that_are_not_there():
    assert Terms(0.2, 0.4, 0.6, None, None).value() == pytest.approx(0.4)
    assert Terms(0.2, 0.4, 0.6, 0.8, None).value() == pytest.approx(0.5)
    assert Terms(0.2, 0.4, 0.6, 0.8, 1.0).value() == pytest.approx(0.6)


def test_what_has_no_variance_is_certain():
    zero, one = np.zeros(2), np.ones(2)
    assert surprise(zero, np.array([0.0, 1e-20]), zero, one).tolist() == [0.0, 0.0]  # rounding of a number about 1
    assert surprise(zero, np.array([1e-6, 1e-20]), zero, np.array([1.0, 0.0])).tolist() == [1.0, 1.0]
    assert surprise(zero, one, np.array([-1e-30, np.inf]), one).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("density", ["kernel", "normal"])
def test_quantiles_by_plain_loops(density):
    rng = np.random.default_rng(1)
    x, y = rng.gamma(2.0, size=41), rng.normal(3.0, 1.0, size=41)
    if density == "normal":
        at = stats.norm(x.mean(), x.std()).pdf
    else:  # the rule of thumb as scipy takes it: a factor of the deviation with 1/(n - 1)
        at = stats.gaussian_kde(x, 1.06 * 41**-0.2 * x.std() / x.std(ddof=1))
    losses = []
    for q in [k / 20 for k in range(1, 20)]:
        before, after = np.quantile(x, q), np.quantile(y, q)
        deviation = math.sqrt(q * (1 - q) / 41) / float(np.ravel(at(before))[0])
        losses.append(2 * stats.norm.cdf(abs(after - before) / deviation) - 1)
    assert terms(x[:, None], y[:, None], density).quantiles == pytest.approx(np.mean(losses), rel=1e-9)
    assert len(QUANTILES) == 19


@pytest.mark.parametrize("block", [1, 19 * 40, 19 * 41, 19 * 42])
def test_densities_do_not_depend_on_the_block(block, monkeypatch):
    rng = np.random.default_rng(2)
    x, at = rng.normal(size=(41, 2)) * [1, 50], rng.normal(size=(19, 2))
    whole = kernel_density(x, at)
    monkeypatch.setattr(probabilistic_loss, "_BLOCK", block)
    assert kernel_density(x, at) == pytest.approx(whole, rel=1e-12)


def test_densities_integrate_to_one():
    x = np.random.default_rng(3).gamma(1.0, size=(30, 1))
    at = np.linspace(-20, 30, 20001)[:, None]
    for density in (kernel_density, normal_density):
        assert np.trapezoid(density(x, at)[:, 0], at[:, 0]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("scale", "accepted"), [(1.0, True), (0.7, False), (1.3, False)])
def test_the_loss_of_a_sample_is_uniform(scale, accepted):
    """A sample of the original moves a statistic by its own deviation: its loss is uniform, one half on average.

    With ``scale`` times the deviation in the denominator it would be (2/π) atan(1/scale): 0.61 for 0.7, 0.42 for 1.3.
    """
    rng = np.random.default_rng(4)
    x = rng.gamma(4.0, size=(600, 2)) @ np.array([[1.0, 0.5], [0.0, 0.8]])
    parts = []
    for _ in range(400):
        drawn = x[rng.integers(600, size=600)]
        told = terms(x, drawn)
        parts.append(astuple(told)[1:])
    means = np.mean(parts, axis=0)
    expected = 2 / math.pi * math.atan(1 / scale)
    assert (np.abs(means - expected) < 0.05).all() == accepted


@pytest.mark.parametrize("density", ["kernel", "normal"])
def test_parts_do_not_depend_on_units_or_the_order_of_records(density):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3))
    y = x + rng.normal(size=x.shape) * 0.3
    found = np.array(astuple(terms(x, y, density)))
    assert (found > 0).all()
    assert (found < 1).all()
    unit, zero = np.array([1e-3, 1.0, 250.0]), np.array([40.0, -1.0, 0.0])
    assert np.array(astuple(terms(x * unit + zero, y * unit + zero, density))) == pytest.approx(found, rel=1e-7)
    order = rng.permutation(50)
    assert np.array(astuple(terms(x[order], y, density))) == pytest.approx(found, rel=1e-9)
    turned = [2, 0, 1]
    assert np.array(astuple(terms(x[:, turned], y[:, turned], density))) == pytest.approx(found, rel=1e-9)


def test_a_column_that_became_constant_has_lost_its_correlations():
    # r = 1 on the line: its variance is 0, so that any other correlation is certain to be a loss
    x = np.column_stack([np.arange(6.0), 2 * np.arange(6.0)])
    gone = np.column_stack([np.arange(6.0), np.full(6, 0.1)])
    assert terms(x, gone).correlation == 1.0
    assert terms(gone, x).correlation is None
