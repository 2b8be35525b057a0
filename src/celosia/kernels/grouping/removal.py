"""How many records must leave a class at least, so that the rest can meet a bound on its distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Floats = NDArray[np.float64]


@jit()
def removed_for_distance(start: Ints, value: Small, count: Ints, baseline: Floats, t: float) -> Ints:
    r"""Return for each class the least number of records whose leaving can bring ½ Σ|p − q| down to ``t``.

    The distance is :math:`\sum_s \max(0, q_s - p_s)`. Only values with too many records are worth removing; with
    :math:`n'` records left it is at least :math:`\sum_s \max(0, q_s - c_s / n')`, which falls with :math:`n'`.
    """
    classes = len(start) - 1
    out = np.zeros(classes, dtype=np.int64)
    for i in range(classes):
        n = 0
        absent = 1.0
        for e in range(start[i], start[i + 1]):
            n += count[e]
            absent -= baseline[value[e]]
        low, high = 0, n  # ``low`` records can stay (none always can); the answer lies in low … high
        while low < high:
            left = (low + high + 1) // 2
            distance = absent
            for e in range(start[i], start[i + 1]):
                lack = baseline[value[e]] - count[e] / left
                if lack > 0:
                    distance += lack
            if distance <= t + 1e-9:
                low = left
            else:
                high = left - 1
        out[i] = n - low
    return out


@jit()
def removed_for_caps(start: Ints, value: Small, count: Ints, cap: Floats) -> Ints:
    r"""Return for each class the least number of records whose leaving can bring every share down to its cap.

    With :math:`n'` records left, at most :math:`\min(c_s, cap_s n')` have value *s*; these must be :math:`n'` in all.
    """
    classes = len(start) - 1
    out = np.zeros(classes, dtype=np.int64)
    for i in range(classes):
        n = 0
        for e in range(start[i], start[i + 1]):
            n += count[e]
        low, high = 0, n
        while low < high:
            left = (low + high + 1) // 2
            room = 0.0
            for e in range(start[i], start[i + 1]):
                most = cap[value[e]] * left
                room += min(most, float(count[e]))
            if room >= left - 1e-9 * left:
                low = left
            else:
                high = left - 1
        out[i] = n - low
    return out
