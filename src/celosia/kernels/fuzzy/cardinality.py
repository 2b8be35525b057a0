r"""How many elements a finite fuzzy set has: as a number, as a possibility for each number, as a whole number.

All functions take the degrees of the elements along the first axis: one set (n) or several at once (n × cells).
References: Zadeh (1983); Ralescu (1995), Cardinality, quantifiers, and the aggregation of fuzzy criteria.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import ParameterError
from celosia.kernels.fuzzy.sets import TOLERANCE

Numbers: TypeAlias = NDArray[np.float64 | np.int64] | np.float64 | np.int64
"""One number for one set, an array for several."""


def sigma_count(mu: ArrayLike) -> Numbers:
    r"""Return the sum of the degrees.

    .. math:: |A|_\sigma = \sum_x \mu_A(x)

    Additive: the σ-counts of the cells of a partition sum to the number of elements.

    >>> round(float(sigma_count([0.7, 0.6, 0.3, 0])), 12)
    1.6
    """
    total: Numbers = _degrees(mu).sum(axis=0)
    return total


def fuzzy_count(mu: ArrayLike) -> NDArray[np.float64]:
    r"""Possibility that the set has exactly k elements, for k = 0 … n along the first axis.

    .. math:: |A|_f(k) = \min\{\mu_{(k)}, 1 - \mu_{(k+1)}\}, \qquad \mu_{(0)} = 1,\ \mu_{(n+1)} = 0

    with the degrees in decreasing order.

    >>> [round(float(p), 12) for p in fuzzy_count([0.7, 0.6, 0.3, 0])]
    [0.3, 0.4, 0.6, 0.3, 0.0]
    """
    mu = _degrees(mu)
    ordered = np.sort(mu, axis=0)[::-1]
    edge = np.ones((1, *mu.shape[1:]))
    upper = np.concatenate([edge, ordered])
    lower = np.concatenate([ordered, np.zeros_like(edge)])
    return np.asarray(np.minimum(upper, 1 - lower))


def possibilities(mu: ArrayLike) -> NDArray[np.float64]:
    r"""Possibility that the set has at least k elements, for k = 0 … n along the first axis.

    .. math:: \mathrm{Poss}(|A| \ge k) = \max_{s \ge k} |A|_f(s)

    >>> [round(float(p), 12) for p in possibilities([0.7, 0.6, 0.3, 0])]
    [0.6, 0.6, 0.6, 0.3, 0.0]
    """
    return np.asarray(np.maximum.accumulate(fuzzy_count(mu)[::-1], axis=0)[::-1])


def at_least(mu: ArrayLike, k: ArrayLike) -> Numbers:
    r"""Possibility that the set has at least ``k`` elements; 0 for k above the number of elements.

    >>> round(float(at_least([0.7, 0.6, 0.3, 0], 3)), 12)
    0.3
    """
    k = np.asarray(k)
    if k.size and k.min() < 0:
        raise ParameterError(f"at_least: k must be at least 0, got {k.min()}.")
    curve = possibilities(mu)
    padded = np.concatenate([curve, np.zeros((1, *curve.shape[1:]))])
    possibility: Numbers = padded[np.minimum(k, curve.shape[0])]
    return possibility


def count(mu: ArrayLike, tolerance: float = TOLERANCE) -> Numbers:
    r"""Return the whole number that is the most possible size of the set.

    .. math:: |A|_{nf} = \#\{x: \mu(x) > \tfrac12\} + [\,\exists x: \mu(x) = \tfrac12\,]

    Any number of elements at exactly one half counts once; degrees within ``tolerance`` of it are at one half.
    Not additive where such ties occur.

    >>> int(count([0.7, 0.6, 0.3, 0])), int(count([0.5, 0.5, 0.5]))
    (2, 1)
    """
    mu = _degrees(mu)
    number: Numbers = (mu > 0.5 + tolerance).sum(axis=0) + (np.abs(mu - 0.5) <= tolerance).any(axis=0)
    return number


def _degrees(mu: ArrayLike) -> NDArray[np.float64]:
    mu = np.asarray(mu, dtype=np.float64)
    if mu.ndim == 0:
        raise ParameterError("a fuzzy set needs a list of degrees, got one number.")
    if mu.size and not (mu.min() >= -TOLERANCE and mu.max() <= 1 + TOLERANCE):
        raise ParameterError(f"degrees must be from 0 to 1, got {mu.min():.6g} to {mu.max():.6g}.")
    return mu
