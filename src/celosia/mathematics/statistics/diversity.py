r"""How varied the values within each class are.

Classes come as compressed rows: the entries ``count[start[c]:start[c + 1]]`` are how often each value occurs in *c*.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.mathematics.statistics.closeness import class_sums, shares

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def entropy(start: Ints, count: Ints, estimator: Literal["shannon", "grassberger"] = "shannon") -> Floats:
    r"""Entropy of the values of each class, in natural units.

    .. math:: H = -\sum_s p_s \ln p_s, \qquad
              H_G = G(N) - \frac1N \sum_s n_s G(n_s), \quad
              G(n) = \psi(n) + \tfrac12 (-1)^n \bigl[\psi(\tfrac{n+1}2) - \psi(\tfrac n2)\bigr]

    The second estimator corrects the bias of small classes (Grassberger 2003, in the form of Stammler,
    Katzenbeisser & Hamacher 2016, where a class of one value has no entropy whatever its size); it may exceed the
    logarithm of the number of values.

    >>> float(entropy(np.array([0, 2]), np.array([2, 1]))[0] / np.log(2))
    0.91829...
    """
    if estimator == "shannon":
        p = shares(start, count)
        return np.abs(class_sums(start, p * np.log(p)))
    size = class_sums(start, count)
    return np.asarray(_g(size) - class_sums(start, count * _g(count)) / size, dtype=np.float64)


def _g(n: NDArray[np.float64] | Ints) -> Floats:
    """Grassberger's substitute of the logarithm."""
    from scipy.special import digamma

    unique, place = np.unique(np.asarray(n, dtype=np.float64), return_inverse=True)
    sign = np.where(unique % 2, -1.0, 1.0)
    g = digamma(unique) + 0.5 * sign * (digamma((unique + 1) / 2) - digamma(unique / 2))
    return np.asarray(g[place], dtype=np.float64)


def recursive(start: Ints, count: Ints, c: float) -> Ints:
    r"""The largest *l* for which each class is recursively (c, l)-diverse; 1 when none above it is.

    .. math:: r_1 < c\,(r_l + r_{l+1} + \dots + r_m), \qquad r_1 \ge r_2 \ge \dots \ge r_m

    >>> recursive(np.array([0, 2, 5]), np.array([2, 1, 1, 1, 1]), c=3.0).tolist()
    [2, 3]
    """
    classes = len(start) - 1
    if not classes:
        return np.zeros(0, dtype=np.int64)
    owner = np.repeat(np.arange(classes, dtype=np.int64), np.diff(start))
    order = np.lexsort((-count, owner))
    r = count[order]
    first = r[start[:-1]]
    until = np.cumsum(r)
    # what lies from the l-th value on: the class total less the sum before it
    tail = np.repeat(until[start[1:] - 1], np.diff(start)) - until + r
    fits = np.repeat(first, np.diff(start)) < c * tail
    fits[start[:-1]] = True
    return np.maximum(np.add.reduceat(fits.astype(np.int64), start[:-1]), 1)
