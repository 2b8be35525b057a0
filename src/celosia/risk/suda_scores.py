"""SUDA scores, contributions and the DIS measure, from minimal sample uniques."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def set_points(m: int, weighting: Literal["original", "rescaled"] = "original") -> list[float]:
    r"""Return the points of a minimal sample unique of s = 0 … m columns.

    .. math:: (m - s)!, \qquad (2^{m-s} - 1) \frac{s!\,(m-s)!}{m!}

    for the ``original`` and the ``rescaled`` weighting over m columns.

    References: Elliot, Manning & Ford (2002); Manning, Haglin & Keane (2008).

    >>> set_points(3), [round(p, 3) for p in set_points(3, "rescaled")]
    ([6.0, 2.0, 1.0, 1.0], [7.0, 1.0, 0.333, 0.0])
    """
    if weighting == "original":
        return [float(math.factorial(m - s)) for s in range(m + 1)]
    return [(2.0 ** (m - s) - 1) / math.comb(m, s) for s in range(m + 1)]


@dataclass(frozen=True)
class Scores:
    """Scores of the patterns: higher is more at risk, 0 without a minimal sample unique."""

    score: Floats
    contribution: Floats
    """Patterns × columns: share of the score from minimal sample uniques that contain the column."""
    sets: Ints
    """Number of minimal sample uniques."""
    smallest: Ints
    """Columns of the smallest minimal sample unique; 0 without one."""
    by_column: Floats
    """Share of the total score from minimal sample uniques that contain the column."""
    size: int
    """The size of the largest sets that were searched."""

    @classmethod
    def of(cls, score: Floats, parts: Floats, sets: Ints, smallest: Ints, size: int) -> Scores:
        """Compute shares from the sums of points, over all sets and over those that contain each column.

        >>> scores = Scores.of(np.array([3.0, 0]), np.array([[2.0, 1, 1], [0, 0, 0]]), np.array([2, 0]), np.zeros(2), 3)
        >>> scores.contribution.round(2).tolist(), scores.by_column.round(2).tolist()
        ([[0.67, 0.33, 0.33], [0.0, 0.0, 0.0]], [0.67, 0.33, 0.33])
        """
        total = float(score.sum())
        share = np.divide(parts, score[:, None], out=np.zeros_like(parts), where=score[:, None] > 0)
        by_column = parts.sum(axis=0) / total if total > 0 else np.zeros(parts.shape[1])
        return cls(score, share, sets, smallest, by_column, size)


def dis(score: Floats, m: int, in_pairs: int, fraction: float) -> Floats:
    r"""Return the score of the data intrusion simulation (DIS), distributed in proportion to the SUDA scores.

    .. math:: \mathrm{DIS}_i = \frac{1}{1 + \dfrac{P (1-\varphi)/\varphi}{s_i^Q A}}, \qquad
              A = \sum_{s_j > 0} s_j^{-Q}, \qquad Q = 1 + (8 - m)/20

    P is the number of records in sample pairs, φ the sampling fraction. Without any pair every unique has DIS 1.

    References: Skinner & Elliot (2002); Elliot (2000).

    >>> dis(np.array([2.0, 0.0]), 8, 10, 0.5).round(4).tolist()
    [0.0909, 0.0]
    """
    risks = np.zeros(len(score))
    risky = score > 0
    if not risky.any():
        return risks
    power = 1 + (8 - m) / 20
    raised = score[risky] ** power
    total = float((1 / raised).sum())
    risks[risky] = 1 / (1 + in_pairs * (1 - fraction) / fraction / (raised * total))
    return risks
