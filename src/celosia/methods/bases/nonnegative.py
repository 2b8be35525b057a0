"""Postprocessing of noisy counts: the nearest non-negative (whole) numbers with a given total."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def nearest_nonnegative(x: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    r"""Project a vector on the non-negative vectors that add up to ``total``.

    .. math:: \min_y \lVert y - x \rVert_2 \quad\text{so that } y \ge 0,\ \textstyle\sum y = N

    The solution is :math:`y = \max(x - \theta, 0)` for one :math:`\theta`. Clipping alone would raise the total,
    because it removes negative noise and keeps positive noise. References: Duchi et al. (2008).

    >>> nearest_nonnegative(np.array([5.0, -2.0, 1.0]), 4.0).tolist()
    [4.0, 0.0, 0.0]
    """
    if total <= 0:
        return np.zeros_like(x, dtype=np.float64)
    ordered = np.sort(x)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(x) + 1)
    last = int(np.nonzero(ordered > excess)[0][-1])
    return np.asarray(np.maximum(x - excess[last], 0.0), dtype=np.float64)


def whole_with_total(x: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Round to whole numbers that add up to ``total``: the largest remainders are rounded up.

    >>> whole_with_total(np.array([1.5, 2.25, 0.25]), 4).tolist()
    [2, 2, 0]
    """
    down = np.floor(x).astype(np.int64)
    short = total - int(down.sum())
    if short > 0:
        order = np.argsort(-(x - down), kind="stable")
        down[order[np.arange(short) % len(x)]] += 1
    elif short < 0:
        for place in np.argsort(-down, kind="stable")[:-short]:
            down[place] -= 1
    return down
