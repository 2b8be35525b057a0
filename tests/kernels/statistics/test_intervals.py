"""Intervals: published examples, coverage, and half an interval that is rejected."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from celosia.kernels.statistics.intervals import bootstrap, newcombe, wilson


def test_wilson_equals_scipy():
    for k, n in ((0, 20), (3, 20), (20, 20), (81, 263)):
        expected = binomtest(k, n).proportion_ci(method="wilson")
        assert wilson(k, n) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0.5, 3)[0] > 0


def test_newcombe_published_example():
    # Newcombe (1998), table II, method 10
    assert newcombe((56, 70), (48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert newcombe((9, 10), (3, 10)) == pytest.approx((0.1705, 0.8090), abs=5e-5)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5])
def test_wilson_covers_and_half_of_it_does_not(p):
    runs = 2000
    rng = np.random.default_rng(int(100 * p))
    hit = half = 0
    for k in rng.binomial(100, p, runs):
        low, high = wilson(k, 100)
        middle = (low + high) / 2
        hit += low <= p <= high
        half += (middle + low) / 2 <= p <= (middle + high) / 2
    assert 0.93 < hit / runs < 0.975
    assert half / runs < 0.8


def test_bootstrap_covers_and_half_of_it_does_not():
    rng = np.random.default_rng(6)
    runs, hit, half = 500, 0, 0
    for _ in range(runs):
        values = rng.exponential(1.0, 80)
        low, high = bootstrap(values, rng, replicates=200)
        middle = values.mean()
        hit += low <= 1.0 <= high
        half += middle - (middle - low) / 2 <= 1.0 <= middle + (high - middle) / 2
    assert 0.89 < hit / runs < 0.98  # the percentile interval of a skewed mean is a little short
    assert half / runs < 0.8
    assert math.isnan(bootstrap(np.empty(0), rng)[0])
    low, high = bootstrap(np.arange(50.0), rng, statistic=lambda v: float(np.median(v)), replicates=99)
    assert low < 24.5 < high
