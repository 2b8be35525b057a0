"""Counts of groups whose names are not public."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from celosia.parts import Mechanism

if TYPE_CHECKING:
    from celosia.kernels.budget.cost import Cost
    from celosia.kernels.budget.noise import Noise


class NoisyHistogram(Mechanism):
    r"""Count persons per group, and show only groups whose noisy count reaches a threshold.

    .. math:: \tilde c_g = c_g + Z_g, \quad Z_g \sim \mathrm{DLap}(m / \varepsilon), \qquad
              \text{shown iff } \tilde c_g \ge T, \quad \Pr[1 + Z \ge T]^{(m)} \le \delta

    That a group exists at all can tell that one person is in the data; the threshold hides groups of one. A
    person counts in at most
    ``groups`` groups (:math:`m`); the caller must see to it. Small groups are lost: that is the protection.
    References: Korolova, Kenthapadi, Mishra & Ntoulas (2009).

    >>> NoisyHistogram(epsilon=1, delta=1e-6).threshold()
    15
    """

    epsilon: float = Field(gt=0, le=1e6, description="privacy loss of the histogram")
    delta: float = Field(gt=0, lt=1, description="probability of showing a group that one person alone makes")
    groups: int = Field(default=1, ge=1, description="most groups that one person is in")

    def noise(self) -> Noise:
        """Return the noise of each count."""
        from celosia.kernels.budget.noise import laplace_for

        return laplace_for(self.groups, self.epsilon)

    def threshold(self) -> int:
        """Return the smallest noisy count that is released."""
        from celosia.kernels.budget.scales import threshold

        return threshold(self.noise().scale, self.delta, self.groups)

    def cost(self) -> Cost:
        """Return the privacy cost of the histogram."""
        from celosia.kernels.budget.cost import Cost

        return Cost.of("approximate", self.epsilon, self.delta)

    def global_sensitivity(self) -> float:
        """Return the sensitivity: the most that one person changes all counts together."""
        return self.groups

    def variance(self) -> float:
        """Return the variance of each count before small ones are left out."""
        return self.noise().variance

    def half_width(self, level: float = 0.95) -> float:
        """Return the error of a count that is not exceeded with probability ``level``."""
        return self.noise().half_width(level)

    def interval(self, answer: float, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that covers the true count with probability ``level``."""
        half = self.half_width(level)
        return max(0, answer - half), max(0, answer + half)

    def answer(self, counts: Mapping[Hashable, int], /) -> dict[Hashable, int]:
        """Return the noisy counts of the groups that are released, sorted by name."""
        names = sorted(counts, key=repr)  # the order of the input could tell something
        noisy = self.noise().add([counts[name] for name in names])
        return {name: count for name, count in zip(names, noisy, strict=True) if count >= self.threshold()}
