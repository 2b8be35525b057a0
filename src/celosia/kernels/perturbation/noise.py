"""Arithmetic of noise: roots of covariance matrices, factors with mean one, reflection at bounds."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from celosia.errors import ParameterError
from celosia.kernels.statistics.deviation import subtract_mean

Floats = npt.NDArray[np.float64]

CUT = 2.0  # a truncated normal factor stays within so many standard deviations of 1
# Variance of a standard normal number given that it lies in (-CUT, CUT).
_DENSITY = math.exp(-CUT * CUT / 2) / math.sqrt(2 * math.pi)
CUT_VARIANCE = 1 - 2 * CUT * _DENSITY / math.erf(CUT / math.sqrt(2))


def covariance(x: Floats) -> Floats:
    r"""Covariance matrix with 1/n over the records that have all values.

    .. math:: \Sigma_{ij} = n^{-1} \sum_r (x_{ri} - \bar x_i)(x_{rj} - \bar x_j)

    >>> covariance(np.array([[0.0, 0], [2, 2]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    whole = x[~np.isnan(x).any(axis=1)]
    if len(whole) == 0:
        return np.zeros((x.shape[1], x.shape[1]))
    around = subtract_mean(whole)
    result: Floats = around.T @ around / len(whole)
    return result


def root(sigma: Floats) -> Floats:
    r"""Return a matrix ``A`` with :math:`A A^T = \Sigma`, for collinear columns too.

    The eigenvalues of a covariance matrix are not negative; those that rounding made so count as zero.

    >>> a = root(np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> bool(np.allclose(a @ a.T, 1.0))
    True
    """
    values, vectors = np.linalg.eigh(sigma)
    result: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    return result


def reflect(x: Floats, low: float, high: float) -> Floats:
    """Fold values back into [low, high] as a mirror does; infinite ends reflect nothing.

    Clipping would pile up records at the bound; a reflected value stays spread. A value inside stays as it is.

    >>> reflect(np.array([-1.0, 4.0, 12.0, 21.0]), 0.0, 10.0).tolist()
    [1.0, 4.0, 8.0, 1.0]
    """
    if low > high:
        raise ParameterError(f"bounds must be two numbers, the smaller first, got {low:g} and {high:g}.")
    if math.isinf(low) and math.isinf(high):
        return x
    width = high - low
    if math.isinf(high):
        folded = low + np.abs(x - low)
    elif math.isinf(low):
        folded = high - np.abs(high - x)
    elif width == 0.0:
        folded = np.full_like(x, low)
    else:
        turned = np.mod(x - low, 2 * width)
        folded = low + np.where(turned > width, 2 * width - turned, turned)
    # rounding may put a folded value beside its bound, and would change the last digits of one that needs no folding
    inside = np.isnan(x) | ((x >= low) & (x <= high))
    return np.where(inside, x, np.clip(folded, low, high))


def log_normal_factors(variance: float, z: Floats) -> Floats:
    r"""Factors with mean 1 and the given variance from standard normal numbers.

    .. math:: e = \exp(s z - s^2/2), \qquad s^2 = \ln(1 + v)

    >>> log_normal_factors(0.0, np.array([-1.0, 1.0])).tolist()
    [1.0, 1.0]
    """
    square = math.log1p(variance)
    return np.exp(math.sqrt(square) * z - square / 2)


def truncated_factors(variance: float, u: Floats) -> Floats:
    r"""Factors with mean 1 and the given variance from uniform numbers: normal, cut two standard deviations off.

    The cut is symmetric, so the mean stays 1, and the scale is raised so that the variance after the cut is the one
    asked for. Fails when the factor could be negative (variance of 0.19 and above).

    >>> truncated_factors(0.04, np.array([0.5])).tolist()
    [1.0]
    """
    from scipy.special import ndtr, ndtri

    scale = math.sqrt(variance / CUT_VARIANCE)
    if scale * CUT >= 1.0:
        largest = CUT_VARIANCE / CUT**2
        raise ParameterError(
            f"a truncated normal factor needs a variance below {largest:.3f}, got {variance:.3g}; "
            "lower p or use the log-normal shape."
        )
    below = ndtr(-CUT)
    return np.asarray(1.0 + scale * ndtri(below + u * (1 - 2 * below)), dtype=np.float64)
