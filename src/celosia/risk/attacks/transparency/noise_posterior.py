"""Posterior of values to which noise of known covariance was added: the best link and the best estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NULL = 1e-10
"""Eigenvalues below this share of the largest count as 0: no noise, or no signal, in that direction."""


def signal(observed: Floats, noise: Floats) -> tuple[Floats, Floats, Floats]:
    r"""Estimate the mean and the covariances of the observed values and of those without noise, over complete records.

    .. math:: \Sigma_x = \Sigma_y - \Sigma_e

    Directions in which the noise explains all of the variance have no signal: their eigenvalues become 0, which is the
    filter of the spectral method. References: Huang, Du & Chen (2005); Kargupta et al. (2003).
    """
    from celosia.kernels.perturbation.noise import covariance

    whole = observed[~np.isnan(observed).any(axis=1)]
    mean = whole.mean(axis=0) if len(whole) else np.zeros(observed.shape[1])
    total = covariance(observed)
    values, vectors = np.linalg.eigh(total - noise)
    behind: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return mean, behind + noise, behind


def estimate(observed: Floats, noise: Floats) -> tuple[Floats, Floats]:
    r"""Return the posterior mean of the values without noise, record by record, and their posterior covariance.

    .. math:: \hat x = \mu + \Sigma_x \Sigma_y^{-1} (y - \mu), \qquad
              \operatorname{Cov}(x \mid y) = \Sigma_x - \Sigma_x \Sigma_y^{-1} \Sigma_x

    Exact for normal data, the best linear estimate for any other. A missing value stays missing and is left out of the
    estimate of the others. The covariance is that of a complete record.

    >>> y = np.array([[-2.0], [0.0], [2.0]])
    >>> x, left = estimate(y, np.array([[4 / 3]]))
    >>> x.round(6).ravel().tolist(), left.round(6).tolist()
    ([-1.0, 0.0, 1.0], [[0.666667]])
    """
    mean, total, behind = signal(observed, noise)
    posterior = np.full_like(observed, np.nan)
    missing = np.isnan(observed)
    for pattern in np.unique(missing, axis=0) if len(observed) else ():
        rows = np.flatnonzero((missing == pattern).all(axis=1))
        here = np.flatnonzero(~pattern)
        if len(here):
            slope = behind[np.ix_(here, here)] @ _inverse(total[np.ix_(here, here)])
            posterior[np.ix_(rows, here)] = mean[here] + (observed[np.ix_(rows, here)] - mean[here]) @ slope.T
    return posterior, behind - behind @ _inverse(total) @ behind


def comparable(original: Floats, observed: Floats, noise: Floats) -> tuple[Floats, Floats]:
    r"""Transform both files so that the nearest observed record is the likeliest one for a known record.

    Another record is observed by its margin, the right one by the noise: the odds of a pair are

    .. math:: \frac{p(y \mid x)}{p(y)}, \qquad
              -2 \ln = (y-x)^T A (y-x) - (y-\mu)^T B (y-\mu) = (y-c)^T (A-B) (y-c) + \dots

    with :math:`A = \Sigma_e^{-1}`, :math:`B = \Sigma_y^{-1}` and :math:`c = (A-B)^{-1}(A x - B \mu)`: the nearest
    record to c in the metric A - B. A missing value takes the mean. References: Fuller (1993).

    >>> x, y = comparable(np.array([[1.0]]), np.array([[-2.0], [2.0]]), np.array([[2.0]]))
    >>> (x / y[1]).round(6).tolist()
    [[1.0]]
    """
    mean, total, _ = signal(observed, noise)
    a, b = _inverse(noise), _inverse(total)
    unit, shape = _unit_free(a - b)
    values, vectors = np.linalg.eigh(shape)
    positive = values > NULL * max(float(values.max(initial=0.0)), 1e-300)
    size = np.sqrt(np.where(positive, values, 1.0))
    root = unit[:, None] * vectors * np.where(positive, size, 0.0)
    if positive.all():
        back = vectors / size / unit[:, None]
    else:  # directions without signal are left out: what lies across them is projected onto the others
        back = np.zeros_like(root)
        back[:, positive] = root[:, positive] @ np.linalg.inv(root[:, positive].T @ root[:, positive])
    original, observed = (np.where(np.isnan(part), mean, part) - mean for part in (original, observed))
    return original @ a @ back, observed @ root


def _unit_free(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the roots of the diagonal (1 for a 0), and the matrix divided by them, which is free of units."""
    diagonal = np.diag(matrix)
    unit: Floats = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return unit, matrix / np.outer(unit, unit)


def _inverse(matrix: Floats) -> Floats:
    """Return the pseudo-inverse; a column in small units does not count as a direction without variance."""
    unit, shape = _unit_free(matrix)
    return np.asarray(np.linalg.pinv(shape, rcond=NULL, hermitian=True) / np.outer(unit, unit), dtype=np.float64)
