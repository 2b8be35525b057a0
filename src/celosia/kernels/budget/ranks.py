"""Scores for choosing a quantile among candidates, by how many values lie below and above each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rank_scores(less: NDArray[np.int64], more: NDArray[np.int64], q: float, inside: float = 0.0) -> NDArray[np.float64]:
    r"""How well each candidate stands for the ``q``-quantile: 0 is best.

    .. math:: s(c) = -\big|(1 - q)\,\#\{x < c\} - q\,\#\{x > c\}\big|

    A row moves it by at most max(q, 1 - q). The extremes themselves cannot be told, because one person makes them: for
    ``q`` = 0 or 1 the aim lies ``inside`` ranks from the end, so far that noise rarely leaves the data.

    >>> rank_scores(np.array([0, 1, 2]), np.array([2, 1, 0]), 0.5).tolist()
    [-1.0, 0.0, -1.0]
    >>> rank_scores(np.array([0, 1, 2]), np.array([2, 1, 0]), 0.0, inside=2).tolist()
    [-2.0, -1.0, 0.0]
    """
    off = (less if q == 0.0 else more) - inside if q in (0.0, 1.0) else (1 - q) * less - q * more
    return np.asarray(0.0 - np.abs(off), dtype=np.float64)
