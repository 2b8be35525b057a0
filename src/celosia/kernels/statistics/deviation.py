"""Distances of columns from their means, exactly zero where a column is constant."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def subtract_mean(x: Floats) -> Floats:
    """Return each column less its mean.

    The sum of equal numbers is rounded, so that ten times 0.1 has a mean other than 0.1 and a deviation above 0. The
    mean lies between the smallest and the largest number: clipped to them, it is exact for a constant column.

    >>> tenths = np.full((10, 2), 0.1)
    >>> bool((tenths - tenths.mean(axis=0)).any()), bool(subtract_mean(tenths).any())
    (True, False)
    """
    if len(x) == 0:
        return x
    result: Floats = x - np.clip(x.mean(axis=0), x.min(axis=0), x.max(axis=0))
    return result


def deviations(x: Floats) -> Floats:
    r"""Return the standard deviation of each column with 1/n, exactly zero where it is constant.

    .. math:: s_j = \sqrt{n^{-1} \sum_i (x_{ij} - \bar x_j)^2}

    >>> deviations(np.array([[0.0, 0.1], [2.0, 0.1], [4.0, 0.1]])).round(4).tolist()
    [1.633, 0.0]
    """
    return np.asarray(np.sqrt((subtract_mean(x) ** 2).mean(axis=0)), dtype=np.float64)


def middles(x: Floats) -> Floats:
    """Return the mean of the numbers that each column has, exactly that number where they are equal; NaN without any.

    >>> middles(np.array([[0.1, np.nan]] * 12)).tolist(), bool(np.full(12, 0.1).mean() == 0.1)
    ([0.1, nan], False)
    """
    present = ~np.isnan(x)
    n = present.sum(axis=0)
    means = np.divide(np.where(present, x, 0.0).sum(axis=0), n, out=np.full(x.shape[1], np.nan), where=n > 0)
    low, high = np.fmin.reduce(x, axis=0, initial=np.inf), np.fmax.reduce(x, axis=0, initial=-np.inf)
    return np.asarray(np.clip(means, low, high), dtype=np.float64)


def spreads(x: Floats) -> Floats:
    """Return the standard deviation of each column without its missing values, exactly zero where it is constant or
    empty.

    >>> spreads(np.array([[0.1, 0.0, np.nan], [0.1, np.nan, np.nan], [0.1, 4.0, np.nan]])).tolist()
    [0.0, 2.0, 0.0]
    """
    present = ~np.isnan(x)
    squares = np.where(present, (x - middles(x)) ** 2, 0.0)
    return np.asarray(np.sqrt(squares.sum(axis=0) / np.maximum(present.sum(axis=0), 1)), dtype=np.float64)
