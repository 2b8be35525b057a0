"""SUDA scores, contributions and the DIS measure, from minimal sample uniques."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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


def scores(
    pattern: Ints, mask: Ints, n: int, m: int, weighting: Literal["original", "rescaled"] = "original"
) -> Scores:
    r"""Score each pattern by the sizes of its minimal sample uniques.

    .. math:: s = \sum_{S \in \mathrm{MSU}} (m - |S|)!, \qquad
              s = \sum_S (2^{m-|S|} - 1) \frac{|S|!\,(m-|S|)!}{m!}

    for the ``original`` and the ``rescaled`` weighting over m columns.

    References: Elliot, Manning & Ford (2002); Manning, Haglin & Keane (2008).

    >>> found = scores(np.array([0, 0]), np.array([0b001, 0b110]), 2, 3)
    >>> found.score.tolist(), found.contribution[0].round(2).tolist()
    ([3.0, 0.0], [0.67, 0.33, 0.33])
    """
    size = np.bitwise_count(mask).astype(np.int64)
    if weighting == "original":
        points = np.array([math.factorial(m - s) for s in range(m + 1)], dtype=np.float64)
    else:
        points = np.array([(2.0 ** (m - s) - 1) / math.comb(m, s) for s in range(m + 1)])
    gained = points[size]
    score = np.bincount(pattern, weights=gained, minlength=n).astype(np.float64)
    parts = np.zeros((n, m))  # np.bincount of nothing is whole numbers, so fill floats
    for j in range(m):
        parts[:, j] = np.bincount(pattern, weights=gained * ((mask >> j) & 1), minlength=n)
    total = float(score.sum())
    smallest = np.full(n, m + 1, dtype=np.int64)
    np.minimum.at(smallest, pattern, size)
    return Scores(
        score,
        np.divide(parts, score[:, None], out=np.zeros_like(parts), where=score[:, None] > 0),
        np.bincount(pattern, minlength=n).astype(np.int64),
        np.where(smallest > m, 0, smallest),
        parts.sum(axis=0) / total if total > 0 else np.zeros(m),
    )


def dis(score: Floats, m: int, in_pairs: int, fraction: float) -> Floats:
    r"""Data intrusion simulation, spread over the records in proportion to their SUDA score.

    .. math:: \mathrm{DIS}_i = \frac{1}{1 + \dfrac{P (1-\varphi)/\varphi}{s_i^Q A}}, \qquad
              A = \sum_{s_j > 0} s_j^{-Q}, \qquad Q = 1 + (8 - m)/20

    P is the number of records in sample pairs, φ the sampling fraction. Without any pair every unique has DIS 1.

    References: Skinner & Elliot (2002); Elliot (2000).

    >>> dis(np.array([2.0, 0.0]), 8, 10, 0.5).round(4).tolist()
    [0.0909, 0.0]
    """
    found = np.zeros(len(score))
    risky = score > 0
    if not risky.any():
        return found
    power = 1 + (8 - m) / 20
    raised = score[risky] ** power
    total = float((1 / raised).sum())
    found[risky] = 1 / (1 + in_pairs * (1 - fraction) / fraction / (raised * total))
    return found
