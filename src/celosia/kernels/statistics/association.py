"""How strongly categories depend on each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


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
    x, y = (np.unique(codes, return_inverse=True)[1].astype(np.int64) for codes in (a, b))
    rows, columns = (int(codes.max(initial=-1)) + 1 for codes in (x, y))
    least = min(rows, columns)
    if least < 2:
        return 0.0
    cells, counts = np.unique(x * columns + y, return_counts=True)  # only cells that occur: the table may be wide
    held = counts.astype(np.float64)
    over = np.bincount(x)[cells // columns] * np.bincount(y)[cells % columns].astype(np.float64)
    phi = max(0.0, float((held**2 / over).sum()) - 1)
    return float(np.sqrt(min(1.0, phi / (least - 1))))


def cramers_matrix(codes: Codes) -> Floats:
    """Cramér's V of every pair of columns (records × columns).

    >>> cramers_matrix(np.array([[0, 0], [0, 0], [1, 1]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    m = codes.shape[1]
    matrix: Floats = np.eye(m)
    for i in range(m):
        for j in range(i + 1, m):
            matrix[i, j] = matrix[j, i] = cramers_v(codes[:, i], codes[:, j])
    return matrix
