"""Mechanisms: answers with noise and a stated privacy cost."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from celosia.parts.part import Part, PersonUnit

QueryData: TypeAlias = Any
"""Input of a mechanism: a number, several numbers, true or false answers, or the scores of candidates."""

if TYPE_CHECKING:
    from celosia.kernels.budget.cost import Cost


class Mechanism(Part, home="celosia.mechanisms"):
    """A query answer with noise and a stated privacy cost.

    The noise comes from the generator of the operating system: no seed repeats it.
    """

    kind: ClassVar[str] = "mechanism"
    persons: ClassVar[PersonUnit] = "given"

    @abstractmethod
    def answer(self, data: QueryData, /) -> object:
        """Return a noisy answer."""

    @abstractmethod
    def cost(self) -> Cost:
        """Return the privacy cost of one answer."""

    @abstractmethod
    def global_sensitivity(self) -> float:
        """Return the global sensitivity, per person, of what the noise is added to: a number, a vector or a score."""

    def variance(self) -> float:
        """Return the variance of each number of an answer; NaN for a choice, whose error is :meth:`half_width`."""
        return math.nan

    @abstractmethod
    def half_width(self, level: float = 0.95) -> float:
        """Return the error that an answer exceeds with probability ``1 - level`` at most.

        The error of a choice is in the unit of its scores.
        """
