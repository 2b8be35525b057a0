"""The first principal component."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def first_component(x: Floats) -> tuple[Floats, float]:
    """Return the first principal component of centred columns, and the share of variance that it explains.

    >>> axis, share = first_component(np.array([[-1.0, -1.0], [1.0, 1.0]]))
    >>> axis.round(3).tolist(), round(share, 6)
    ([0.707, 0.707], 1.0)
    """
    values, vectors = np.linalg.eigh(x.T @ x)
    axis = vectors[:, -1] * (1.0 if vectors[np.abs(vectors[:, -1]).argmax(), -1] > 0 else -1.0)
    total = float(np.maximum(values, 0.0).sum())
    return axis, float(values[-1]) / total if total > 0 else 1.0
