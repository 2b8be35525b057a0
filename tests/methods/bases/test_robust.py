"""Robust scatter and outliers: free of units, with constant and collinear columns, at the stated share."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from celosia.errors import DataError
from celosia.kernels.statistics.components import first_component
from celosia.methods.bases.aggregate import loss_share, modes
from celosia.methods.bases.robust import centre_and_scatter, outliers, squared_distances
from celosia.methods.noise.noise import exact_moments, exact_sum


def far(x, share=0.05):
    return outliers(x, share, np.random.default_rng(0))


CLOUD = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 400)


@pytest.mark.parametrize("units", [(1.0, 1e9), (1e-12, 1e6), (1e-5, 1e-5)])
def test_outliers_do_not_depend_on_units(units):
    assert np.array_equal(far(CLOUD * units), far(CLOUD))


@pytest.mark.parametrize("level", [0.0, 0.1, 5.0, 1e12])
def test_a_constant_column_tells_no_outlier(level):
    assert np.array_equal(far(np.column_stack([CLOUD, np.full(400, level)])), far(CLOUD))
    assert not far(np.full((30, 2), level)).any()


def test_collinear_columns_count_once():
    """The subset of the robust fit is another one, but the limit is that of two columns and not of three."""
    both = far(np.column_stack([CLOUD, CLOUD.sum(axis=1)])), far(CLOUD)
    assert (both[0] != both[1]).sum() <= 3
    assert both[1].sum() > 15


@pytest.mark.parametrize("columns", [1, 3])
def test_a_normal_cloud_has_the_stated_share_of_outliers(columns):
    x = np.random.default_rng(2).normal(size=(2500, columns))
    found = outliers(x, 0.1, np.random.default_rng(0)).mean()
    assert [abs(found / (0.1 * factor) - 1) < 0.2 for factor in (1.0, 0.7, 1.3)] == [True, False, False]


def test_a_record_with_a_missing_value_is_judged_by_what_it_has():
    holes = np.vstack([CLOUD, [[np.nan, 9.0], [np.nan, 0.0], [np.nan, np.nan]]])
    assert far(holes)[-3:].tolist() == [True, False, False]
    assert np.array_equal(far(holes)[:-3], far(CLOUD))


def test_where_most_values_are_equal_the_deviation_takes_over():
    # the median deviation of 0 × 30 and 1 … 10 is 0; σ = 2.68: |x| > 1.96 σ from 6 on
    x = np.concatenate([np.zeros(30), np.arange(1.0, 11.0)])[:, None]
    assert np.flatnonzero(far(x)).tolist() == [35, 36, 37, 38, 39]


def test_squared_distances_against_the_inverse():
    centre, scatter = centre_and_scatter(CLOUD)
    assert scatter == pytest.approx(np.cov(CLOUD.T))
    gap = CLOUD[7] - centre
    assert squared_distances(CLOUD, centre, scatter)[7] == pytest.approx(gap @ np.linalg.solve(scatter, gap))
    # the mean of squared distances by the own covariance is p (n - 1) / n
    assert squared_distances(CLOUD, centre, scatter).mean() == pytest.approx(2 * 399 / 400)


def test_the_first_component_of_a_line_and_of_nothing():
    x = np.outer([-2.0, -1.0, 3.0], [3.0, -4.0])
    axis, share = first_component(x)
    assert axis == pytest.approx([-0.6, 0.8])  # the largest part is positive
    assert share == pytest.approx(1.0)
    assert first_component(np.zeros((4, 2)))[1] == 1.0
    # variances 9 and 1, uncorrelated: nine tenths
    assert first_component(np.array([[3.0, 0], [-3.0, 0], [0, 1], [0, -1]]))[1] == pytest.approx(0.9)


def test_shares_of_lost_squares_by_hand():
    x = np.array([[0.0, 7.0], [2.0, 7.0], [10.0, 7.0], [12.0, 7.0]])
    # SSE = 4 · 1, SST = 36 + 16 + 16 + 36 = 104; the constant column has no share
    assert loss_share(x, np.array([0, 0, 1, 1])) == pytest.approx(4 / 104)
    assert loss_share(x, np.zeros(4, int)) == pytest.approx(1.0)
    assert loss_share(x, np.arange(4)) == 0.0
    assert loss_share(x[:, 1:], np.zeros(4, int)) == 0.0
    assert modes(np.array([3, 1, 3, 1, 2]), np.zeros(5, int)).tolist() == [1]  # the lowest of the most frequent


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_sums_against_fractions(size):
    rng = np.random.default_rng(size)
    values = np.ldexp(rng.normal(size=size), rng.integers(-1070, 900, size))
    assert exact_sum(values) == sum((Fraction(float(v)) for v in values), Fraction(0))
    assert exact_sum(-values) == -exact_sum(values)


def test_a_long_sum_is_cut_into_parts(monkeypatch):
    monkeypatch.setattr("celosia.methods.noise.noise.MOST", 3)
    values = np.array([1e300, 1.0, -1e300, 2.0**-1074, 3.0, 5.0, -7.0])
    assert exact_sum(values) == Fraction(1 + 3 + 5 - 7) + Fraction(1, 2**1074)


def test_moments_of_hardly_varying_and_of_huge_numbers():
    close = exact_moments(lambda: [1e9 + np.array([0.0, 1.0]), np.array([np.nan]), 1e9 + np.array([2.0])])
    assert (close.count, close.mean, close.variance) == (3, 1e9 + 1, pytest.approx(2 / 3))
    assert (close.low, close.high) == (1e9, 1e9 + 2)
    none = exact_moments(lambda: [np.array([np.nan]), np.zeros(0)])
    assert none.count == 0
    assert math.isnan(none.variance)
    with pytest.raises(DataError, match="too large to have a variance"):
        exact_moments(lambda: [np.array([1e200, -1e200])])
    with pytest.raises(DataError, match="too large to have a variance"):
        exact_moments(lambda: [np.array([1.7e308, -1.7e308])])
