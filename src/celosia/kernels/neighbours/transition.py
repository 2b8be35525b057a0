"""Draw new categories from a transition matrix, and match households for record swapping."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@jit()
def transit(codes: Ints, matrix: Floats, uniform: Floats) -> Ints:
    """Draw for each code ``i`` a new one from row ``i`` of a transition matrix; negative codes (missing) stay.

    ``uniform`` holds one number in [0, 1) for each code.

    >>> transit(np.array([0, 1, -1]), np.array([[0.0, 1], [1, 0]]), np.array([0.3, 0.9, 0.5])).tolist()
    [1, 0, -1]
    """
    size = matrix.shape[0]
    cumulative = np.empty((size, size))
    last = np.empty(size, np.int64)  # the last category a row can reach: rounding must not reach beyond
    for i in range(size):
        total = 0.0
        last[i] = i
        for j in range(size):
            total += matrix[i, j]
            cumulative[i, j] = total
            if matrix[i, j] > 0.0:
                last[i] = j
    result = codes.copy()
    for r in range(codes.size):
        i = codes[r]
        if i < 0:
            continue
        u = uniform[r]
        left = 0
        right = last[i]
        while left < right:  # the first category whose cumulative probability passes u
            middle = (left + right) // 2
            if cumulative[i, middle] > u:
                right = middle
            else:
                left = middle + 1
        result[r] = left
    return result
