"""Transition matrices of PRAM: invariant ones, a lower bound on the diagonal, and the estimator that undoes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from celosia.errors import DataError, ParameterError

Floats = npt.NDArray[np.float64]


def check(matrix: Floats) -> Floats:
    """Return the matrix, or an error when it is not square with rows that are distributions.

    >>> check(np.array([[0.9, 0.1], [0.2, 0.7]]))
    Traceback (most recent call last):
    celosia.errors.ParameterError: each row of a transition matrix must sum to 1; row 2 sums to 0.9.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"a transition matrix must be square, got {' × '.join(map(str, matrix.shape))}.")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or (matrix > 1).any():
        raise ParameterError("a transition matrix holds probabilities: numbers from 0 to 1.")
    sums = matrix.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > 1e-9)
    if len(wrong):
        raise ParameterError(
            f"each row of a transition matrix must sum to 1; row {wrong[0] + 1} sums to {sums[wrong[0]]:g}."
        )
    return matrix


def toward_margin(frequencies: Floats, diagonal: float) -> Floats:
    r"""Return the invariant matrix that resamples from the margin, with smallest diagonal entry exactly ``diagonal``.

    .. math:: R = (1-\theta) I + \theta\, \mathbf 1 p^T, \qquad \theta = \frac{1-\delta}{1-\min_j p_j},
              \qquad p^T R = p^T

    All entries of the diagonal are at least :math:`\delta`; the rarest category has it exactly.

    >>> toward_margin(np.array([3.0, 1.0]), 0.7).round(3).tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """
    p = frequencies / frequencies.sum()
    size = len(p)
    if size == 1:
        return np.ones((1, 1))
    theta = (1 - diagonal) / (1 - p.min())
    if theta > 1:
        raise ParameterError(
            f"a diagonal of {diagonal:g} is below the share of the rarest category; at least {p.min():.3g} is needed."
        )
    result: Floats = (1 - theta) * np.eye(size) + theta * p[None, :]
    return result


def invariant(matrix: Floats, frequencies: Floats) -> Floats:
    r"""Make a transition matrix keep the expected frequencies, by a second step that undoes the first on average.

    .. math:: R = P Q, \qquad Q_{kj} = \frac{P_{jk} p_j}{\sum_l p_l P_{lk}}, \qquad p^T R = p^T

    Reference: Gouweleeuw, Kooiman, Willenborg & de Wolf (1998).

    >>> r = invariant(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([3.0, 1.0]))
    >>> (np.array([3.0, 1.0]) @ r).round(9).tolist()
    [3.0, 1.0]
    """
    flow = matrix * (frequencies / frequencies.sum())[:, None]
    reached = flow.sum(axis=0)
    # A category that nothing reaches is left alone: its row of Q is never used.
    back = np.divide(flow.T, reached[:, None], out=np.eye(len(matrix)), where=reached[:, None] > 0)
    result: Floats = matrix @ back
    return result


def raise_diagonal(matrix: Floats, diagonal: float) -> Floats:
    r"""Mix with the identity until no entry of the diagonal is below ``diagonal``; an invariant matrix stays so.

    .. math:: \alpha R + (1-\alpha) I, \qquad \alpha = \min\Bigl(1, \frac{1-\delta}{1-\min_j R_{jj}}\Bigr)

    >>> raise_diagonal(np.array([[0.5, 0.5], [0.2, 0.8]]), 0.8).round(3).tolist()
    [[0.8, 0.2], [0.08, 0.92]]
    """
    least = float(np.diag(matrix).min())
    if least >= diagonal:
        return matrix
    alpha = (1 - diagonal) / (1 - least)
    return alpha * matrix + (1 - alpha) * np.eye(len(matrix))


def unbiased_counts(counts: Floats, matrix: Floats) -> tuple[Floats, Floats]:
    r"""Estimate the original counts from those of the perturbed file; with standard errors.

    .. math:: \hat t = (R^T)^{-1} t', \qquad
              \operatorname{Var}(\hat t) = R^{-T}\Bigl(\sum_j t_j\,(\operatorname{diag} R_j - R_j^T R_j)\Bigr)R^{-1}

    The original counts in the variance are replaced by their estimates (negative ones by 0). Fails for a singular
    matrix. Reference: Kooiman, Willenborg & Gouweleeuw (1997).

    >>> estimate, error = unbiased_counts(np.array([70.0, 30.0]), np.array([[0.9, 0.1], [0.3, 0.7]]))
    >>> estimate.round(3).tolist()
    [66.667, 33.333]
    """
    check(matrix)
    if np.linalg.cond(matrix) > 1e12:
        raise DataError("the transition matrix is singular: original counts cannot be estimated from it.")
    back = np.linalg.inv(matrix)
    estimate: Floats = counts @ back
    weight = np.maximum(estimate, 0.0)
    spread = np.diag(weight @ matrix) - (matrix * weight[:, None]).T @ matrix
    variance = np.diag(back.T @ spread @ back)
    return estimate, np.sqrt(np.maximum(variance, 0.0))
