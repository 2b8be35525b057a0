"""Covariance, correlation and their eigenvalues, for collinear columns too."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from celosia.errors import NotApplicable
from celosia.kernels.perturbation.noise import covariance

Floats = npt.NDArray[np.float64]

NULL = 1e-10
"""An eigenvalue of a correlation matrix below this is zero: rounding leaves about 1e-15 times the number of columns."""


def correlation(x: Floats) -> Floats:
    r"""Pearson correlation matrix over the complete records.

    .. math:: r_{ij} = \sigma_{ij} / \sqrt{\sigma_{ii} \sigma_{jj}}

    A constant column has no correlation: it is refused.

    >>> correlation(np.array([[0.0, 1], [1, 0], [2, -1]])).round(12).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    sigma = covariance(x)
    sd = np.sqrt(np.diag(sigma))
    constant = int((sd == 0).sum())
    if constant:
        raise NotApplicable(f"{constant} columns are constant, so that they have no correlation; leave them out.")
    r: Floats = np.clip(sigma / np.outer(sd, sd), -1.0, 1.0)
    np.fill_diagonal(r, 1.0)
    return r


def spectrum(x: Floats) -> Floats:
    """Eigenvalues of the correlation matrix from the largest to the smallest; rounding below zero is cut off.

    >>> spectrum(np.array([[0.0, 1], [1, 2], [2, 3]])).round(12).tolist()
    [2.0, 0.0]
    """
    values: Floats = np.maximum(np.linalg.eigvalsh(correlation(x))[::-1], 0.0)
    return values


def spectrum_change(before: Floats, after: Floats) -> tuple[float, float]:
    r"""Relative change of the eigenvalues, and the variance that appeared where the original had none.

    .. math:: \sum_{\lambda_j > 0} |\lambda_j - \lambda'_j| / \lambda_j, \qquad \sum_{\lambda_j = 0} \lambda'_j

    A zero eigenvalue is a linear relation between columns; its relative change would be infinite. The second number
    says how far the relation broke, in units of the mean eigenvalue, which is one.

    >>> spectrum_change(np.array([2.0, 0.0]), np.array([1.5, 0.5]))
    (0.25, 0.5)
    """
    alive = before > NULL
    change = np.abs(before - after)
    return float((change[alive] / before[alive]).sum()), float(change[~alive].sum())


def dependence(r: Floats) -> Floats:
    r"""Return the direction of the diagonal of the inverse correlation matrix: how well the others predict each column.

    .. math:: d_j = (R^{-1})_{jj} = 1 / (1 - R_j^2), \qquad d / \lVert d \rVert

    For a singular matrix the limit of :math:`(R + \delta I)^{-1}` for small :math:`\delta`: only the null directions
    :math:`v` count, :math:`d_j = \sum v_j^2`.

    >>> dependence(np.eye(2)).round(3).tolist()
    [0.707, 0.707]
    """
    values, vectors = np.linalg.eigh(r)
    null = values <= NULL
    d = (vectors[:, null] ** 2).sum(axis=1) if null.any() else (vectors**2 / values).sum(axis=1)
    direction: Floats = d / np.sqrt(d @ d)
    return direction
