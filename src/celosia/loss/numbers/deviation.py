"""Mean squared, absolute and relative deviation of one array from another, of the same shape."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from celosia.errors import NotApplicable

Floats = npt.NDArray[np.float64]
Zeros = Literal["skip", "equal", "error"]
"""Treatment of cells whose original is 0: skip them; count 0 if both are 0 and skip the others; raise."""


def squared_deviation(a: Floats, b: Floats) -> float:
    r"""Return the mean squared deviation.

    .. math:: \mathrm{MSE} = \frac{1}{nm} \sum_{ij} (a_{ij} - b_{ij})^2

    >>> squared_deviation(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    2.0
    """
    return float(((a - b) ** 2).mean())


def absolute_deviation(a: Floats, b: Floats) -> float:
    """Return the mean absolute deviation.

    >>> absolute_deviation(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    1.0
    """
    return float(np.abs(a - b).mean())


def relative_deviation(a: Floats, b: Floats, zeros: Zeros = "skip") -> tuple[float, int]:
    r"""Return the mean deviation relative to the original, and the number of cells skipped as the original is 0.

    .. math:: \mathrm{MRE} = \frac{1}{|C|} \sum_{ij \in C} |a_{ij} - b_{ij}| / |a_{ij}|

    >>> relative_deviation(np.array([2.0, 0.0]), np.array([3.0, 1.0]))
    (0.5, 1)
    """
    zero = a == 0
    if zeros == "error" and zero.any():
        raise NotApplicable(
            f"{int(zero.sum())} original numbers are 0, where a relative error is undefined; set zeros to 'skip'."
        )
    used = ~zero | ((b == 0) & (zeros == "equal"))
    if not used.any():
        raise NotApplicable("every original number is 0, where a relative error is undefined.")
    change = np.abs(a - b)[used]
    base = np.where(zero, 1.0, np.abs(a))[used]
    return float((change / base).mean()), int((~used).sum())
