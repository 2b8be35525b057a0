"""What a randomised category tells about the true one when the transition matrix is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS, ENOUGH = 2000, 1e-12  # steps of the estimate of the prior, and the change at which it ends


def prior(counts: Floats, matrix: Floats) -> Floats:
    r"""The likeliest shares of the true categories behind the counts of the randomised ones.

    .. math:: \pi_i \leftarrow \sum_j \frac{t_j}{n}\, \frac{\pi_i R_{ij}}{\sum_l \pi_l R_{lj}}

    Steps of expectation and maximisation from equal shares: unlike the unbiased estimate it is never negative, and it
    exists for a singular matrix. References: Agrawal & Srikant (2000).

    >>> prior(np.array([70.0, 30.0]), np.array([[0.9, 0.1], [0.3, 0.7]])).round(4).tolist()
    [0.6667, 0.3333]
    """
    share = counts / counts.sum()
    shares = np.full(len(matrix), 1 / len(matrix))
    for _ in range(ROUNDS):
        reached = shares @ matrix
        weight = np.divide(share, reached, out=np.zeros_like(share), where=reached > 0)
        after = shares * (matrix @ weight)
        after = after / after.sum()
        if np.abs(after - shares).max() < ENOUGH:
            return np.asarray(after, dtype=np.float64)
        shares = after
    return shares


def posterior(shares: Floats, matrix: Floats) -> Floats:
    r"""The probability of each true category (rows) given each randomised one (columns).

    .. math:: P(x = i \mid \tilde x = j) = \frac{\pi_i R_{ij}}{\sum_l \pi_l R_{lj}}

    A randomised category that nothing becomes tells nothing: its column is the prior.

    >>> posterior(np.array([0.5, 0.5]), np.array([[0.75, 0.25], [0.25, 0.75]])).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    joint = shares[:, None] * matrix
    reached = joint.sum(axis=0)
    return np.asarray(np.where(reached > 0, joint / np.where(reached > 0, reached, 1.0), shares[:, None]))
