r"""Information-preserving statistical obfuscation: new dependent columns with the same regression.

.. math:: \hat B = (X^T X)^- X^T Y, \qquad R = Y - X \hat B, \qquad \hat\Sigma = R^T R / n

References: Burridge (2003).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from celosia.errors import DataError
from celosia.kernels.statistics.deviation import deviations
from celosia.kernels.synthesis.design import Design, design

Floats = npt.NDArray[np.float64]
Variant = Literal["A", "B", "C"]
Scale = Literal["unit", "residual"]
Form = Literal["burridge", "thesis"]


def ipso(
    x: Floats,
    y: Floats,
    noise: Floats,
    variant: Variant = "C",
    *,
    scale: Scale = "residual",
    form: Form = "burridge",
    intercept: bool = True,
) -> Floats:
    r"""Synthetic dependent columns from independent ones and standard normal ``noise`` of the shape of ``y``.

    A is the fit :math:`X \hat B`. B adds noise that is orthogonal to X, so :math:`\hat B` stays. C gives that noise the
    residual covariance too: with :math:`\tilde R = \tilde Q U_0` and :math:`R = Q U`,
    :math:`Y' = X\hat B + \tilde Q U` and :math:`U^T U = R^T R`. (The factor comes from R itself, not from a
    Cholesky factor of :math:`R^T R`: no digits are lost and a singular :math:`\hat\Sigma` needs no care.)
    ``form="thesis"`` makes the noise orthogonal to the original Y as well.

    >>> x, y = np.arange(6.0).reshape(-1, 1), np.array([[1.0], [0], [2], [5], [3], [4]])
    >>> drawn = ipso(x, y, np.array([[1.0], [-1], [0.5], [2], [0], [1]]), "C")
    >>> bool(np.isclose(drawn.var(), y.var())), bool(np.isclose(x.T @ drawn, x.T @ y).all())
    (True, True)
    """
    n, t = y.shape
    model = design(x, intercept=intercept)
    fitted = model.fitted_values(y)
    if variant == "A":
        return fitted
    space = design(np.hstack([x, y]), intercept=intercept) if form == "thesis" else model
    need = space.rank + (t if variant == "C" else 1)
    if n < need:
        raise DataError(
            f"ipso: variant {variant} needs at least {need} records for {x.shape[1]} independent and {t} dependent "
            f"columns, got {n}. Use fewer columns or variant A."
        )
    spread = noise.std(axis=0)
    free = space.residuals((noise - noise.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    left = model.residuals(y)
    if variant == "B":
        if scale == "residual":
            size = np.sqrt((free * free).sum(axis=0))
            free = free * np.divide(np.sqrt((left * left).sum(axis=0)), size, out=np.zeros(t), where=size > 0)
        return fitted + free
    return fitted + _with_crossproduct(space, free, left)


def _with_crossproduct(space: Design, free: Floats, left: Floats) -> Floats:
    """Return columns in the span of ``free`` with the crossproduct of ``left``."""
    q, _ = np.linalg.qr(free)
    q, _ = np.linalg.qr(space.residuals(q))  # a second round: orthogonal to the design and to each other at once
    factor = np.linalg.qr(left, mode="r")
    columns: Floats = q @ factor
    return columns


def identities(x: Floats, y: Floats, synthetic: Floats, *, intercept: bool = True) -> dict[str, float]:
    """How far the fit and the residual covariance moved: largest error relative to the standard deviations.

    >>> x, y = np.arange(6.0).reshape(-1, 1), np.array([[1.0], [0], [2], [5], [3], [4]])
    >>> identities(x, y, y)
    {'regression': 0.0, 'residual covariance': 0.0}
    """
    model = design(x, intercept=intercept)
    sd = deviations(y)
    sd = np.where(sd > 0, sd, 1.0)
    n = len(y)
    fit = np.abs(model.fitted_values(synthetic - y) / sd).max(initial=0.0)
    before, after = model.residuals(y) / sd, model.residuals(synthetic) / sd
    covariance = np.abs(before.T @ before - after.T @ after).max(initial=0.0) / n
    return {"regression": float(fit), "residual covariance": float(covariance)}
