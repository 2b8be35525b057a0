"""Arithmetic of randomised response: privacy loss, estimator and interval."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from celosia.errors import ParameterError

Floats = npt.NDArray[np.float64]


def epsilon(q: float, categories: int) -> float:
    r"""Return the privacy loss of a true answer with probability ``q`` and else a random one of K categories.

    .. math:: \varepsilon = \ln\frac{q + (1-q)/K}{(1-q)/K} = \ln\Bigl(1 + \frac{qK}{1-q}\Bigr)

    For K = 2 this is :math:`\ln\frac{1+q}{1-q}`.

    >>> math.isclose(epsilon(0.5, 2), math.log(3))
    True
    """
    return math.inf if q >= 1.0 else math.log1p(q * categories / (1 - q))


def truth(privacy: float, categories: int) -> float:
    r"""Return the probability of a true answer that a privacy loss allows: the inverse of :func:`epsilon`.

    .. math:: q = \frac{e^\varepsilon - 1}{e^\varepsilon - 1 + K}
                = \frac{1 - e^{-\varepsilon}}{1 + (K-1) e^{-\varepsilon}}

    The second form has no number that is too large.

    >>> round(truth(math.log(3), 2), 12), truth(1000.0, 2)
    (0.5, 1.0)
    """
    return -math.expm1(-privacy) / (1 + (categories - 1) * math.exp(-privacy))


def response_matrix(q: float, categories: int) -> Floats:
    """Return the transition matrix of randomised response.

    >>> response_matrix(0.5, 2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    return q * np.eye(categories) + (1 - q) / categories


def estimate_shares(counts: Floats, q: float, confidence: float = 0.95) -> tuple[Floats, Floats, Floats]:
    r"""Estimate the true shares from counts of randomised answers; with the ends of an interval for each.

    .. math:: \hat p_j = \frac{Y_j - (1-q)/K}{q}

    The interval is Wilson's for the share of answers, carried over by the same formula; all are cut to [0, 1].

    >>> share, low, high = estimate_shares(np.array([50.0, 50.0]), 0.5)
    >>> share.tolist(), low.round(3).tolist()
    ([0.5, 0.5], [0.308, 0.308])
    """
    from scipy.special import ndtri

    if not 0 < q <= 1:
        raise ParameterError(f"the truth probability must be above 0 and at most 1, got {q:g}.")
    n = counts.sum()
    if n == 0:
        empty = np.full(len(counts), np.nan)
        return empty, empty, empty
    z = float(ndtri((1 + confidence) / 2))
    observed = counts / n
    middle = (observed + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * np.sqrt(observed * (1 - observed) / n + z * z / (4 * n * n))
    back = [np.clip((y - (1 - q) / len(counts)) / q, 0.0, 1.0) for y in (observed, middle - reach, middle + reach)]
    return back[0], back[1], back[2]
