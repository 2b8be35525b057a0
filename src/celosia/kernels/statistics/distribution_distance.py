"""Distances between two samples of one column, and between two tables of counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_DENSE = 1_000_000  # cells of a table that is counted as an array; larger ones are counted by sorting


def kolmogorov_smirnov(x: Floats, y: Floats) -> float:
    r"""Return the largest difference of the two empirical distribution functions.

    .. math:: \sup_v |F(v) - G(v)|

    >>> kolmogorov_smirnov(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    x, y = np.sort(x), np.sort(y)
    at = np.concatenate([x, y])
    f = np.searchsorted(x, at, side="right") / len(x)
    g = np.searchsorted(y, at, side="right") / len(y)
    return float(np.abs(f - g).max())


def wasserstein(x: Floats, y: Floats) -> float:
    r"""Return the mean distance that the values must move to turn one sample into the other.

    .. math:: \int |F(v) - G(v)|\,dv

    >>> wasserstein(np.array([1.0, 2.0]), np.array([2.0, 5.0]))
    2.0
    """
    x, y = np.sort(x), np.sort(y)
    at = np.sort(np.concatenate([x, y]))
    f = np.searchsorted(x, at[:-1], side="right") / len(x)
    g = np.searchsorted(y, at[:-1], side="right") / len(y)
    return float((np.abs(f - g) * np.diff(at)).sum())


def counts(a: Ints, b: Ints, size: int) -> tuple[Floats, Floats]:
    """Relative frequencies of codes below ``size`` in two samples, over the codes that occur.

    >>> [f.tolist() for f in counts(np.array([0, 0, 2]), np.array([2, 2, 2]), 5)]
    [[0.6666666666666666, 0.3333333333333333], [0.0, 1.0]]
    """
    if size <= _DENSE:
        p, q = np.bincount(a, minlength=size), np.bincount(b, minlength=size)
        seen = (p > 0) | (q > 0)
        return p[seen] / len(a), q[seen] / len(b)
    _, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    codes = codes.reshape(-1)
    most = int(codes.max()) + 1
    return np.bincount(codes[: len(a)], minlength=most) / len(a), np.bincount(codes[len(a) :], minlength=most) / len(b)


def hellinger(p: Floats, q: Floats) -> float:
    r"""Hellinger distance of two distributions.

    .. math:: \sqrt{\tfrac12 \sum_v (\sqrt{p_v} - \sqrt{q_v})^2}

    >>> hellinger(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    1.0
    """
    return float(np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum()))


def total_variation(p: Floats, q: Floats) -> float:
    r"""Total variation distance: the share of records that would have to change cells.

    .. math:: \tfrac12 \sum_v |p_v - q_v|

    >>> total_variation(np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    0.25
    """
    return float(0.5 * np.abs(p - q).sum())


def entropy(codes: Ints) -> float:
    r"""Return the entropy of a sample of codes in bits.

    .. math:: -\sum_v p_v \log_2 p_v

    >>> entropy(np.array([3, 4]))
    1.0
    """
    _, frequency = np.unique(codes, return_counts=True)
    p = frequency / len(codes)
    return max(0.0, float(-(p @ np.log2(p))))


def pair_codes(a: Ints, b: Ints) -> Ints:
    """Return one code for each pair of codes.

    >>> pair_codes(np.array([0, 1, 0]), np.array([5, 5, 5])).tolist()
    [5, 11, 5]
    """
    pair: Ints = a * (int(b.max(initial=0)) + 1) + b
    return pair


def shared_information(a: Ints, b: Ints) -> float:
    r"""Mutual information of two columns as a share of the geometric mean of their entropies; 0 for a constant one.

    .. math:: \frac{H(A) + H(B) - H(A, B)}{\sqrt{H(A) H(B)}}

    >>> shared_information(np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0]))
    1.0
    """
    h, g = entropy(a), entropy(b)
    if h == 0 or g == 0:
        return 0.0
    return float(min(1.0, max(0.0, (h + g - entropy(pair_codes(a, b))) / np.sqrt(h * g))))
