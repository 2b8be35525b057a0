"""Choose the best of several options with differential privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from celosia.errors import DataError
from celosia.parts import Mechanism

if TYPE_CHECKING:
    from celosia.kernels.budget.cost import Cost


class Exponential(Mechanism):
    r"""Pick an option with a high score (permute-and-flip, an exponential mechanism with a smaller error).

    .. math:: \Pr[i] \propto e^{\varepsilon s_i / (2\Delta)}

    is the exponential mechanism; permute-and-flip gives the same guarantee and never a larger expected loss. The
    options must be public;
    only which one is chosen depends on the data. The score of the chosen option is not released.
    References: McSherry & Talwar (2007); McKenna & Sheldon (2020).

    >>> Exponential(epsilon=1.0).answer([0, 2, 500])
    2
    >>> round(Exponential(epsilon=1.0).half_width(options=100), 1)
    15.2
    """

    epsilon: float = Field(gt=0, le=1e6, description="privacy loss of one choice")
    sensitivity: float = Field(default=1.0, gt=0, allow_inf_nan=False, description="the most one person moves a score")

    def cost(self) -> Cost:
        """Return the privacy cost of one choice."""
        from celosia.kernels.budget.cost import Cost

        return Cost.pure(self.epsilon)

    def global_sensitivity(self) -> float:
        """Return the sensitivity of a score: the most that one person changes it."""
        return self.sensitivity

    def half_width(self, level: float = 0.95, options: int = 2) -> float:
        r"""How far the chosen score may be below the best: :math:`\frac{2\Delta}{\varepsilon} \ln\frac{K}{1-level}`."""
        from celosia.kernels.budget.noise import check_level

        check_level(level)
        return 2 * self.sensitivity / self.epsilon * math.log(options / (1 - level))

    def answer(self, scores: Sequence[float], /) -> int:
        """Return the position of the chosen option."""
        from celosia.kernels.budget.noise import choose

        if len(scores) == 0:
            raise DataError("exponential: there is nothing to choose from; give at least one score.")
        return choose(scores, self.sensitivity, self.epsilon)
