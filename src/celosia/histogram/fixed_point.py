"""Fixed-point sums of weights, which are exact, and so equal in every order of the rows and on every engine.

A weight is ``high / 2^20 + low / 2^52``, both rounded down. Sums of up to 2^31 weights are exact if their total is
below 2^42. Engines do the same arithmetic in SQL (:mod:`celosia.data.engines.row_codes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Parts = NDArray[np.int64]
    """One row per weight or sum of weights: high and low part."""

HIGH = 2.0**20
LOW = 2.0**32
LARGEST = 2.0**42
"""Totals must be below this number."""


def split(weights: NDArray[np.float64]) -> Parts:
    """Split each weight into its two parts; one that is missing, infinite or beyond :data:`LARGEST` counts as 0.

    >>> split(np.array([1.5, 0.1])).tolist()
    [[1572864, 0], [104857, 2576980377]]
    """
    scaled = np.where(np.abs(weights) < LARGEST, weights, 0.0) * HIGH
    high = np.floor(scaled)
    return np.column_stack([high, np.floor((scaled - high) * LOW)]).astype(np.int64)


def to_floats(parts: Parts) -> NDArray[np.float64]:
    """Convert parts to floats."""
    return np.asarray(parts[:, 0] / HIGH + parts[:, 1] / (HIGH * LOW), dtype=np.float64)


def means(parts: Parts, rows: NDArray[np.int64]) -> Parts:
    """Return the parts of sums divided by their numbers of rows."""
    return split(to_floats(parts) / rows)


def sums(values: NDArray[np.int64], place: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Add up whole numbers, or parts, by place."""
    if values.ndim == 2:
        return np.column_stack([sums(part, place, size) for part in values.T])
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, place, values)
    return total
