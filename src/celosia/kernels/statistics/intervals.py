"""Intervals for shares and differences of shares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Z = 1.959963984540054  # 97.5 % point of the normal distribution


def wilson(successes: float, trials: float, z: float = Z) -> tuple[float, float]:
    r"""Wilson's score interval of a share.

    .. math:: \frac{\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    It keeps its level for small numbers and near 0 and 1. Shared credit (half a success) is allowed: a credit between 0
    and 1 varies less than a success, so the interval is then on the safe side. Without trials it is all of [0, 1].

    References: Wilson (1927); Brown, Cai & DasGupta (2001).

    >>> low, high = wilson(5, 10)
    >>> round(low, 4), round(high, 4)
    (0.2366, 0.7634)
    """
    if trials <= 0:
        return 0.0, 1.0
    p = min(max(successes / trials, 0.0), 1.0)
    middle = p + z * z / (2 * trials)
    half = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if successes <= 0 else max((middle - half) / scale, 0.0)
    high = 1.0 if successes >= trials else min((middle + half) / scale, 1.0)
    return low, high


def newcombe(a: tuple[float, float], b: tuple[float, float], z: float = Z) -> tuple[float, float]:
    r"""Interval of the difference of two independent shares, each given as (successes, trials).

    .. math:: \hat p_1 - \hat p_2 - \sqrt{(\hat p_1 - l_1)^2 + (u_2 - \hat p_2)^2}, \quad
              \hat p_1 - \hat p_2 + \sqrt{(u_1 - \hat p_1)^2 + (\hat p_2 - l_2)^2}

    with (l, u) Wilson's intervals.

    References: Newcombe (1998), method 10.

    >>> low, high = newcombe((56, 70), (48, 80))
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    p1, p2 = (x / n if n else 0.0 for x, n in (a, b))
    (l1, u1), (l2, u2) = wilson(*a, z), wilson(*b, z)
    gap = p1 - p2
    return gap - math.hypot(p1 - l1, u2 - p2), gap + math.hypot(u1 - p1, p2 - l2)
