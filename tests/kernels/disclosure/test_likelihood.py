"""Likelihoods of two parameters: maxima that are known in closed form, and draws with the stated spread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from celosia.kernels.disclosure.uniqueness.likelihood import Likelihood


def normal(mean, covariance, box, **options):
    """The likelihood of a normal cloud of parameters."""
    inverse = np.linalg.inv(np.array(covariance, dtype=float))

    def loss(x):
        gap = x - np.array(mean)
        return 0.5 * np.einsum("...i,ij,...j->...", gap, inverse, gap)

    return Likelihood(loss, box, **options)


def gamma(sample: np.ndarray) -> Likelihood:
    """The likelihood of shape and mean of a gamma sample."""
    return Likelihood(
        lambda x: (
            -stats.gamma.logpdf(sample[:, None], x[..., 0].ravel(), scale=(x[..., 1] / x[..., 0]).ravel())
            .sum(axis=0)
            .reshape(x.shape[:-1])
        ),
        ((0.01, 40.0), (0.01, 40.0)),
    )


def test_the_maximum_of_a_gamma_sample_is_that_of_scipy():
    sample = np.random.default_rng(1).gamma(3.0, 2.0, size=200)
    found = gamma(sample).maximum()
    shape, _, scale = stats.gamma.fit(sample, floc=0)
    assert found == pytest.approx([shape, shape * scale], rel=1e-3)
    assert found[1] == pytest.approx(sample.mean(), rel=1e-3)  # whatever the shape


def test_no_neighbour_is_likelier_than_the_maximum():
    bowl = gamma(np.random.default_rng(2).gamma(1.5, 4.0, size=50))
    best = bowl.maximum()
    for step in ([1e-2, 0], [-1e-2, 0], [0, 1e-2], [0, -1e-2], [0.1, -0.1], [0.1, 0.1]):
        assert float(bowl.loss(best + step)) > float(bowl.loss(best))


def test_the_deepest_of_several_valleys_is_found():
    def loss(x):  # two wells: the one at (0.2, 0.3) is lower by a half
        first = ((x - [0.2, 0.3]) ** 2).sum(axis=-1) * 200
        second = ((x - [0.8, 0.7]) ** 2).sum(axis=-1) * 200 + 0.5
        return np.minimum(first, second)

    assert Likelihood(loss, ((0, 1), (0, 1))).maximum() == pytest.approx([0.2, 0.3], abs=1e-4)


def test_a_maximum_on_an_open_rim_is_none():
    box = ((0.0, 1.0), (0.0, 1.0))
    assert normal((-0.5, 0.5), np.eye(2) / 50, box).maximum() is None
    assert normal((0.5, 1.5), np.eye(2) / 50, box).maximum() is None
    # the same rim, closed: the parameters lie on it
    assert normal((-0.5, 0.5), np.eye(2) / 50, box, closed=(0, 0)).maximum() == pytest.approx([0.0, 0.5], abs=1e-4)
    # one rim that is closed does not close the others
    assert normal((0.5, 1.5), np.eye(2) / 50, box, closed=(0, 0)).maximum() is None
    assert Likelihood(lambda x: np.zeros(x.shape[:-1]), box).maximum() is None  # flat: the rims are as good
    assert Likelihood(lambda x: np.full(x.shape[:-1], np.nan), box).maximum() is None


@pytest.mark.parametrize(("factor", "accepted"), [(1.0, True), (0.7, False), (1.3, False)])
def test_draws_have_the_stated_spread(factor, accepted):
    """Off the middle, on axes of different lengths, narrow beside its box, and correlated by 0.8."""
    deviations = np.array([0.02, 3.0])
    covariance = np.outer(deviations, deviations) * [[1.0, 0.8], [0.8, 1.0]]
    drawn = normal((0.7, 20.0), covariance, ((0.0, 1.0), (-50.0, 450.0))).draws(20_000, np.random.default_rng(3))
    close = np.allclose(drawn.std(axis=0), deviations * factor, rtol=0.05)
    assert close == accepted
    if accepted:
        assert drawn.mean(axis=0) == pytest.approx([0.7, 20.0], rel=0.01)
        assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0.8, abs=0.03)


def test_draws_stay_in_the_box_and_keep_a_cut_off_shape():
    """Half of the cloud lies beyond a rim: what is left is a half-normal number, with mean σ√(2/π) beyond it."""
    drawn = normal((0.0, 0.5), np.diag([0.01, 0.01]), ((0.0, 1.0), (0.0, 1.0)), closed=(0, 0)).draws(
        20_000, np.random.default_rng(4)
    )
    assert (drawn >= 0).all()
    assert drawn[:, 0].mean() == pytest.approx(0.1 * np.sqrt(2 / np.pi), rel=0.05)
    assert stats.kstest(drawn[:, 1], stats.norm(0.5, 0.1).cdf).pvalue > 1e-3


def test_draws_of_a_flat_likelihood_fill_the_box():
    drawn = Likelihood(lambda x: np.zeros(x.shape[:-1]), ((1.0, 3.0), (-2.0, 0.0))).draws(
        5000, np.random.default_rng(5)
    )
    assert stats.kstest(drawn[:, 0], stats.uniform(1, 2).cdf).pvalue > 1e-3
    assert stats.kstest(drawn[:, 1], stats.uniform(-2, 2).cdf).pvalue > 1e-3
