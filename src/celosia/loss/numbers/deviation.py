"""Mean squared, absolute and relative deviation of one array from another, of the same shape."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from celosia.errors import NotApplicable

Floats = npt.NDArray[np.float64]
Zeros = Literal["skip", "equal", "error"]
"""What is done where the original is 0: leave it out; count 0 when both are 0 and leave out the others; refuse."""


def squared(a: Floats, b: Floats) -> float:
    r"""Mean squared deviation.

    .. math:: \mathrm{MSE} = \frac{1}{nm} \sum_{ij} (a_{ij} - b_{ij})^2

    >>> squared(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    2.0
    """
    return float(((a - b) ** 2).mean())


def absolute(a: Floats, b: Floats) -> float:
    """Mean absolute deviation.

    >>> absolute(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    1.0
    """
    return float(np.abs(a - b).mean())


def relative(a: Floats, b: Floats, zeros: Zeros = "skip") -> tuple[float, int]:
    r"""Mean deviation relative to the original, and how many cells were left out because the original is 0.

    .. math:: \mathrm{MRE} = \frac{1}{|C|} \sum_{ij \in C} |a_{ij} - b_{ij}| / |a_{ij}|

    >>> relative(np.array([2.0, 0.0]), np.array([3.0, 1.0]))
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
