"""Robust centre, scatter and outliers of numeric records."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from celosia.errors import DataError, MissingExtra
from celosia.kernels.statistics.deviation import deviations

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

ENOUGH = 20_000  # records that the robust fit uses: more only cost time
NULL = 1e-12  # a smaller share of the largest eigenvalue is rounding: the columns are collinear
MAD = 1.4826  # makes the median deviation of a normal variable its standard deviation


def centre_and_scatter(x: Floats, rng: np.random.Generator | None = None) -> tuple[Floats, Floats]:
    """Mean and covariance (1/(n - 1)); robust ones (minimum covariance determinant) with a generator.

    Rows with a missing value do not count. Reference: Rousseeuw & Van Driessen (1999).

    >>> centre_and_scatter(np.array([[0.0], [2.0]]))[1].tolist()
    [[2.0]]
    """
    whole = x[~np.isnan(x).any(axis=1)]
    if len(whole) <= x.shape[1]:
        raise DataError(f"{len(whole)} complete records are too few for {x.shape[1]} columns.")
    if rng is None:
        return whole.mean(axis=0), np.atleast_2d(np.cov(whole, rowvar=False))
    try:
        from sklearn.covariance import MinCovDet
    except ImportError:
        raise MissingExtra.of("robust covariance", "learn") from None
    if len(whole) > ENOUGH:
        whole = whole[rng.choice(len(whole), ENOUGH, replace=False)]
    scale = deviations(whole)
    varies = np.flatnonzero(scale > 0)
    centre, scatter = whole[0].copy(), np.zeros((whole.shape[1], whole.shape[1]))
    if len(varies):
        unit = scale[varies]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collinear columns: handled by the pseudo-inverse below
            fit = MinCovDet(random_state=int(rng.integers(2**31))).fit(whole[:, varies] / unit)
        centre[varies] = fit.location_ * unit
        scatter[np.ix_(varies, varies)] = fit.covariance_ * np.outer(unit, unit)
    return centre, scatter


def squared_distances(x: Floats, centre: Floats, scatter: Floats) -> Floats:
    r"""Squared Mahalanobis distances, by the pseudo-inverse where columns are collinear; NaN for incomplete records.

    .. math:: d_i^2 = (x_i - c)^T S^{-1} (x_i - c)

    >>> squared_distances(np.array([[3.0]]), np.array([1.0]), np.array([[4.0]])).tolist()
    [1.0]
    """
    scale, shape = _unit_free(scatter)
    inverse = np.linalg.pinv(shape, rcond=NULL, hermitian=True)
    gap = (x - centre) / scale
    result: Floats = np.einsum("ij,jk,ik->i", gap, inverse, gap)
    return result


def _unit_free(scatter: Floats) -> tuple[Floats, Floats]:
    """Return the standard deviations of the columns (1 for a constant one) and the correlation matrix."""
    deviation = np.sqrt(np.diag(scatter))
    scale: Floats = np.where(deviation > 0, deviation, 1.0)
    return scale, scatter / np.outer(scale, scale)


def outliers(x: Floats, share: float, rng: np.random.Generator) -> Bools:
    r"""Mask of the records outside the robust ellipse that holds ``1 - share`` of a normal distribution.

    One column: :math:`|x - \mathrm{med}|` over its median deviation. A record with a missing value is judged by the
    columns that it has.

    >>> x = np.append(np.linspace(-1, 1, 50), 30.0)[:, None]
    >>> np.flatnonzero(outliers(x, 0.01, np.random.default_rng(0))).tolist()
    [50]
    """
    from scipy.special import chdtri

    single = np.zeros(len(x), np.bool_)
    for j in range(x.shape[1]):
        values = x[~np.isnan(x[:, j]), j]
        if len(values) == 0:
            continue
        middle = np.median(values)
        deviation = MAD * np.median(np.abs(values - middle))
        if deviation == 0.0:  # more than half of the values are equal
            deviation = values.std()
        with np.errstate(invalid="ignore"):
            single |= np.abs(x[:, j] - middle) > np.sqrt(chdtri(1, share)) * deviation
    if x.shape[1] == 1:
        return single
    centre, scatter = centre_and_scatter(x, rng)
    values = np.linalg.eigvalsh(_unit_free(scatter)[1])
    rank = int((values > NULL * values[-1]).sum())
    with np.errstate(invalid="ignore"):
        joint = squared_distances(x, centre, scatter) > chdtri(max(rank, 1), share)
    result: Bools = np.where(np.isnan(x).any(axis=1), single, joint)
    return result
