"""Noise for the numbers of a plan: how a cost is shared out, which noise it buys, and which error that leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from celosia.gateway.sql.parse import Refused
from celosia.gateway.sql.plan import Number, Plan
from celosia.mathematics.budget import noise as n
from celosia.mathematics.budget import scales
from celosia.mathematics.budget.cost import Cost
from celosia.mathematics.budget.neighbours import Sensitivity

Shape = Literal["laplace", "gaussian"]


@dataclass(frozen=True)
class Share:
    """What one number of the plan gets: its part of the cost, its sensitivity, and the noise (none for a
    quantile).
    """

    number: Number
    cost: Cost
    sensitivity: Sensitivity
    noise: n.Noise | None

    @property
    def variance(self) -> float:
        """Variance in units; unknown for a quantile."""
        return math.inf if self.number.kind == "quantile" else self.noise.variance if self.noise else 0.0

    def half(self, level: float) -> float:
        """Half width of an interval in units; unknown for a quantile."""
        if self.number.kind == "quantile":
            return math.inf
        return self.noise.half_width(level) if self.noise else 0.0

    @property
    def epsilon(self) -> float:
        r"""Pure epsilon for choosing a quantile; :math:`\sqrt{2\rho}` when the cost is counted in zCDP."""
        return math.sqrt(2 * self.cost.loss) if self.cost.measure == "zcdp" else self.cost.loss

    def rank_error(self, level: float) -> float:
        r"""How many ranks a quantile may be off: :math:`\frac{2\Delta}{\varepsilon} \ln\frac{K}{1 -
        \text{level}}`.
        """
        candidates = len(self.number.candidates())
        return 2 * self.sensitivity.l1 / self.epsilon * math.log(candidates / (1 - level))

    def add(self, values: Sequence[int]) -> list[float]:
        """Add the noise; a number that no person can move needs none."""
        return [float(v) for v in (self.noise.add(values) if self.noise else values)]

    def choose(self, counts: Sequence[int]) -> float:
        """A quantile from the counts per step of its grid."""
        candidates = self.number.candidates()
        below, total = [0], 0
        for count in counts:
            total += count
            below.append(total)
        whole = self.number.value is not None and self.number.value.whole
        scores = []
        for i in range(len(candidates)):
            less = below[i]
            more = total - (below[i + 1] if whole else below[i])
            scores.append(self._score(less, more))
        return candidates[n.choose(scores, self.sensitivity.l1, self.epsilon)]

    def _score(self, less: int, more: int) -> float:
        q = self.number.rank if self.number.rank is not None else 0.5
        if q in (0.0, 1.0):
            # The extreme itself cannot be told: one person makes it. Aim so many ranks inside that noise rarely
            # leaves the data.
            return -abs((less if q == 0.0 else more) - self.rank_error(0.95))
        return -abs((1 - q) * less - q * more)


@dataclass(frozen=True)
class Noising:
    """The shares of all numbers, and the threshold for keys that are not public."""

    shares: tuple[Share, ...]
    threshold: int | None = None
    shape: Shape = "laplace"


def needed(plan: Plan, cost: Cost, shape: Shape | None = None) -> Cost:
    """The cost without its delta where nothing needs one: public groups and Laplace noise, or zCDP."""
    if not plan.public_keys or (shape == "gaussian" and cost.measure == "approximate"):
        return cost
    return Cost(cost.measure, cost.loss_units, 0)


def noising(plan: Plan, cost: Cost, cells: int | None, shape: Shape | None = None) -> Noising:
    """Share a cost evenly over the numbers of a plan (sequential composition) and find the noise each one needs."""
    shape = shape or ("gaussian" if cost.measure == "zcdp" else "laplace")
    if cost.loss_units < len(plan.numbers):
        raise Refused("the question needs a positive cost: ask with a larger epsilon.")
    if shape == "gaussian" and cost.measure == "pure":
        raise Refused("Gaussian noise needs a delta; this data set promises pure epsilon-differential privacy.")
    if shape == "laplace" and cost.measure == "zcdp":
        raise Refused("this data set counts in zCDP: its noise is Gaussian.")
    if not plan.public_keys and cost.delta_units == 0:
        raise Refused(
            "the groups are not public, so showing one that exists tells that somebody is in it: that needs a delta "
            "above 0, or declared categories or bounds for the keys."
        )
    gaussian_delta = shape == "gaussian" and cost.measure == "approximate"
    if gaussian_delta and cost.delta_units == 0:
        raise Refused("Gaussian noise needs a delta above 0.")
    parts = len(plan.numbers) * gaussian_delta + (not plan.public_keys)
    delta = cost.delta / max(parts, 1)
    each = Cost(cost.measure, cost.loss_units // len(plan.numbers), 0)
    shares = tuple(_share(number, plan, each, cells, shape, delta) for number in plan.numbers)
    place = plan.threshold_number
    if place is None:
        return Noising(shares, None, shape)
    noise = shares[place].noise
    assert noise is not None
    return Noising(shares, scales.threshold(noise.scale, delta, plan.rows, shape=shape), shape)


def _share(number: Number, plan: Plan, cost: Cost, cells: int | None, shape: Shape, delta: float) -> Share:
    sensitivity = number.sensitivity(plan.neighbours, plan.rows, cells)
    if number.kind == "quantile" or sensitivity.l1 == 0:
        return Share(number, cost, sensitivity, None)
    noise: n.Noise
    if shape == "laplace":
        noise = n.laplace_for(sensitivity.l1, cost.loss)
    elif cost.measure == "zcdp":
        noise = n.gaussian_for_zcdp(sensitivity.l2, cost.loss)
    else:
        # on a fine grid of the reals, where the condition of Balle and Wang holds as stated
        noise = n.GaussianNoise(scales.gaussian(sensitivity.l2, cost.loss, delta), discrete=False)
    return Share(number, cost, sensitivity, noise)
