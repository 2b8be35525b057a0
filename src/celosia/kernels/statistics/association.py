"""How strongly categories depend on each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
DENSE = 1 << 20
"""Largest number of cells of a contingency table that is counted as an array instead of by sorting."""


def cramers_v(a: Codes, b: Codes) -> float:
    r"""Return Cramér's V of two columns of codes: 0 when they are independent, 1 when one determines the other.

    .. math:: V = \sqrt{\frac{\chi^2 / n}{\min(r, c) - 1}}, \qquad
              \chi^2 = n \left( \sum_{ij} \frac{n_{ij}^2}{n_{i\cdot} n_{\cdot j}} - 1 \right)

    with r and c the categories that occur. A constant column depends on nothing: 0. In small tables with many
    categories V is above 0 by chance. Reference: Cramér (1946), *Mathematical methods of statistics*, 21.9.

    >>> a = np.array([0, 0, 1, 1])
    >>> cramers_v(a, np.array([5, 5, 7, 7])), cramers_v(a, np.array([0, 1, 0, 1]))
    (1.0, 0.0)
    """
    return _cramers_v(_compact(a), _compact(b))


def cramers_matrix(codes: Codes) -> Floats:
    """Cramér's V of every pair of columns (records × columns).

    >>> cramers_matrix(np.array([[0, 0], [0, 0], [1, 1]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    columns = [_compact(column) for column in codes.T]
    matrix: Floats = np.eye(len(columns))
    for i, first in enumerate(columns):
        for j, second in enumerate(columns[:i]):
            matrix[i, j] = matrix[j, i] = _cramers_v(first, second)
    return matrix


def _compact(codes: Codes) -> Codes:
    """Assign numbers from 0 to the codes that occur."""
    low = int(codes.min(initial=0))
    if int(codes.max(initial=0)) - low > DENSE:
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    occurs = np.bincount(codes - low) > 0
    return (np.cumsum(occurs) - 1)[codes - low]


def _cramers_v(x: Codes, y: Codes) -> float:
    rows, columns = (int(codes.max(initial=-1)) + 1 for codes in (x, y))
    least = min(rows, columns)
    if least < 2:
        return 0.0
    pairs = x * columns + y
    if rows * columns <= DENSE:
        counts = np.bincount(pairs, minlength=rows * columns)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:  # only the cells that occur fit in memory, found by sorting
        cells, counts = np.unique(pairs, return_counts=True)
    observed = counts.astype(np.float64)
    over = np.bincount(x)[cells // columns] * np.bincount(y)[cells % columns].astype(np.float64)
    phi = max(0.0, float((observed**2 / over).sum()) - 1)
    return float(np.sqrt(min(1.0, phi / (least - 1))))
