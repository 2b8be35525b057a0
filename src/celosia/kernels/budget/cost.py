r"""Privacy cost of a release, in exact units.

Three measures of privacy loss:

=============== ======================================== ===========================================
measure         guarantee                                adds up as
=============== ======================================== ===========================================
``pure``        :math:`\varepsilon`                      :math:`\sum \varepsilon_i`
``approximate`` :math:`(\varepsilon, \delta)`            :math:`(\sum \varepsilon_i, \sum \delta_i)`
``zcdp``        :math:`\rho`-zCDP, with :math:`\delta`   :math:`(\sum \rho_i, \sum \delta_i)`
=============== ======================================== ===========================================

Costs are whole numbers of :math:`10^{-12}` (loss) and :math:`10^{-18}` (delta): ten times 0.1 is 1 exactly, on
every database.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from celosia.errors import Message, ParameterError

Measure = Literal["pure", "approximate", "zcdp"]
LOSS_UNIT = 10**12
DELTA_UNIT = 10**18
LARGEST_LOSS = 10**6  # keeps every sum inside a 64-bit integer column


@dataclass(frozen=True)
class Cost:
    """A privacy loss: its measure, the loss (epsilon or rho) and delta, in whole units.

    >>> Cost.pure(0.1) + Cost.pure(0.2)
    Cost(measure='pure', loss=0.3, delta=0.0)
    >>> Cost.of("approximate", 1, 1e-6).fits(Cost.of("approximate", 1, 1e-5))
    True
    """

    measure: Measure
    loss_units: int
    delta_units: int = 0

    def __post_init__(self) -> None:
        if self.measure not in get_args(Measure):
            raise ParameterError(f"measure must be one of {', '.join(get_args(Measure))}, got {self.measure!r}.")
        if self.loss_units < 0 or self.delta_units < 0:
            raise ParameterError("a privacy cost cannot be negative.")
        if self.measure == "pure" and self.delta_units:
            raise ParameterError("pure differential privacy has no delta: use the measure 'approximate'.")

    @classmethod
    def of(cls, measure: Measure, loss: float, delta: float = 0.0, *, shares: int = 1) -> Cost:
        """Build a cost from numbers; ``shares`` divides it, rounded down so that the shares never exceed the whole.

        >>> Cost.of("pure", 1, shares=3).times(3).fits(Cost.pure(1))
        True
        """
        if not (math.isfinite(loss) and 0 <= loss <= LARGEST_LOSS):
            name = "rho" if measure == "zcdp" else "epsilon"
            raise ParameterError(
                "{name} must lie between 0 and {limit}, got {loss}.", name=Message(name), limit=LARGEST_LOSS, loss=loss
            )
        if not (math.isfinite(delta) and 0 <= delta < 1):
            raise ParameterError("delta must lie in [0, 1), got {delta}.", delta=delta)
        try:
            count = operator.index(shares)
        except TypeError:
            raise ParameterError(f"a cost is divided into a whole number of shares, got {shares!r}.") from None
        if count < 1:
            raise ParameterError(f"a cost is divided into at least one share, got {shares}.")
        return cls(measure, _units(loss, LOSS_UNIT) // count, _units(delta, DELTA_UNIT) // count)

    @classmethod
    def pure(cls, epsilon: float) -> Cost:
        """Return the cost of an epsilon-differentially private release."""
        return cls.of("pure", epsilon)

    @property
    def loss(self) -> float:
        """Epsilon, or rho when the measure is zCDP."""
        return self.loss_units / LOSS_UNIT

    @property
    def delta(self) -> float:
        """The delta of the guarantee; 0 for a pure one."""
        return self.delta_units / DELTA_UNIT

    def __repr__(self) -> str:
        return f"Cost(measure={self.measure!r}, loss={self.loss!r}, delta={self.delta!r})"

    def __add__(self, other: Cost) -> Cost:
        self.same_measure(other)
        return Cost(self.measure, self.loss_units + other.loss_units, self.delta_units + other.delta_units)

    def minus(self, other: Cost) -> Cost:
        """Return the rest of this budget after ``other``, never below zero."""
        self.same_measure(other)
        loss, delta = self.loss_units - other.loss_units, self.delta_units - other.delta_units
        return Cost(self.measure, max(loss, 0), max(delta, 0))

    def times(self, n: int) -> Cost:
        """Return the cost of ``n`` releases of this cost (sequential composition)."""
        return Cost(self.measure, self.loss_units * n, self.delta_units * n)

    def split(self, n: int) -> Cost:
        """Return the ``n``-th part, rounded down: ``n`` parts never exceed the whole."""
        return Cost(self.measure, self.loss_units // n, self.delta_units // n)

    def counted_in(self, measure: Measure) -> Cost:
        r"""Return the cost in a measure that this one implies: :math:`\varepsilon` is :math:`\varepsilon^2 / 2` in
        zCDP, rounded up.

        References: Bun & Steinke (2016), proposition 1.4.

        >>> Cost.pure(0.1).counted_in("zcdp").loss
        0.005
        """
        if measure == self.measure:
            return self
        if self.measure != "pure":
            raise ParameterError(f"a cost in {self.measure} has no counterpart in {measure}.")
        squared = -(-(self.loss_units**2) // (2 * LOSS_UNIT))
        return Cost(measure, self.loss_units if measure == "approximate" else squared, 0)

    def pure_epsilon(self) -> float:
        r"""Return the largest epsilon that this pays for: :math:`\sqrt{2\rho}` in zCDP, rounded down.

        >>> Cost.of("zcdp", 0.005).pure_epsilon()
        0.1
        """
        units = math.isqrt(2 * self.loss_units * LOSS_UNIT) if self.measure == "zcdp" else self.loss_units
        return units / LOSS_UNIT

    def fits(self, budget: Cost) -> bool:
        """Return whether ``budget`` pays for this cost."""
        self.same_measure(budget)
        return self.loss_units <= budget.loss_units and self.delta_units <= budget.delta_units

    def same_measure(self, other: Cost) -> None:
        """Refuse to mix two measures."""
        if self.measure != other.measure:
            raise ParameterError(
                f"costs in {self.measure} and {other.measure} cannot be combined; convert one of them first."
            )


def _units(value: float, unit: int) -> int:
    # Through the shortest decimal text, so that 0.1 is a tenth and not 0.1000000000000000055; rounded down,
    # because what is not
    # charged must not be used for noise either (the noise is scaled to the units that are charged).
    return int(Fraction(repr(float(value))) * unit)


def sequential(costs: Iterable[Cost]) -> Cost:
    r"""Cost of several releases about the same people: :math:`\sum_i \varepsilon_i` and :math:`\sum_i \delta_i`.

    >>> sequential([Cost.pure(0.025)] * 4).loss
    0.1
    """
    total: Cost | None = None
    for cost in costs:
        total = cost if total is None else total + cost
    if total is None:
        raise ParameterError("sequential composition of nothing: give at least one cost.")
    return total


def parallel(costs: Iterable[Cost]) -> Cost:
    r"""Return the cost of releases about disjoint sets of people: :math:`\max_i \varepsilon_i`.

    The sets must be disjoint whatever the data are (a partition by a column, one cell per person); under
    ``change-one``
    neighbours a person can leave one cell and enter another, and the cost is twice that.

    >>> parallel([Cost.pure(0.1)] * 32).loss
    0.1
    """
    releases = list(costs)
    if not releases:
        raise ParameterError("parallel composition of nothing: give at least one cost.")
    for cost in releases:
        releases[0].same_measure(cost)
    return Cost(releases[0].measure, max(c.loss_units for c in releases), max(c.delta_units for c in releases))
