"""EM for a mixture of two kinds of agreement patterns."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit

Floats = npt.NDArray[np.float64]

EDGE = 1e-9  # no probability comes nearer to 0 or 1
RARE = 1e-12  # the same for the share of matches


@jit()
def two_kinds(
    bits: Floats, counts: Floats, m: Floats, u: Floats, share: float, limit: int, tolerance: float
) -> tuple[Floats, Floats, float, int]:
    r"""Probabilities of agreement among matches and non-matches, and the share of matches, by EM.

    .. math:: g(\gamma) = \frac{1}{1 + e^{-s(\gamma)}}, \qquad
              s(\gamma) = \log \frac{p}{1-p} + \sum_i \log \frac{m_i^{\gamma_i} (1-m_i)^{1-\gamma_i}}
              {u_i^{\gamma_i} (1-u_i)^{1-\gamma_i}}

    ``bits`` has one row per pattern that occurs ``counts`` times. Starts at ``m``, ``u`` and ``share``; stops when no
    number moves by more than the tolerance, or after ``limit`` rounds, which it returns as well.

    >>> m, u, p, _ = two_kinds(np.array([[0.0], [1.0]]), np.array([90.0, 10.0]), np.array([0.9]), np.array([0.1]),
    ...                        0.01, 500, 1e-9)
    >>> bool(0 < p < 1 and m[0] > u[0])
    True
    """
    patterns, k = bits.shape
    total = counts.sum()
    m, u = m.copy(), u.copy()
    agreed = np.zeros(k)
    for r in range(patterns):
        for i in range(k):
            agreed[i] += counts[r] * bits[r, i]
    weight = np.empty(k)
    matched = np.empty(k)
    steps = 0
    while steps < limit:
        steps += 1
        base = math.log(share) - math.log1p(-share)
        for i in range(k):
            weight[i] = math.log(m[i]) - math.log1p(-m[i]) - math.log(u[i]) + math.log1p(-u[i])
            base += math.log1p(-m[i]) - math.log1p(-u[i])
            matched[i] = 0.0
        matches = 0.0
        for r in range(patterns):
            score = base
            for i in range(k):
                score += bits[r, i] * weight[i]
            g = counts[r] / (1.0 + math.exp(min(-score, 700.0)))
            matches += g
            for i in range(k):
                matched[i] += bits[r, i] * g
        matches = max(matches, 1e-300)
        others = max(total - matches, 1e-300)
        new_share = min(max(matches / total, RARE), 1.0 - RARE)
        moved = abs(new_share - share)
        share = new_share
        for i in range(k):
            new_m = min(max(matched[i] / matches, EDGE), 1.0 - EDGE)
            new_u = min(max((agreed[i] - matched[i]) / others, EDGE), 1.0 - EDGE)
            moved = max(moved, abs(new_m - m[i]), abs(new_u - u[i]))
            m[i] = new_m
            u[i] = new_u
        if moved < tolerance:
            break
    return m, u, share, steps
