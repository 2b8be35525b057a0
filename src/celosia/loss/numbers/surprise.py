r"""Probabilistic information loss: improbability of a statistic of the protected file as that of a sample.

The original file is taken as the population and the protected one as a sample of size n from it. A statistic
:math:`\Theta` of such a sample is about normal around its value :math:`\theta` on the original, so

.. math:: \mathrm{pil}(\theta) = 2 P\left(0 \le Z \le \frac{|\theta' - \theta|}{\sqrt{\operatorname{Var}\Theta}}\right)
          = \operatorname{erf}\left(\frac{|\theta' - \theta|}{\sqrt{2 \operatorname{Var}\Theta}}\right)

lies in [0, 1] for every statistic. Moments are central, of the original, with 1/n:
:math:`\mu_{ab} = \overline{(x - \bar x)^a (y - \bar y)^b}`.
References: Mateo-Sanz, Domingo-Ferrer & Sebé (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from celosia.kernels.statistics.deviation import deviations, subtract_mean

Floats = npt.NDArray[np.float64]
Density = Literal["kernel", "normal"]

QUANTILES = np.arange(5, 100, 5) / 100
_BLOCK = 4_000_000  # kernel evaluations at a time: 32 MB
# Where a variance is zero in exact arithmetic, rounding leaves about 1e-16 of the numbers it came from.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Terms:
    """The five parts of the loss, each in [0, 1]; pairs of columns have none when there is one column."""

    quantiles: float
    mean: float
    variance: float
    covariance: float | None
    correlation: float | None

    def value(self) -> float:
        """Return the mean of the parts."""
        return float(np.mean([part for part in vars(self).values() if part is not None]))


def surprise(theta: Floats, other: Floats, variance: Floats, scale: Floats) -> Floats:
    """Return the loss of each statistic; without variance 0 if unchanged (up to rounding of ``scale``), else 1."""
    from scipy.special import erf

    change = np.abs(other - theta)
    moved = change > _ROUNDING * scale
    spread = np.sqrt(2 * np.maximum(variance, 0.0))
    certain = spread <= _ROUNDING * scale
    z = np.divide(change, spread, out=np.zeros_like(change), where=~certain)
    result: Floats = np.where(certain, moved.astype(np.float64), erf(z)) * moved
    return result


def terms(x: Floats, y: Floats, density: Density = "kernel") -> Terms:
    """Return the five parts for all columns of one file; ``x`` is the original, ``y`` the protected one.

    >>> x = np.arange(20.0).reshape(10, 2) ** 2
    >>> terms(x, x).value()
    0.0
    """
    n = len(x)
    cx, cy = subtract_mean(x), subtract_mean(y)
    mu2, mu4 = (cx**2).mean(axis=0), (cx**4).mean(axis=0)
    size = np.abs(x).max(axis=0) + np.sqrt(mu2)
    mean = surprise(x.mean(axis=0), y.mean(axis=0), mu2 / n, size)
    # Var of a variance: (mu_4 - mu_2^2) / n
    variance = surprise(mu2, (cy**2).mean(axis=0), (mu4 - mu2**2) / n, size**2)
    pairs = _pairs(cx, cy, size) if x.shape[1] > 1 else (None, None)
    return Terms(float(_quantiles(x, y, density, size).mean()), float(mean.mean()), float(variance.mean()), *pairs)


def _pairs(cx: Floats, cy: Floats, size: Floats) -> tuple[float, float | None]:
    """Return the loss of covariances and correlations, over unordered pairs of columns."""
    n = len(cx)
    i, j = np.triu_indices(cx.shape[1], 1)
    s, after = cx.T @ cx / n, cy.T @ cy / len(cy)
    sq = cx**2
    m22 = (sq.T @ sq / n)[i, j]
    m31, m13 = ((cx**3).T @ cx / n)[i, j], (cx.T @ cx**3 / n)[i, j]
    m11, m20, m02 = s[i, j], np.diag(s)[i], np.diag(s)[j]
    m40, m04 = (sq**2).mean(axis=0)[i], (sq**2).mean(axis=0)[j]
    # Var of a covariance: (mu_22 - mu_11^2) / n
    covariance = surprise(m11, after[i, j], (m22 - m11**2) / n, size[i] * size[j])
    v20, v02 = np.diag(after)[i], np.diag(after)[j]
    varying = (m20 > 0) & (m02 > 0)
    if not varying.any():
        return float(covariance.mean()), None
    root, other = np.sqrt(m20 * m02)[varying], np.sqrt(v20 * v02)[varying]
    left = after[i, j][varying]
    m11, m20, m02, m22, m31, m13, m40, m04 = (v[varying] for v in (m11, m20, m02, m22, m31, m13, m40, m04))
    # A column that became constant has lost its correlations.
    r, r_other = m11 / root, np.divide(left, other, out=np.zeros_like(left), where=other > 0)
    # Var of r with mu_11^2 multiplied out, so that r = 0 needs no care:
    # [mu_22 + (r^2 / 4) (mu_40 mu_02 / mu_20 + mu_04 mu_20 / mu_02 + 2 mu_22)
    #  - r (mu_31 sqrt(mu_02 / mu_20) + mu_13 sqrt(mu_20 / mu_02))] / (n mu_20 mu_02)
    ratio = np.sqrt(m02 / m20)
    inner = m22 + r**2 / 4 * (m40 * ratio**2 + m04 / ratio**2 + 2 * m22) - r * (m31 * ratio + m13 / ratio)
    correlation = surprise(r, r_other, inner / (n * m20 * m02), np.ones_like(r))
    return float(covariance.mean()), float(correlation.mean())


def _quantiles(x: Floats, y: Floats, density: Density, size: Floats) -> Floats:
    """Return the loss of the quantiles of 5 % to 95 %; Var of a quantile: q (1 - q) / (n f(Q_q)^2)."""
    q = QUANTILES[:, None]
    theta, other = np.quantile(x, QUANTILES, axis=0), np.quantile(y, QUANTILES, axis=0)
    f = kernel_density(x, theta) if density == "kernel" else normal_density(x, theta)
    with np.errstate(divide="ignore"):
        variance = np.where(f > 0, q * (1 - q) / (len(x) * f**2), np.inf)
    # A constant column has an infinite density: its quantiles have no variance.
    variance[:, deviations(x) == 0] = 0.0
    return surprise(theta, other, variance, np.broadcast_to(size, theta.shape))


def kernel_density(x: Floats, at: Floats) -> Floats:
    r"""Return the Gaussian kernel density of each column at given points, bandwidth :math:`1.06\,s\,n^{-1/5}`.

    >>> kernel_density(np.array([[-1.0], [1.0]]), np.array([[0.0]])).round(3).tolist()
    [[0.24]]
    """
    n = len(x)
    out = np.zeros_like(at)
    step = max(1, _BLOCK // max(1, len(at)))
    width = 1.06 * deviations(x) * n**-0.2
    for j, h in enumerate(width):
        if h == 0:
            continue
        for start in range(0, n, step):
            z = (at[:, j, None] - x[None, start : start + step, j]) / h
            out[:, j] += np.exp(-0.5 * z * z).sum(axis=1)
        out[:, j] /= n * h * np.sqrt(2 * np.pi)
    return out


def normal_density(x: Floats, at: Floats) -> Floats:
    """Return the normal density with the mean and deviation of each column.

    >>> normal_density(np.array([[-1.0], [1.0]]), np.array([[0.0]])).round(3).tolist()
    [[0.399]]
    """
    mean, sd = x.mean(axis=0), deviations(x)
    safe = np.where(sd > 0, sd, 1.0)
    density: Floats = np.exp(-0.5 * ((at - mean) / safe) ** 2) / (safe * np.sqrt(2 * np.pi)) * (sd > 0)
    return density
