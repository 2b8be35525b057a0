"""Intervals: published examples, coverage, and half an interval that is rejected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from celosia.kernels.statistics.intervals import newcombe, wilson


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
