"""How much noise a privacy cost asks for."""

from __future__ import annotations

import math

from celosia.errors import ParameterError


def laplace(sensitivity: float, epsilon: float) -> float:
    r"""Scale of Laplace noise: :math:`b = \Delta_1 / \varepsilon`.

    >>> laplace(1, 0.1), laplace(1, 0.1 / 4)
    (10.0, 40.0)
    """
    _check(sensitivity, epsilon, "epsilon")
    return sensitivity / epsilon


def gaussian_zcdp(sensitivity: float, rho: float) -> float:
    r"""Return the standard deviation of Gaussian noise under zCDP: :math:`\sigma = \Delta_2 / \sqrt{2\rho}`.

    >>> gaussian_zcdp(1, 0.5)
    1.0
    """
    _check(sensitivity, rho, "rho")
    return sensitivity / math.sqrt(2 * rho)


def gaussian(sensitivity: float, epsilon: float, delta: float) -> float:
    r"""Smallest standard deviation of Gaussian noise for :math:`(\varepsilon, \delta)`, by the exact condition.

    .. math:: \Phi\Big(\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}\Big)
              - e^{\varepsilon} \Phi\Big(-\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}\Big) \le \delta

    Valid for every epsilon, unlike the classical :math:`\Delta\sqrt{2\ln(1.25/\delta)}/\varepsilon`, and never
    larger.
    References: Balle & Wang (2018), theorem 8.

    >>> round(gaussian(1, 1, 1e-5), 4)
    3.7306
    """
    _check(sensitivity, epsilon, "epsilon")
    if not 0 < delta < 1:
        raise ParameterError(f"Gaussian noise needs a delta strictly between 0 and 1, got {delta}.")
    low, high = 0.0, 1.0
    while gaussian_delta(high, epsilon) > delta:
        low, high = high, high * 2
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if gaussian_delta(middle, epsilon) > delta else (low, middle)
    return sensitivity * high * (1 + 1e-12)  # on the safe side of the rounding in the normal tail


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """Delta that Gaussian noise of standard deviation ``sigma`` has at ``epsilon``, for sensitivity 1.

    >>> round(gaussian_delta(3.7306, 1.0), 7)
    1e-05
    """
    from scipy.special import log_ndtr

    first = float(log_ndtr(1 / (2 * sigma) - epsilon * sigma))
    second = epsilon + float(log_ndtr(-1 / (2 * sigma) - epsilon * sigma))
    return -math.exp(first) * math.expm1(second - first) if second < first else 0.0


def threshold(scale: float, delta: float, touched: int = 1, *, shape: str = "laplace") -> int:
    r"""Return the smallest noisy count at which a key that is not public may be shown.

    One person can bring up to ``touched`` new keys into the data, each with a count of 1. With :math:`\delta_0 =
    1 - (1 -
    \delta)^{1/\text{touched}}` the threshold is the smallest integer :math:`T` with :math:`\Pr[1 + Z \ge T] \le
    \delta_0`.
    For discrete Laplace noise :math:`\Pr[Z \ge t] = p^t / (1 + p)`, :math:`p = e^{-1/b}`; for the discrete Gaussian
    :math:`\Pr[Z \ge t] \le \Pr[N(0, \sigma^2) \ge t - 1]`.
    References: Korolova et al. (2009); Canonne, Kamath & Steinke (2020).

    >>> threshold(1.0, 1e-6)
    15
    """
    if not 0 < delta < 1:
        raise ParameterError(f"keys that are not public need a delta strictly between 0 and 1, got {delta}.")
    if scale <= 0 or touched < 1:
        raise ParameterError(f"scale must be positive and touched at least 1, got {scale} and {touched}.")
    each = -math.expm1(math.log1p(-delta) / touched)
    if shape == "laplace":
        p = math.exp(-1 / scale)
        above = math.ceil(scale * -math.log(each * (1 + p)))
    else:
        from scipy.special import ndtri

        above = math.ceil(-float(ndtri(each)) * scale + 1)
    return 1 + max(above, 1)


def row_threshold(scale: float, delta: float, rows: int = 1) -> int:
    r"""Smallest noisy count *of rows* at which a key that is not public may be shown (discrete Laplace noise).

    One person brings up to ``rows`` rows, to as many keys or all to one: a key that nobody else has may count that
    many. The chance that one of the keys is shown is largest in one of these two cases, because
    :math:`-\ln(1 - \Pr[c + Z \ge T])` is convex in the count :math:`c`. Where persons are counted instead of rows,
    :func:`threshold` is enough.

    >>> row_threshold(0.5, 0.01, 1), row_threshold(0.5, 0.01, 3)
    (4, 6)
    """
    return max(threshold(scale, delta, rows), threshold(scale, delta) + rows - 1)


def _check(sensitivity: float, loss: float, name: str) -> None:
    if not (math.isfinite(sensitivity) and sensitivity > 0):
        raise ParameterError(
            f"sensitivity must be a positive number, got {sensitivity}. Declare bounds for the column."
        )
    if not (math.isfinite(loss) and loss > 0):
        raise ParameterError(f"{name} must be a positive number, got {loss}.")
