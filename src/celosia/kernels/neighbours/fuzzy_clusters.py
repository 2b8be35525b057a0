r"""One sweep of fuzzy c-means and of Gustafson–Kessel over the records, compiled.

A sweep turns centres (and metrics) into the sums that give the next ones. The n × c memberships are never stored: a
sweep works on blocks of 256 records, laid out one row per column or cluster so that the inner loops run along
the records and use the vector units. It reads the data once and needs O(c p²) memory.

With squared distances :math:`D_i`, the degree of a record in cluster i is

.. math:: \mu_i = \frac{D_i^{-1/(m-1)}}{\sum_j D_j^{-1/(m-1)}}

computed from the ratios :math:`\min_j D_j / D_i`, which do not overflow. A record that lies on one or more centres
belongs to those alone, in equal parts: distances are kept above 1e-300, so its ratios are 1 there and 0 elsewhere.
"""

from __future__ import annotations

import numpy as np

from celosia.kernels.arrays import Floats
from celosia.kernels.jit import jit

BLOCK = 256  # records per block: c + p rows of 2 kB stay in the first-level cache
TINY = 1e-300


@jit(fastmath=True)
def _degrees(d: Floats, size: int, m: float, u: Floats) -> None:
    """Fill ``u`` (c × block) with the degrees that belong to the squared distances ``d`` (c × block)."""
    c = d.shape[0]
    nearest, total = np.empty(size), np.zeros(size)
    for b in range(size):
        nearest[b] = d[0, b]
    for i in range(1, c):
        for b in range(size):
            nearest[b] = min(nearest[b], d[i, b])
    for b in range(size):
        nearest[b] = max(nearest[b], TINY)
    power = 1.0 / (m - 1.0)
    for i in range(c):
        if m == 2.0:  # the usual case, without a power
            for b in range(size):
                u[i, b] = nearest[b] / max(d[i, b], TINY)
        else:
            for b in range(size):
                u[i, b] = (nearest[b] / max(d[i, b], TINY)) ** power
        for b in range(size):
            total[b] += u[i, b]
    for b in range(size):
        total[b] = 1.0 / total[b]
    for i in range(c):
        for b in range(size):
            u[i, b] *= total[b]


@jit(fastmath=True)
def _raise(u: Floats, size: int, m: float) -> None:
    """Raise the degrees to the power ``m`` in place."""
    for i in range(u.shape[0]):
        if m == 2.0:
            for b in range(size):
                u[i, b] *= u[i, b]
        else:
            for b in range(size):
                u[i, b] = u[i, b] ** m


@jit(fastmath=True)
def _turn(x: Floats, start: int, size: int, block: Floats) -> None:
    """Copy records ``start`` … of ``x`` to ``block`` (p × block), one row per column."""
    for b in range(size):
        for j in range(x.shape[1]):
            block[j, b] = x[start + b, j]


@jit(fastmath=True)
def _turn_back(block: Floats, start: int, size: int, x: Floats) -> None:
    """Copy ``block``, one row per column, to records ``start`` … of ``x``."""
    for b in range(size):
        for j in range(x.shape[1]):
            x[start + b, j] = block[j, b]


@jit(fastmath=True)
def _distances(block: Floats, size: int, v: Floats, d: Floats) -> None:
    """Fill ``d`` with the squared Euclidean distances to the centres ``v`` (c × p)."""
    for i in range(v.shape[0]):
        for b in range(size):
            d[i, b] = 0.0
        for j in range(v.shape[1]):
            centre = v[i, j]
            for b in range(size):
                gap = block[j, b] - centre
                d[i, b] += gap * gap


@jit(fastmath=True)
def _weigh(d: Floats, size: int, m: float, w: Floats, weight: Floats) -> float:
    """Fill ``w`` with the weights at the squared distances, add them up in ``weight``, and give what they cost."""
    _degrees(d, size, m, w)
    _raise(w, size, m)
    total = 0.0
    for i in range(len(weight)):
        mass = cost = 0.0
        for b in range(size):
            mass += w[i, b]
            cost += w[i, b] * d[i, b]
        weight[i] += mass
        total += cost
    return total


