"""Constant columns whose mean is rounded: no measure may take the rounding for a spread."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.errors import NotApplicable
from celosia.kernels.perturbation.noise import covariance
from celosia.kernels.statistics.deviation import deviations, subtract_mean
from celosia.kernels.statistics.moments import correlation, dependence, spectrum, spectrum_change
from celosia.kernels.synthesis.ipso import identities
from celosia.loss.numbers.surprise import terms
from celosia.methods.bases.aggregate import loss_share
from celosia.risk.attacks.transparency.aggregates import weights_within
from celosia.risk.bases.nearest import scale_columns

VARIED = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0, -5.0, 3.0])
PAIRS = np.arange(10) // 2


def beside(level: float) -> np.ndarray:
    """A constant column and one that varies."""
    return np.column_stack([np.full(len(VARIED), level), VARIED])


def test_the_mean_of_tenths_is_rounded():
    assert beside(0.1).mean(axis=0)[0] != 0.1, "or the tests below would show nothing"
    assert not subtract_mean(beside(0.1))[:, 0].any()


def test_centred_columns_against_numpy():
    x = np.random.default_rng(1).normal(size=(31, 3)) * [1.0, 1e6, 1e-6] + [0.0, 1e6, 5.0]
    assert np.array_equal(subtract_mean(x), x - x.mean(axis=0))
    assert np.allclose(deviations(x), x.std(axis=0), rtol=1e-12)
    assert deviations(x[:1]).tolist() == [0.0, 0.0, 0.0]
    assert subtract_mean(x[:0]).shape == (0, 3)
    assert np.isnan(deviations(np.array([[np.nan, 1.0], [2.0, 3.0]]))).tolist() == [True, False]


def _matched(x: np.ndarray) -> float:
    """The distance of a record to a copy with another first value, in standard deviations."""
    other = x + np.outer(np.arange(10.0), [1.0, 0.0])
    left, right = scale_columns(x, other, "sd")
    return float(np.abs(left - right).max())


@pytest.mark.parametrize(
    "measure",
    [
        lambda x: loss_share(x, PAIRS),
        lambda x: vars(terms(x, x + np.arange(20.0).reshape(10, 2))),
        lambda x: vars(terms(x, x + np.arange(20.0).reshape(10, 2), "normal")),
        lambda x: covariance(x).ravel().tolist(),
        lambda x: weights_within(x, x[PAIRS * 2]).tolist(),
        _matched,
        lambda x: identities(np.arange(10.0)[:, None], x, x + 1.0)["regression"],
    ],
)
def test_a_measure_does_not_depend_on_the_level_of_a_constant_column(measure):
    """Ones have a mean of exactly 1; tenths have not."""
    assert measure(beside(0.1)) == pytest.approx(measure(beside(1.0)), rel=1e-12)


def test_a_constant_column_has_no_correlation():
    for level in (1.0, 0.1):
        with pytest.raises(NotApplicable, match="1 columns are constant"):
            correlation(beside(level))


def test_correlations_by_hand():
    # x: -1 0 1, variance 2/3; y: 1 -2 1, variance 2, covariance 0; z = x + y: 0 -2 2, variance 8/3
    x, y = np.array([-1.0, 0.0, 1.0]), np.array([1.0, -2.0, 1.0])
    r = correlation(np.column_stack([x, y, x + y]))
    assert r[0, 1] == pytest.approx(0.0, abs=1e-15)
    assert r[0, 2] == pytest.approx((2 / 3) / np.sqrt(2 / 3 * 8 / 3))  # 1/2
    assert r[1, 2] == pytest.approx(2 / np.sqrt(2 * 8 / 3))  # √3/2
    # 1/4 + 3/4 = 1: the three lie in a plane, and the largest eigenvalue is 1 + √(r₁₃² + r₂₃²)
    assert spectrum(np.column_stack([x, y, x + y])) == pytest.approx([2.0, 1.0, 0.0], abs=1e-12)


def test_a_record_with_a_missing_value_has_no_part_in_a_correlation():
    x = np.random.default_rng(2).normal(size=(20, 2))
    holes = np.vstack([x, [[np.nan, 50.0], [-50.0, np.nan]]])
    assert np.array_equal(correlation(holes), correlation(x))


def test_the_change_of_a_spectrum_tells_broken_relations_apart():
    change, broken = spectrum_change(np.array([1.5, 1.5, 1e-12]), np.array([1.2, 1.5, 0.3]))
    assert change == pytest.approx(0.3 / 1.5)
    assert broken == pytest.approx(0.3)


@pytest.mark.parametrize("columns", [2, 3, 5])
def test_dependence_is_the_inflation_of_each_variance(columns):
    """1/(1 - R²) of the regression of each column on the others, by least squares."""
    rng = np.random.default_rng(columns)
    x = rng.normal(size=(60, columns)) @ rng.normal(size=(columns, columns))
    x -= x.mean(axis=0)
    inflation = []
    for j in range(columns):
        others = np.delete(x, j, axis=1)
        left = x[:, j] - others @ np.linalg.lstsq(others, x[:, j], rcond=None)[0]
        inflation.append((x[:, j] @ x[:, j]) / (left @ left))
    assert dependence(correlation(x)) == pytest.approx(np.array(inflation) / np.linalg.norm(inflation))


def test_dependence_of_collinear_columns_is_its_limit():
    """Two equal columns and one apart: (R + δI)⁻¹ grows without bound in the two, not in the third."""
    r = np.array([[1.0, 1.0, 0.3], [1.0, 1.0, 0.3], [0.3, 0.3, 1.0]])
    near = np.diag(np.linalg.inv(r + 1e-7 * np.eye(3)))
    assert dependence(r) == pytest.approx(near / np.linalg.norm(near), abs=1e-5)
    assert dependence(r) == pytest.approx([np.sqrt(0.5), np.sqrt(0.5), 0.0], abs=1e-9)
