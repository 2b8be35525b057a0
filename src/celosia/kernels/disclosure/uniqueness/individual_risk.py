"""The chance that a link to a sampled record is right, from its sample and estimated population frequency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.errors import ParameterError

Floats = NDArray[np.float64]

MAD_FACTOR = 1.4826  # makes the median absolute deviation estimate the standard deviation of normal data


def individual_risk(f: Floats, F: Floats, exact: bool = False) -> Floats:
    r"""Benedetti and Franconi's risk: the expected value of 1/F given the sample frequency f.

    With :math:`\hat p = f / \hat F` and a negative binomial population frequency,

    .. math:: r = \frac{\hat p^f}{f}\,{}_2F_1(f, f; f+1; 1-\hat p)
                = \frac{\hat p}{f}\,{}_2F_1(1, 1; f+1; 1-\hat p)

    The second form is used: it stays finite for any f. Without ``exact`` the usual approximation
    :math:`\hat p / (f - (1 - \hat p))` stands for f > 2 (0.6 % off at f = 3, 0.01 % at f = 10); up to f = 2 both are
    the exact value, also for the fractional f that partly counted missing values give. F below f is read as F = f:
    the sample is the whole population of that pattern and the risk is 1/f.

    Fails with ParameterError when a frequency is not positive or not a number.

    References: Benedetti & Franconi (1998); Templ & Meindl (2008); the exact form as in Rinott (2003).

    >>> individual_risk(np.array([1.0, 2.0, 3.0]), np.array([17.0, 110.0, 3.0])).round(5)
    array([0.17708, 0.01714, 0.33333])
    """
    f = np.asarray(f, dtype=np.float64)
    F = np.asarray(F, dtype=np.float64)
    if f.shape != F.shape:
        raise ParameterError(f"individual risk: f and F must have one shape, got {f.shape} and {F.shape}.")
    if not ((f > 0).all() and np.isfinite(f).all() and np.isfinite(F).all()):
        raise ParameterError("individual risk: every frequency must be a positive, finite number.")
    F = np.maximum(F, f)
    p = f / F
    q = (F - f) / F
    by_series = np.ones(f.shape, dtype=bool) if exact else f <= 2
    risk = np.divide(p, f - q, out=np.zeros_like(p), where=~by_series)
    # few distinct pairs carry all records: evaluate each once
    if by_series.any():
        pairs = np.stack([f[by_series], F[by_series]])
        (uf, uF), back = np.unique(pairs, axis=1, return_inverse=True)
        value = _gauss(uf, (uF - uf) / uF) / uF
        # f = 1 in closed form, ln F / (F - 1): near q = 1 the series would lose the digits of 1 - q
        alone = (uf == 1) & (uF > 1)
        value[alone] = np.log1p(uF[alone] - 1) / (uF[alone] - 1)
        risk[by_series] = value[back.ravel()]
    return np.asarray(np.clip(risk, 0.0, 1.0), dtype=np.float64)


def _gauss(f: Floats, q: Floats) -> Floats:
    """Return the function 2F1(1, 1; f + 1; q), also where scipy's overflows (f of 100 and more with q near 1)."""
    from scipy.special import hyp2f1

    value = np.ones_like(f)
    small = f <= 10
    value[small] = hyp2f1(1.0, 1.0, f[small] + 1.0, q[small])
    f, q = f[~small], q[~small]
    # all terms are positive and fall at least like n^-f: no cancellation, at most some 300 terms
    term = np.ones_like(f)
    total = np.ones_like(f)
    n = 0.0
    while term.size and (term > 1e-17 * total).any():
        term = term * q * (n + 1.0) / (f + 1.0 + n)
        total += term
        n += 1.0
    value[~small] = total
    return value


def household_risk(risk: Floats, household: NDArray[np.int64]) -> Floats:
    r"""Chance that at least one member of the record's household is re-identified.

    .. math:: r^h_i = 1 - \prod_{j \in h(i)} (1 - r_j)

    ``household`` numbers the households 0, 1, ….

    >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1]))
    array([0.75, 0.75, 0.1 ])
    """
    with np.errstate(divide="ignore"):
        safe = np.log1p(-np.asarray(risk, dtype=np.float64))  # -inf for a certain link, and exp(-inf) = 0
    total = np.bincount(household, weights=safe)
    return np.asarray(-np.expm1(total)[household], dtype=np.float64)


def risk_threshold(risk: Floats, wanted: float) -> float | None:
    r"""Return the largest risk of a record for which the mean risk of the file is at most ``wanted``.

    Records above the threshold are to be protected until none of them exceeds it:

    .. math:: t = \max\Big\{r_k : \frac1n \sum_i \min(r_i, r_k) \le R\Big\}

    None when the file meets the wanted risk as it is; 0 when not even the smallest observed risk is low enough.

    References: Franconi & Polettini (2004).

    >>> risk_threshold(np.array([0.1, 0.1, 0.2, 1.0]), 0.2)
    0.2
    """
    ordered = np.sort(np.asarray(risk, dtype=np.float64))
    n = len(ordered)
    if n == 0 or ordered.mean() <= wanted:
        return None
    capped = (np.cumsum(ordered) + ordered * np.arange(n - 1, -1, -1)) / n
    allowed = int(np.searchsorted(capped, wanted, side="right"))
    return float(ordered[allowed - 1]) if allowed else 0.0


def risky_records(risk: Floats, deviations: float = 2.0, floor: float = 0.0) -> NDArray[np.bool_]:
    r"""Return which records have a risk that is an outlier in the file, by robust location and scale.

    .. math:: r_i > \max(\operatorname{med} r + d\,\mathrm{MAD}, \text{floor}), \qquad
              \mathrm{MAD} = 1.4826 \operatorname{med}|r - \operatorname{med} r|

    The defaults are sdcMicro's count of 2013; later versions use d = 2 with a floor of 0.1, others d = 3.

    >>> risky_records(np.array([0.1, 0.1, 0.1, 0.5])).tolist()
    [False, False, False, True]
    """
    risk = np.asarray(risk, dtype=np.float64)
    if len(risk) == 0:
        return np.zeros(0, dtype=bool)
    middle = np.median(risk)
    scale = MAD_FACTOR * np.median(np.abs(risk - middle))
    return np.asarray(risk > max(middle + deviations * scale, floor), dtype=np.bool_)