@jit(fastmath=True)
def c_means_sweep(x: Floats, v: Floats, m: float) -> tuple[float, Floats]:
    """Objective at the centres ``v`` (c × p), and the next centres."""
    n, p = x.shape
    c = v.shape[0]
    block, d, w = np.empty((p, BLOCK)), np.empty((c, BLOCK)), np.empty((c, BLOCK))
    weight, moment = np.zeros(c), np.zeros((c, p))
    objective = 0.0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        _turn(x, start, size, block)
        _distances(block, size, v, d)
        objective += _weigh(d, size, m, w, weight)
        for i in range(c):
            for j in range(p):
                part = 0.0
                for b in range(size):
                    part += w[i, b] * block[j, b]
                moment[i, j] += part
    following = v.copy()
    for i in range(c):
        if weight[i] > 0.0:  # a cluster that no record has a part in stays where it is
            for j in range(p):
                following[i, j] = moment[i, j] / weight[i]
    return objective, following


@jit(fastmath=True)
def c_means_degrees(x: Floats, v: Floats, m: float) -> Floats:
    """Memberships (n × c) for the centres ``v`` (c × p)."""
    n, p = x.shape
    c = v.shape[0]
    block, d, u = np.empty((p, BLOCK)), np.empty((c, BLOCK)), np.empty((c, BLOCK))
    result = np.empty((n, c))
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        _turn(x, start, size, block)
        _distances(block, size, v, d)
        _degrees(d, size, m, u)
        _turn_back(u, start, size, result)
    return result


@jit(fastmath=True)
def _metric_distances(block: Floats, size: int, v: Floats, root: Floats, gap: Floats, d: Floats) -> None:
    """Fill ``gap`` (c × p × block) with x - v_i and ``d`` with |R_i (x - v_i)|², where R_iᵀ R_i = A_i."""
    c, p = v.shape
    part = np.empty(size)
    for i in range(c):
        for j in range(p):
            centre = v[i, j]
            for b in range(size):
                gap[i, j, b] = block[j, b] - centre
        for b in range(size):
            d[i, b] = 0.0
        for a in range(p):
            for b in range(size):
                part[b] = 0.0
            for j in range(p):
                factor = root[i, a, j]
                for b in range(size):
                    part[b] += factor * gap[i, j, b]
            for b in range(size):
                d[i, b] += part[b] * part[b]


@jit(fastmath=True)
def metric_sweep(x: Floats, v: Floats, root: Floats, m: float) -> tuple[float, Floats, Floats]:
    """Objective at centres ``v`` (c × p) with metrics ``root`` (c × p × p), the next centres and their covariances.

    Second moments are taken about the present centres and moved to the next ones (Steiner), so that one sweep is enough
    and large means do not cancel.
    """
    n, p = x.shape
    c = v.shape[0]
    block, d, w = np.empty((p, BLOCK)), np.empty((c, BLOCK)), np.empty((c, BLOCK))
    gap = np.empty((c, p, BLOCK))
    weight, first, second = np.zeros(c), np.zeros((c, p)), np.zeros((c, p, p))
    objective = 0.0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        _turn(x, start, size, block)
        _metric_distances(block, size, v, root, gap, d)
        objective += _weigh(d, size, m, w, weight)
        for i in range(c):
            for a in range(p):
                part = 0.0
                for b in range(size):
                    part += w[i, b] * gap[i, a, b]
                first[i, a] += part
                for j in range(a + 1):
                    part = 0.0
                    for b in range(size):
                        part += w[i, b] * gap[i, a, b] * gap[i, j, b]
                    second[i, a, j] += part
    following = v.copy()
    covariance = np.zeros((c, p, p))
    for i in range(c):
        if weight[i] > 0.0:
            for a in range(p):
                first[i, a] /= weight[i]
                following[i, a] += first[i, a]
            for a in range(p):
                for j in range(a + 1):
                    value = second[i, a, j] / weight[i] - first[i, a] * first[i, j]
                    covariance[i, a, j] = value
                    covariance[i, j, a] = value
    return objective, following, covariance


@jit(fastmath=True)
def metric_degrees(x: Floats, v: Floats, root: Floats, m: float) -> Floats:
    """Memberships (n × c) for the centres ``v`` (c × p) with metrics ``root``."""
    n, p = x.shape
    c = v.shape[0]
    block, d, u = np.empty((p, BLOCK)), np.empty((c, BLOCK)), np.empty((c, BLOCK))
    gap = np.empty((c, p, BLOCK))
    result = np.empty((n, c))
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        _turn(x, start, size, block)
        _metric_distances(block, size, v, root, gap, d)
        _degrees(d, size, m, u)
        _turn_back(u, start, size, result)
    return result
