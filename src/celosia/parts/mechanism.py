"""Mechanisms: answers with noise and a stated privacy cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from celosia.parts.part import Part, PersonUnit

if TYPE_CHECKING:
    from celosia.mathematics.budget.cost import Cost


class Mechanism(Part, home="celosia.mechanisms"):
    """A query answer with noise and a stated privacy cost.

    The noise comes from the generator of the operating system: no seed repeats it.
    """

    kind: ClassVar[str] = "mechanism"
    persons: ClassVar[PersonUnit] = "given"

    def answer(self, data: Any, /) -> Any:
        """The noisy answer."""
        raise NotImplementedError

    def cost(self) -> Cost:
        """What one answer costs."""
        raise NotImplementedError

    def moves(self) -> float:
        """The most one person moves what the noise is added to: a number, a vector of numbers, a score."""
        raise NotImplementedError

    def variance(self) -> float:
        """The variance of each number of an answer; NaN for a choice, whose error :meth:`half_width` states."""
        return math.nan

    def half_width(self, level: float = 0.95) -> float:
        """An answer is off by at most this with probability ``level``; a choice in the unit of its scores."""
        raise NotImplementedError
