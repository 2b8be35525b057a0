"""Which original values lie in a narrow interval around their protected value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def inside(
    original: Floats, protected: Floats, percents: Sequence[float], kind: Literal["rank", "relative", "sd"]
) -> Floats:
    r"""Share of the interval widths for which each original value lies around its protected value.

    For a width of p per cent the interval of the protected value x' is

    - ``rank``: from the value p/2 per cent of n ranks below x' to the one as many above, in the protected column;
      where several protected values are equal, below the first and above the last of them;
    - ``relative``: x' ± p/2 per cent of x';
    - ``sd``: x' ± p/2 per cent of the standard deviation of the original column.

    Gives an array records × columns. A missing value on either side is outside.

    References: Domingo-Ferrer & Torra (2001); Mateo-Sanz, Sebé & Domingo-Ferrer (2004).

    >>> x, y = np.array([[10.0], [20.0], [30.0]]), np.array([[10.2], [25.0], [30.0]])
    >>> inside(x, y, [5.0], "relative").ravel().tolist()
    [1.0, 0.0, 1.0]
    """
    n, columns = original.shape
    total = np.zeros((n, columns))
    for j in range(columns):
        x, y = original[:, j], protected[:, j]
        filled = np.isfinite(x) & np.isfinite(y)
        ordered = np.sort(y[np.isfinite(y)])
        first = np.searchsorted(ordered, y[filled], side="left")
        last = np.searchsorted(ordered, y[filled], side="right") - 1
        spread = float(x[filled].std()) if filled.any() else 0.0
        for percent in percents:
            low, high = _bounds(y[filled], ordered, (first, last), percent / 200, kind, spread)
            total[filled, j] += (x[filled] >= low) & (x[filled] <= high)
    return total / max(len(percents), 1)


def _bounds(
    y: Floats, ordered: Floats, places: tuple[Ints, Ints], half: float, kind: str, spread: float
) -> tuple[Floats, Floats]:
    if kind == "rank":
        steps = int(np.floor(half * len(ordered) + 1e-9))
        first, last = places
        return ordered[np.maximum(first - steps, 0)], ordered[np.minimum(last + steps, len(ordered) - 1)]
    width = half * (np.abs(y) if kind == "relative" else np.full(len(y), spread))
    return y - width, y + width


def all_inside(original: Floats, protected: Floats, k: float) -> NDArray[np.bool_]:
    r"""Records whose original lies, in every column, within the protected value ± k standard deviations of the column.

    sdcMicro's reading (dRisk): a missing value counts as inside. It falls to 0 as columns are added.

    References: Templ, Kowarik & Meindl (2015).

    >>> all_inside(np.array([[1.0, 5.0], [2.0, 9.0]]), np.array([[1.01, 5.0], [2.0, 6.0]]), 0.05).tolist()
    [True, False]
    """
    spread = np.nanstd(protected, axis=0, ddof=1) if len(protected) > 1 else np.zeros(protected.shape[1])
    with np.errstate(invalid="ignore"):
        outside = np.abs(original - protected) > k * spread
    return np.asarray(~outside.any(axis=1), dtype=np.bool_)
