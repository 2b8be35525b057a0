"""Columns that predict other columns: a hint for experts where inferences may be possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.histogram import encode, group, number

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Association:
    """Strength with which one column (or two together) predicts another."""

    known: tuple[str, ...]
    target: str
    strength: float
    """0: no better than the most frequent value; 1: a functional dependency."""
    classes: int
    """Distinct values of the known columns: near the number of rows, a high strength means nothing."""

    @property
    def determines(self) -> bool:
        """Whether there is a functional dependency in these data."""
        return self.strength >= 1.0

    def data(self) -> dict[str, object]:
        """Return the association as plain data for JSON."""
        facts = {"target": self.target, "strength": self.strength, "determines": self.determines}
        return {"known": list(self.known), **facts}


def associations(
    frame: pl.DataFrame, targets: Sequence[str] | None = None, *, pairs: bool = True, seed: int = 0
) -> list[Association]:
    r"""Measure Goodman and Kruskal's lambda of every pair of columns on held-out rows, strongest first.

    .. math:: \lambda = \frac{\sum_c \max_t n_{ct} - \max_t n_{\cdot t}}{n - \max_t n_{\cdot t}}

    The most frequent target of each class is learnt on one half of the rows and counted on the other, so that a
    column with as many values as rows (an id) does not seem to predict everything. A functional dependency is counted
    on all rows. References: Goodman & Kruskal (1954).

    >>> import polars as pl
    >>> frame = pl.DataFrame({"district": ["a", "b", "c", "d"] * 50, "canton": ["x", "x", "y", "y"] * 50})
    >>> [(a.known, a.target, a.strength) for a in associations(frame, pairs=False)]
    [(('district',), 'canton', 1.0), (('canton',), 'district', 0.3...)]
    """
    codes = {name: encode(frame[name]).codes.astype(np.int64) for name in frame.columns}
    n = len(frame)
    half = np.random.default_rng(seed).permutation(n) < n // 2
    target_names = list(targets) if targets is not None else frame.columns
    sets: list[tuple[str, ...]] = [(name,) for name in frame.columns]
    if pairs:
        names = frame.columns
        sets += [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    associations = []
    for predictors in sets:
        key = number([codes[name] for name in predictors])
        distinct = int(key.max(initial=-1)) + 1
        for target in target_names:
            if target in predictors or codes[target].max(initial=0) == codes[target].min(initial=0):
                continue
            strength = _strength(key, codes[target], half)
            if _depends(key, codes[target]) and distinct < 0.9 * n:
                strength = 1.0
            associations.append(Association(predictors, target, strength, distinct))
    return sorted(associations, key=lambda a: (-a.strength, len(a.known), a.known, a.target))


def _depends(key: NDArray[np.int64], target: NDArray[np.int64]) -> bool:
    return len(group([key, target])[0]) == len(group([key])[0])


def _strength(key: NDArray[np.int64], target: NDArray[np.int64], half: NDArray[np.bool_]) -> float:
    """Share of the errors of the most frequent value that the key corrects, on the second half."""
    most = int(np.bincount(target[half]).argmax()) if half.any() else 0
    width = int(target.max(initial=0)) + 1
    pair, count = np.unique(key[half] * width + target[half], return_counts=True)
    order = np.lexsort((count, pair // width))
    best = np.full(int(key.max(initial=0)) + 1, most, np.int64)
    best[(pair // width)[order]] = (pair % width)[order]  # the last of each class is its most frequent
    test = ~half
    right, base = (best[key[test]] == target[test]).mean(), (target[test] == most).mean()
    return float(max(0.0, (right - base) / (1 - base))) if base < 1 else 0.0
