"""A quantile, chosen among public candidates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import ParameterError
from celosia.parts import Mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.kernels.budget.cost import Cost


class Quantile(Mechanism):
    r"""The value below which a share ``q`` of the records lies, by the exponential mechanism over a public grid.

    .. math:: s(c) = -\big|(1 - q)\,\#\{x < c\} - q\,\#\{x > c\}\big|, \qquad \Delta = m \max(q, 1 - q)

    The candidates are ``steps`` + 1 points between the bounds. One person alone makes the smallest or the largest
    value, so for ``q`` = 0 or 1 the aim lies as many ranks inside as the choice may be off. The error is stated in
    ranks, because in the unit of the data it depends on how dense they lie there. Few records or a tiny epsilon give
    a value anywhere in the bounds.
    References: Smith (2011).

    >>> import numpy as np
    >>> bool(abs(Quantile(epsilon=50, lower=0, upper=100).answer(np.arange(101)) - 50) < 3)
    True
    >>> Quantile(epsilon=0.1, lower=0, upper=100, steps=100).ranks()
    77
    """

    epsilon: float = Field(gt=0, le=1e6, description="privacy loss of one answer")
    lower: float = Field(description="smallest value there can be (public)")
    upper: float = Field(description="largest value there can be (public)")
    q: float = Field(default=0.5, ge=0, le=1, description="share of records below; 0.5 is the median")
    steps: int = Field(default=1000, ge=1, le=1_000_000, description="steps of the grid")
    rows: int = Field(default=1, ge=1, description="most records that one person owns")

    @model_validator(mode="after")
    def _check_bounds(self) -> Quantile:
        if not (math.isfinite(self.upper - self.lower) and self.lower < self.upper):
            raise ParameterError(
                f"quantile: lower must be below upper, both finite, got {self.lower} and {self.upper}."
            )
        return self

    def cost(self) -> Cost:
        """Return the privacy cost of one answer."""
        from celosia.kernels.budget.cost import Cost

        return Cost.pure(self.epsilon)

    def global_sensitivity(self) -> float:
        """Return the sensitivity of a score: the most that one person changes it."""
        return self.rows * max(self.q, 1 - self.q)

    def half_width(self, level: float = 0.95) -> float:
        """How many ranks the answer may be off, with probability ``level``."""
        from celosia.kernels.budget.noise import check_level

        check_level(level)
        return 2 * self.global_sensitivity() / self.epsilon * math.log((self.steps + 1) / (1 - level))

    def ranks(self, level: float = 0.95) -> int:
        """Return the error in whole ranks that is not exceeded with probability ``level``."""
        return math.ceil(self.half_width(level))

    def answer(self, values: NDArray[np.float64] | list[float], /) -> float:
        """Return the quantile of the values that are not missing, clamped to the bounds."""
        from celosia.kernels.budget.noise import choose

        return float(self._grid()[choose(self.scores(values).tolist(), self.global_sensitivity(), self.epsilon)])

    def scores(self, values: NDArray[np.float64] | list[float]) -> NDArray[np.float64]:
        """How well each candidate of the grid fits; no person moves one by more than :meth:`global_sensitivity`."""
        from celosia.kernels.budget.ranks import rank_scores

        x = np.asarray(values, dtype=np.float64)
        x = np.sort(np.clip(x[~np.isnan(x)], self.lower, self.upper))
        grid = self._grid()
        less = np.searchsorted(x, grid, side="left")
        more = len(x) - np.searchsorted(x, grid, side="right")
        return rank_scores(less, more, self.q, self.half_width())

    def _grid(self) -> NDArray[np.float64]:
        return np.linspace(self.lower, self.upper, self.steps + 1)
