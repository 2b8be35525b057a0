"""Mechanisms: answers with noise and a stated privacy cost."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from celosia.parts.part import Part, PersonUnit

if TYPE_CHECKING:
    from celosia.kernels.budget.cost import Cost


class Mechanism(Part, home="celosia.mechanisms"):
    """A query answer with noise and a stated privacy cost.

    The noise comes from the generator of the operating system: no seed repeats it.
    """

    kind: ClassVar[str] = "mechanism"
    persons: ClassVar[PersonUnit] = "given"

    @abstractmethod
    def answer(self, data: Any, /) -> Any:
        """The noisy answer."""

    @abstractmethod
    def cost(self) -> Cost:
        """Privacy cost of one answer."""

    @abstractmethod
    def global_sensitivity(self) -> float:
        """Global sensitivity, per person, of what the noise is added to: a number, a vector or a score."""

    def variance(self) -> float:
        """The variance of each number of an answer; NaN for a choice, whose error :meth:`half_width` states."""
        return math.nan

    @abstractmethod
    def half_width(self, level: float = 0.95) -> float:
        """An answer is off by at most this with probability ``level``; a choice in the unit of its scores."""
