"""A likelihood of two parameters on a grid: its maximum, and draws of parameters from it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Likelihood:
    """A negative log-likelihood of two parameters, its maximum and a grid over where it is not negligible.

    The draws are from the normalised likelihood (flat prior), so that a skewed or cut-off shape keeps its tails,
    where the normal approximation of a maximum-likelihood estimate would not. ``loss`` maps an array (…, 2) of
    parameters to (…) values.

    >>> bowl = Likelihood(lambda x: ((x - 0.3) ** 2).sum(axis=-1) * 50, ((0.0, 1.0), (0.0, 1.0)))
    >>> bowl.maximum().round(3).tolist()
    [0.3, 0.3]
    >>> bowl.draws(5000, np.random.default_rng(1)).std(axis=0).round(2).tolist()   # 1 / sqrt(2 · 50)
    [0.1, 0.1]
    """

    CELLS = 31
    COARSE = 9  # cells per axis while the box grows
    REACH = 12.0  # e^-12 of the maximum: what lies outside the box has no weight

    def __init__(self, loss: Callable[[Floats], Floats], box: tuple[tuple[float, float], tuple[float, float]]) -> None:
        self.loss = loss
        self.outer = np.array(box)
        self.box = self.outer.copy()
        self._look(self.CELLS)
        self.best = self._descend(self._lowest())

    def _look(self, cells: int) -> None:
        """Evaluate at the middles of the cells."""
        steps = (np.arange(cells) + 0.5) / cells
        self.axes = [low + (high - low) * steps for low, high in self.box]
        grid = np.stack(np.meshgrid(*self.axes, indexing="ij"), axis=-1)
        self.values = self.loss(grid)

    def _lowest(self) -> Floats:
        i, j = np.unravel_index(np.argmin(self.values), self.values.shape)
        return np.array([self.axes[0][i], self.axes[1][j]])

    def _descend(self, start: Floats) -> Floats:
        from scipy.optimize import minimize

        found = minimize(
            lambda x: float(self.loss(np.asarray(x))),
            start,
            bounds=self.outer,
            method="Nelder-Mead",
            options={"xatol": 1e-5, "fatol": 1e-7, "maxiter": 2000},
        )
        return np.asarray(found.x, dtype=np.float64)

    def maximum(self) -> Floats | None:
        """The parameters of highest likelihood, or None when they lie on a rim that cannot hold them."""
        margin = 1e-4 * (self.outer[:, 1] - self.outer[:, 0])
        low, high = self.best - margin < self.outer[:, 0], self.best + margin > self.outer[:, 1]
        if not np.isfinite(self.values.min()) or low[1] or high.any():
            return None
        return self.best

    def _cover(self) -> None:
        """Put the grid over all parameters that are not negligible."""
        # grow a box around the maximum until all of its rim is unlikely; a narrow ridge would hide from a coarse grid
        half = 1e-3 * (self.outer[:, 1] - self.outer[:, 0])
        for _ in range(30):
            self.box = np.clip(np.stack([self.best - half, self.best + half], axis=1), *self.outer.T[:, :, None])
            self._look(self.COARSE)
            near = self.values <= self.values.min() + self.REACH
            reached = [
                (near[0].any() and self.box[0, 0] > self.outer[0, 0])
                or (near[-1].any() and self.box[0, 1] < self.outer[0, 1]),
                (near[:, 0].any() and self.box[1, 0] > self.outer[1, 0])
                or (near[:, -1].any() and self.box[1, 1] < self.outer[1, 1]),
            ]
            if not any(reached):
                break
            half = np.where(reached, 2.0 * half, half)
        self._look(self.CELLS)

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Parameters in proportion to their likelihood, uniform within a cell."""
        self._cover()
        weight = np.exp(self.values.min() - self.values).ravel()
        cell = rng.choice(weight.size, count, p=weight / weight.sum())
        i, j = np.unravel_index(cell, self.values.shape)
        middle = np.stack([self.axes[0][i], self.axes[1][j]], axis=1)
        width = (self.box[:, 1] - self.box[:, 0]) / self.CELLS
        return np.asarray(middle + (rng.random((count, 2)) - 0.5) * width, dtype=np.float64)
