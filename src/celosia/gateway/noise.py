"""Mechanisms for the numbers of a plan: how a cost is divided among them, and the error that remains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from celosia.gateway.sql.parse import Refused
from celosia.gateway.sql.plan import Number, Plan
from celosia.kernels.budget.cost import Cost, sequential
from celosia.kernels.budget.neighbours import Sensitivity
from celosia.kernels.budget.ranks import rank_scores
from celosia.mechanisms.additive import DiscreteGaussian, Gaussian, Geometric
from celosia.mechanisms.exponential import Exponential

Shape = Literal["laplace", "gaussian"]
Noise = Geometric | DiscreteGaussian | Gaussian
"""The mechanisms that add noise to a number of a plan."""


@dataclass(frozen=True)
class NumberNoise:
    """One number of a plan with its part of the cost, its sensitivity, and the mechanism that answers it."""

    number: Number
    allotted: Cost
    sensitivity: Sensitivity
    mechanism: Noise | Exponential | None
    """None for a number that no person can change: it needs no noise and costs nothing."""

    @property
    def noise(self) -> Noise | None:
        """The mechanism that adds noise; None for a quantile, and where none is needed_cost."""
        return None if isinstance(self.mechanism, Exponential) else self.mechanism

    @property
    def cost(self) -> Cost:
        """Cost of the mechanism, in the measure of the data set."""
        if self.mechanism is None:
            return Cost(self.allotted.measure, 0, 0)
        return self.mechanism.cost().counted_in(self.allotted.measure)

    @property
    def variance(self) -> float:
        """Variance in units; unknown for a quantile."""
        return math.inf if self.number.kind == "quantile" else self.noise.variance() if self.noise else 0.0

    def half_width(self, level: float) -> float:
        """Return the half width of an interval in units; unknown for a quantile."""
        if self.number.kind == "quantile":
            return math.inf
        return self.noise.half_width(level) if self.noise else 0.0

    def rank_error(self, level: float) -> float:
        """Return how many ranks a quantile may be off."""
        assert isinstance(self.mechanism, Exponential)
        return self.mechanism.half_width(level, len(self.number.candidates()))

    def add(self, values: Sequence[int]) -> list[float]:
        """Add the noise; a number that no person can change needs none."""
        return [float(v) for v in (self.noise.answer(values) if self.noise else values)]

    def choose(self, counts: Sequence[int]) -> float:
        """Choose a quantile from the counts per step of its grid."""
        assert isinstance(self.mechanism, Exponential)
        candidates = self.number.candidates()
        whole = self.number.value is not None and self.number.value.whole
        below = np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))])
        less = below[: len(candidates)]
        more = below[-1] - (below[1 : len(candidates) + 1] if whole else less)
        assert self.number.rank is not None
        scores = rank_scores(less, more, self.number.rank, self.rank_error(0.95))
        return candidates[self.mechanism.answer(scores.tolist())]


@dataclass(frozen=True)
class NoisePlan:
    """The noise of all numbers of a plan, and the threshold for keys that are not public."""

    numbers: tuple[NumberNoise, ...]
    threshold: int | None = None
    hidden: Cost | None = None
    """Cost of the threshold: the probability that it shows a key that one person makes."""
    shape: Shape = "laplace"

    @property
    def cost(self) -> Cost:
        """Cost of all mechanisms together."""
        return sequential([*(number.cost for number in self.numbers), *([self.hidden] if self.hidden else [])])


def needed_cost(plan: Plan, cost: Cost, shape: Shape | None = None) -> Cost:
    """Return the cost without its delta where nothing needs one: public groups and Laplace noise, or zCDP."""
    if not plan.public_keys or (shape == "gaussian" and cost.measure == "approximate"):
        return cost
    return Cost(cost.measure, cost.loss_units, 0)


def plan_noise(plan: Plan, cost: Cost, cells: int | None, shape: Shape | None = None) -> NoisePlan:
    """Divide a cost evenly among the numbers of a plan (sequential composition) and choose their mechanisms."""
    shape = shape or ("gaussian" if cost.measure == "zcdp" else "laplace")
    if cost.loss_units < len(plan.numbers):
        raise Refused("the query needs a positive cost: ask with a larger epsilon.")
    if shape == "gaussian" and cost.measure == "pure":
        raise Refused("Gaussian noise needs a delta; this data set promises pure epsilon-differential privacy.")
    if shape == "laplace" and cost.measure == "zcdp":
        raise Refused("this data set counts in zCDP: its noise is Gaussian.")
    if not plan.public_keys and cost.delta_units == 0:
        raise Refused(
            "the groups are not public, so showing one that exists reveals that a person is in it: that needs a delta "
            "above 0, or declared categories or bounds for the keys."
        )
    gaussian_delta = shape == "gaussian" and cost.measure == "approximate"
    if gaussian_delta and cost.delta_units == 0:
        raise Refused("Gaussian noise needs a delta above 0.")
    # choosing a quantile needs no delta
    parts = gaussian_delta * sum(x.kind != "quantile" for x in plan.numbers) + (not plan.public_keys)
    delta = cost.delta / max(parts, 1)
    each = Cost(cost.measure, cost.loss_units // len(plan.numbers), 0)
    numbers = tuple(_number_noise(number, plan, each, cells, shape, delta) for number in plan.numbers)
    threshold, hidden = None, None
    if plan.threshold_number is not None:
        counts = numbers[plan.threshold_number].noise
        assert counts is not None
        threshold, hidden = counts.threshold(delta, plan.rows), Cost(cost.measure, 0, cost.delta_units // parts)
    planned = NoisePlan(numbers, threshold, hidden, shape)
    if not planned.cost.fits(cost):
        raise RuntimeError("the mechanisms of a query cost more than it is charged.")
    return planned


def _number_noise(number: Number, plan: Plan, cost: Cost, cells: int | None, shape: Shape, delta: float) -> NumberNoise:
    sensitivity = number.sensitivity(plan.neighbours, plan.rows, cells)
    mechanism: Noise | Exponential | None
    if number.kind == "quantile":
        mechanism = Exponential(epsilon=cost.pure_epsilon(), sensitivity=sensitivity.l1)
    elif sensitivity.l1 == 0:
        mechanism = None
    elif shape == "laplace":
        mechanism = Geometric(epsilon=cost.loss, sensitivity=sensitivity.l1)
    elif cost.measure == "zcdp":
        mechanism = DiscreteGaussian(rho=cost.loss, sensitivity=sensitivity.l2)
    else:
        # on a fine grid of the reals, where the condition of Balle and Wang holds as stated
        mechanism = Gaussian(epsilon=cost.loss, delta=delta, sensitivity=sensitivity.l2)
    return NumberNoise(number, cost, sensitivity, mechanism)
