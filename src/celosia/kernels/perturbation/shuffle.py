"""Data shuffling: the values of a column, dealt out again so that relations stay and links break."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def normal_scores(x: Floats) -> Floats:
    r"""Return the normal quantiles of the ranks, ties at their mean rank; NaN stays NaN.

    .. math:: z_i = \Phi^{-1}\bigl(r_i / (n+1)\bigr)

    >>> normal_scores(np.array([3.0, 1.0, 2.0])).round(3).tolist()
    [0.674, -0.674, 0.0]
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    filled = ~np.isnan(x)
    result = np.full(len(x), np.nan)
    result[filled] = ndtri(rankdata(x[filled]) / (filled.sum() + 1))
    return result


def shuffle(x: Floats, given: Floats, rng: np.random.Generator) -> Floats:
    r"""Deal the values of each column of ``x`` out again, by a normal copula given the columns of ``given``.

    .. math:: y^* = \Sigma_{xs}\Sigma_{ss}^{-1} s^* + e, \qquad
              e \sim N(0,\ \Sigma_{xx} - \Sigma_{xs}\Sigma_{ss}^{-1}\Sigma_{sx})

    on normal scores; the record with the r-th smallest :math:`y^*` gets the r-th smallest value. Given ``given`` the
    new values are independent of the old ones; margins are kept exactly, rank correlations on average. Missing
    values of ``x`` stay where they are; ``given`` must be complete. Reference: Muralidhar & Sarathy (2006).

    >>> x = np.array([[5.0], [1.0], [np.nan], [3.0]])
    >>> sorted(shuffle(x, np.empty((4, 0)), np.random.default_rng(0))[[0, 1, 3], 0].tolist())
    [1.0, 3.0, 5.0]
    """
    from celosia.kernels.perturbation.noise import root

    n, m = x.shape
    scores = np.column_stack([normal_scores(x[:, j]) for j in range(m)])
    centred = given - given.mean(axis=0) if n else given
    whole = ~np.isnan(scores).any(axis=1)
    both = np.hstack([scores, centred])[whole]
    sigma = np.atleast_2d(both.T @ both / max(int(whole.sum()), 1))
    xx, xs, ss = sigma[:m, :m], sigma[:m, m:], sigma[m:, m:]
    slope = xs @ np.linalg.pinv(ss, rcond=1e-10, hermitian=True) if centred.shape[1] else xs
    residual = xx - slope @ xs.T
    drawn = centred @ slope.T + rng.standard_normal((n, m)) @ root(residual).T
    result = x.copy()
    for j in range(m):
        rows = np.flatnonzero(~np.isnan(x[:, j]))
        order = np.argsort(drawn[rows, j], kind="stable")
        result[rows[order], j] = np.sort(x[rows, j])
    return result
