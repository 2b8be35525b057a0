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

    STARTS = 3  # valleys of the grid that are gone down into
    TURNS = 3  # descents from one start
    FLAT = 1e-4  # a rim that is worse by no more than this cannot be told from the best

    def __init__(
        self,
        loss: Callable[[Floats], Floats],
        box: tuple[tuple[float, float], tuple[float, float]],
        closed: tuple[int, int] | None = None,
    ) -> None:
        self.loss = loss
        self.outer = np.array(box)
        self.closed = closed
        self.box = self.outer.copy()
        self._look(self.CELLS)
        lowest = [self._descend(start) for start in self._valleys()]
        self.best = min(lowest, key=lambda x: float(self.loss(x)), default=self.outer.mean(axis=1))

    def _look(self, cells: int) -> None:
        """Evaluate at the middles of the cells."""
        steps = (np.arange(cells) + 0.5) / cells
        self.axes = [low + (high - low) * steps for low, high in self.box]
        grid = np.stack(np.meshgrid(*self.axes, indexing="ij"), axis=-1)
        self.values = self.loss(grid)

    def _valleys(self) -> list[Floats]:
        """Return the lowest cells of the grid that have no lower neighbour."""
        around = np.pad(np.where(np.isnan(self.values), np.inf, self.values), 1, constant_values=np.inf)
        near = np.lib.stride_tricks.sliding_window_view(around, (3, 3)).min(axis=(2, 3))
        i, j = np.nonzero(self.values <= near)
        first = np.argsort(self.values[i, j], kind="stable")[: self.STARTS]
        return [np.array([self.axes[0][i[k]], self.axes[1][j[k]]]) for k in first]

    def _descend(self, start: Floats) -> Floats:
        """Go down from a point; near a rim, where a simplex may fall flat and stop early, once more from there."""
        from scipy.optimize import minimize

        width = (self.outer[:, 1] - self.outer[:, 0]) / self.CELLS
        lowest = np.inf
        for _ in range(self.TURNS):
            inward = np.where(start + width < self.outer[:, 1], width, -width)
            reached = minimize(
                lambda x: float(self.loss(np.asarray(x))),
                start,
                bounds=self.outer,
                method="Nelder-Mead",
                options={
                    "xatol": 1e-5, "fatol": 1e-7, "maxiter": 300,
                    "initial_simplex": start + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) * inward,
                },
            )  # fmt: skip
            start = np.asarray(reached.x, dtype=np.float64)
            inside = (start - width > self.outer[:, 0]) & (start + width < self.outer[:, 1])
            if inside.all() or not reached.fun < lowest - 1e-6:
                break
            lowest = reached.fun
        return start

    def maximum(self) -> Floats | None:
        """Return the parameters of highest likelihood, or None when they lie on a rim that cannot hold them.

        ``closed`` is the rim (axis, side) that belongs to the range.
        """
        lowest = float(self.loss(self.best))
        if not np.isfinite(lowest):
            return None
        for axis in (0, 1):
            for side in (0, 1):
                rim = self.best.copy()
                rim[axis] = self.outer[axis, side]
                if (axis, side) != self.closed and float(self.loss(rim)) <= lowest + self.FLAT:
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
