"""Least squares on designs that may be singular: an orthonormal basis of the columns, found with a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TOLERANCE = 1e-10
"""A direction whose share of the standardised design is smaller counts as a linear relation between columns."""


@dataclass(frozen=True)
class Design:
    r"""The space of the independent columns: ``basis`` is orthonormal, :math:`Q^T Q = I`, and spans it.

    The projection :math:`Q Q^T Y` is the fit of least squares whatever generalised inverse of :math:`X^T X` is taken,
    so singular designs need no care.
    """

    basis: Floats
    """n × rank; the first column is constant when there is an intercept."""
    back: Floats
    """(1 + columns) × rank: coefficients on the basis become intercept and slopes of the original columns."""
    columns: int

    @property
    def rank(self) -> int:
        """Number of independent directions, the intercept among them."""
        return int(self.basis.shape[1])

    def fitted_values(self, y: Floats) -> Floats:
        """Return the fitted values of least squares.

        >>> d = design(np.array([[0.0, 0], [1, 1], [2, 2]]))
        >>> d.fitted_values(np.array([[1.0], [3], [5]])).round(12).ravel().tolist(), d.rank
        ([1.0, 3.0, 5.0], 2)
        """
        fitted: Floats = self.basis @ (self.basis.T @ y)
        return fitted

    def residuals(self, y: Floats) -> Floats:
        """Return the residuals of least squares; projected twice, so that they are orthogonal to the last digit."""
        once = y - self.fitted_values(y)
        again: Floats = once - self.fitted_values(once)
        return again

    def coefficients(self, y: Floats) -> Floats:
        """Intercept and slopes, (1 + columns) × t: the smallest ones on standardised columns when many fit.

        >>> design(np.array([[0.0], [1], [2]])).coefficients(np.array([[1.0], [3], [5]])).round(12).ravel().tolist()
        [1.0, 2.0]
        """
        coefficients: Floats = self.back @ (self.basis.T @ y)
        return coefficients


def design(x: Floats, *, intercept: bool = True, tolerance: float = TOLERANCE) -> Design:
    """Return the design of independent columns; constant and linearly dependent ones add nothing to it."""
    n, s = x.shape
    centre = x.mean(axis=0) if intercept else np.zeros(s)
    z = x - centre
    scale = np.sqrt((z * z).sum(axis=0))
    # a constant column leaves rounding noise of its size when its mean is taken off
    alive = scale > tolerance * np.sqrt(n) * np.maximum(np.abs(x).max(axis=0, initial=0.0), np.finfo(float).tiny)
    z = np.divide(z, scale, out=np.zeros_like(z), where=alive)
    u, d, vt = np.linalg.svd(z, full_matrices=False)
    keep = d > tolerance * max(float(d[0]) if len(d) else 0.0, 1.0)
    slopes = np.divide(vt[keep].T / d[keep], scale[:, None], out=np.zeros((s, int(keep.sum()))), where=alive[:, None])
    if not intercept:
        return Design(np.ascontiguousarray(u[:, keep]), np.vstack([np.zeros((1, int(keep.sum()))), slopes]), s)
    constant = np.full((n, 1), 1 / np.sqrt(n))
    basis = u[:, keep] - constant @ (constant.T @ u[:, keep])
    first = np.concatenate([[1 / np.sqrt(n)], -(centre @ slopes)])
    back = np.vstack([first, np.hstack([np.zeros((s, 1)), slopes])])
    return Design(np.ascontiguousarray(np.hstack([constant, basis])), back, s)
