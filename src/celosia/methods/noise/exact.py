"""Exact sums, so that neither the order of the numbers nor the size of batches changes a digit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DIGITS = 53
"""Binary digits of a float."""
HALF = 26
"""Binary digits of the lower part of a mantissa: sums of 2^25 such parts are exact in a float."""
MOST = 1 << 25


def exact_sum(values: Floats) -> Fraction:
    """Sum finite numbers without any rounding.

    >>> exact_sum(np.array([1e16, 1.0, -1e16])), exact_sum(np.array([0.1] * 10)) == 10 * Fraction(0.1)
    (Fraction(1, 1), True)
    """
    total = Fraction(0)
    for start in range(0, len(values), MOST):
        mantissa, exponent = np.frexp(values[start : start + MOST])
        whole = np.rint(np.ldexp(mantissa, DIGITS)).astype(np.int64)
        least = int(exponent.min())
        place = exponent - least
        upper = np.bincount(place, weights=whole >> HALF)
        lower = np.bincount(place, weights=whole & ((1 << HALF) - 1))
        parts = (((int(u) << HALF) + int(w)) << k for k, (u, w) in enumerate(zip(upper, lower, strict=True)))
        total += sum(parts) * Fraction(2) ** (least - DIGITS)
    return total


@dataclass(frozen=True)
class Moments:
    """Count, mean, variance (over n), minimum and maximum of numbers."""

    count: int
    mean: float
    variance: float
    low: float
    high: float


def exact_moments(batches: Callable[[], Iterable[Floats]]) -> Moments:
    """Compute the moments of numbers that are read in batches, twice; missing ones (NaN) are left out.

    The mean is the exact one, rounded once; the squares about it are added up exactly. So every order and every size
    of batches gives the same digits.

    >>> numbers = np.array([1.0, 2.0, np.nan, 6.0])
    >>> exact_moments(lambda: [numbers]) == exact_moments(lambda: [numbers[:1], numbers[:0:-1]])
    True
    >>> moments = exact_moments(lambda: [numbers])
    >>> moments.mean, round(moments.variance, 9), moments.high
    (3.0, 4.666666667, 6.0)
    """
    count, total, low, high = 0, Fraction(0), np.inf, -np.inf
    for batch in batches():
        present = batch[~np.isnan(batch)]
        if len(present):
            count += len(present)
            total += exact_sum(present)
            low, high = min(low, float(present.min())), max(high, float(present.max()))
    if count == 0:
        return Moments(0, np.nan, np.nan, np.nan, np.nan)
    mean = float(total / count)
    squares = Fraction(0)
    for batch in batches():
        present = batch[~np.isnan(batch)]
        with np.errstate(over="ignore"):
            square = (present - mean) ** 2
        if np.isinf(square).any():
            raise DataError("the numbers of a column are too large to have a variance; divide them by 1e100 first.")
        squares += exact_sum(square)
    return Moments(count, mean, float(squares / count), low, high)
