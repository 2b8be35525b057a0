"""Each person adds the noise to their own answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

from pydantic import Field

from celosia.errors import DataError, ParameterError
from celosia.parts import Mechanism

if TYPE_CHECKING:
    from celosia.kernels.budget.cost import Cost


class RandomisedResponse(Mechanism):
    r"""Answer a yes-no question truthfully with probability ``truth``, and by a fair coin otherwise.

    .. math:: \Pr[\text{yes} \mid \text{yes}] = \frac{1 + q}{2}, \qquad \varepsilon = \ln\frac{1 + q}{1 - q}, \qquad
              \hat p = \frac{Y - (1 - q)/2}{q}

    With :math:`q = 1/2` (toss a coin; heads: the truth; tails: toss again) a yes is three times as likely from a
    yes, :math:`\varepsilon = \ln 3`
    and :math:`\hat p = 2Y - 1/2`. Nobody needs to be trusted with the truth, at the price of far more noise than
    a gateway
    adds. Asking the same person again adds up. References: Warner (1965).

    >>> mechanism = RandomisedResponse()
    >>> round(mechanism.epsilon(), 4), round(mechanism.estimate(0.4), 6)
    (1.0986, 0.3)
    """

    truth: float = Field(default=0.5, gt=0, lt=1, description="probability of answering truthfully, whatever the coin")

    def epsilon(self) -> float:
        """Return the privacy loss of one answer."""
        return math.log((1 + self.truth) / (1 - self.truth))

    def cost(self) -> Cost:
        """Return the privacy cost for the person who answers."""
        from celosia.kernels.budget.cost import Cost

        return Cost.pure(self.epsilon())

    def global_sensitivity(self) -> float:
        """Return 1: a person changes one answer."""
        return 1.0

    def estimate(self, share: float) -> float:
        """Return the unbiased estimate of the true share behind an observed share; it may lie outside [0, 1]."""
        return (share - (1 - self.truth) / 2) / self.truth

    def variance(self, share: float = 0.5, people: int = 1) -> float:
        r"""Variance of the estimate from answers of which a ``share`` is yes: :math:`Y(1-Y) / (n q^2)`."""
        if not 0 <= share <= 1 or people < 1:
            raise ParameterError(
                f"randomised-response: share must lie in [0, 1] and people be at least 1, got {share} and {people}."
            )
        return share * (1 - share) / (people * self.truth**2)

    def half_width(self, level: float = 0.95, share: float = 0.5, people: int = 1) -> float:
        """Return the error of the estimate that is not exceeded with probability ``level``, by the normal
        approximation.
        """
        from scipy.special import ndtri

        from celosia.kernels.budget.noise import check_level

        check_level(level)
        return float(ndtri((1 + level) / 2)) * math.sqrt(self.variance(share, people))

    def interval(self, share: float, people: int, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the true share, by the normal approximation."""
        half = self.half_width(level, share, people)
        estimate = self.estimate(share)
        low, high = (min(max(end, 0.0), 1.0) for end in (estimate - half, estimate + half))
        return low, high

    @overload
    def answer(self, values: bool, /) -> bool: ...
    @overload
    def answer(self, values: Sequence[bool], /) -> list[bool]: ...
    def answer(self, values: bool | Sequence[bool], /) -> bool | list[bool]:
        """Return a randomised answer, or one for each of several people."""
        from celosia.kernels.budget.noise import respond

        several = list(values) if isinstance(values, Iterable) else [values]
        if any(value is None for value in several):
            raise DataError("randomised-response: an answer is missing; leave that person out.")
        if not all(value in (True, False) for value in several):  # any text would be a yes
            raise DataError("randomised-response: an answer is neither true nor false.")
        answers = [respond(bool(value), (1 + self.truth) / 2) for value in several]
        return answers if isinstance(values, Iterable) else answers[0]
