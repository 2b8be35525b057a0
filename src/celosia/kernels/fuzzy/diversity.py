r"""Fuzzy l-diversity: the distribution of a sensitive column in the cells of a fuzzy partition."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.fuzzy.sets import TOLERANCE

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Counting = Literal["sigma", "count"]


def cell_counts(mu: Floats, codes: Codes, values: int, counting: Counting = "sigma") -> Floats:
    r"""Return the number of records of each cell (row) with each sensitive value (column).

    ``sigma`` sums degrees; ``count`` is the whole number :math:`\#(Q_i \cap s)` of :func:`celosia.fuzzy.count`.
    Only the first is additive: with ties at one half the second gives a cell fewer records than its values sum to.
    A code of -1 (a missing value) is left out.

    >>> mu = np.array([[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]])
    >>> cell_counts(mu, np.array([0, 1, 1]), 2).tolist()
    [[0.5, 0.5], [0.5, 1.5]]
    >>> cell_counts(mu, np.array([0, 1, 1]), 2, "count").tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    filled = codes >= 0
    mu, codes = mu[filled], codes[filled]
    result = np.empty((mu.shape[1], values))
    for i in range(mu.shape[1]):
        degree = mu[:, i]
        if counting == "sigma":
            result[i] = np.bincount(codes, weights=degree, minlength=values)
        else:
            above = np.bincount(codes[degree > 0.5 + TOLERANCE], minlength=values)
            tied = np.bincount(codes[np.abs(degree - 0.5) <= TOLERANCE], minlength=values) > 0
            result[i] = above + tied
    return result


def present_values(mu: Floats, codes: Codes, values: int) -> NDArray[np.bool_]:
    """Return which sensitive values (columns) a cell (row) contains: those of a record with a degree of at least one
    half.
    """
    return cell_counts(mu, codes, values, "count") >= 1


def entropy_diversity(counts: Floats, persons: Floats | None = None) -> Floats:
    r"""Return :math:`\exp(-\sum_s p_s \ln p_s)` of each cell (row); 0 without records.

    Where ``persons``, the σ-count of the persons of each cell, may have several values, it is at most one over the
    largest share of them.

    >>> entropy_diversity(np.array([[1.0, 1.0], [2.0, 0.0]])).tolist()
    [2.0, 1.0]
    """
    p = shares(counts)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    diversity = np.where(p.any(axis=1), np.exp(-(p * logs).sum(axis=1)), 0.0)
    if persons is not None:
        largest = shares(counts, persons).max(axis=1, initial=0.0)
        limit = np.divide(1.0, largest, out=np.full_like(largest, np.inf), where=largest > 0)
        diversity = np.where(counts.sum(axis=1) > persons + TOLERANCE, np.minimum(diversity, limit), diversity)
    return np.asarray(diversity.round(12))


def recursive_diversity(counts: Floats, c: float, persons: Floats | None = None) -> Floats:
    r"""Return the largest l with :math:`r_1 < c\,(r_l + \dots + r_m)` of each cell (row); 1 when none above it holds.

    Where ``persons`` may have several values, the tail is their σ-count less :math:`r_1 + \dots + r_{l-1}`.

    >>> recursive_diversity(np.array([[2.0, 1.0, 1.0], [3.0, 1.0, 0.0]]), c=2.0).tolist()
    [2.0, 1.0]
    """
    r = -np.sort(-counts, axis=1)
    total = counts.sum(axis=1) if persons is None else persons
    tail = total[:, None] - (r.cumsum(axis=1) - r)
    fits = (r[:, :1] < c * tail - TOLERANCE) & (r > 0)
    return np.asarray(np.maximum(fits.sum(axis=1), 1), dtype=np.float64)


def shares(counts: Floats, totals: Floats | None = None) -> Floats:
    r"""Return the conditional frequencies :math:`f(s \mid Q_i)`, rows 0 where a cell holds nothing.

    Divided by the row sums they are a distribution. Given ``totals``, the published :math:`\#(Q_i \cap s) / \#Q_i`.
    """
    totals = counts.sum(axis=1) if totals is None else totals
    return np.divide(counts, totals[:, None], out=np.zeros_like(counts), where=totals[:, None] > 0)


def posterior(mu: Floats, prior: Floats, counts: Floats, totals: Floats | None = None) -> tuple[Floats, Floats]:
    r"""Return the intruder's probabilities of the sensitive values of individuals after the publication: g and β.

    .. math:: g(s) = n(s, q, T^*) \frac{f(s \mid q)}{f(s \mid q^*)}, \quad
              n(s, q, T^*) = \sum_i \mu_{Q_i}(q)\, |Q_i \cap s|, \quad
              f(s \mid q^*) = \sum_i \mu_{Q_i}(q) f(s \mid Q_i), \quad
              \beta(q, s, T^*) = \frac{g(s)}{\sum_{s'} g(s')}

    ``mu`` are the degrees (one row per individual), ``prior`` the attacker's :math:`f(s \mid q)`, ``counts`` the
    cell counts. A value with :math:`f(s \mid q^*) = 0` has g = 0; where every g is 0, β is NaN.
    """
    n = mu @ counts
    f = mu @ shares(counts, totals)
    g = np.divide(n * prior, f, out=np.zeros_like(n), where=f > 0)
    total = g.sum(axis=1, keepdims=True)
    return g, np.divide(g, total, out=np.full_like(g, np.nan), where=total > 0)


def own_posterior(
    mu: Floats,
    groups: Codes,
    codes: Codes,
    counts: Floats,
    totals: Floats | None = None,
    counted: Codes | None = None,
) -> Floats:
    r"""Return the posterior β of each record's own sensitive value.

    The prior :math:`f(s \mid q)` is the share among the records of the same ``groups`` number, those with equal
    quasi-identifiers; ``counted`` are the records that count in it, where that is not all. Records whose value is
    missing (code -1) get NaN. Works on blocks: no n × values array.
    """
    values = counts.shape[1]
    distinct, first = np.unique(groups, return_index=True)
    place = np.searchsorted(distinct, groups)
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(len(distinct) + 1))
    result = np.full(len(groups), np.nan)
    once = np.ones(len(groups), np.bool_) if counted is None else np.isin(np.arange(len(groups)), counted)
    block = max(1, 4_000_000 // max(values, 1))
    for start in range(0, len(distinct), block):
        stop = min(start + block, len(distinct))
        rows = order[ends[start] : ends[stop]]
        rows = rows[codes[rows] >= 0]
        inside = place[rows] - start
        joint = np.bincount((inside * values + codes[rows])[once[rows]], minlength=(stop - start) * values)
        prior = shares(joint.reshape(stop - start, values).astype(float))
        _, beta = posterior(mu[first[start:stop]], prior, counts, totals)
        result[rows] = beta[inside, codes[rows]]
    return result
