r"""Fuzzy partitions: families of sets whose degrees sum to one for every value.

A partition of n records is an n × cells array of degrees. Crisp partitions have one 1 per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import DataError, ParameterError
from celosia.kernels.fuzzy.sets import TOLERANCE

Floats = NDArray[np.float64]
Norm = Literal["product", "min"]
Breaks = Literal["equal-count", "equal-width", "equal-log-width"]


def is_partition(mu: ArrayLike, tolerance: float = 1e-6) -> bool:
    r"""Whether :math:`\sum_i \mu_{A_i}(x) = 1` for every record.

    >>> is_partition([[0.2, 0.8], [1, 0]]), is_partition([[0.5, 0.8], [1, 0]])
    (True, False)
    """
    return bool(np.allclose(np.asarray(mu).sum(axis=1), 1, rtol=0, atol=tolerance))


def is_robust(mu: ArrayLike) -> bool:
    """Whether every record has a degree of at least one half in some cell.

    A normal partition need not be robust: three cells that each reach 1 can still meet in a record at ⅓, ⅓, ⅓.

    >>> is_robust([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1 / 3, 1 / 3, 1 / 3]])
    False
    """
    return bool((np.asarray(mu).max(axis=1, initial=0) >= 0.5 - TOLERANCE).all())


def is_normal(mu: ArrayLike) -> bool:
    """Whether some record belongs to each cell fully."""
    return bool((np.asarray(mu).max(axis=0, initial=0) >= 1 - TOLERANCE).all())


def check_partition(mu: Floats, what: str, tolerance: float = 1e-6) -> None:
    """Refuse sets that are no partition of the records; the message has counts and sums, no values."""
    sums = mu.sum(axis=1)
    wrong = np.abs(sums - 1) > tolerance
    if wrong.any():
        raise ParameterError(
            f"{what}: the sets are no partition: the degrees of {wrong.sum()} of {len(sums)} records sum to "
            f"{sums.min():.4g} … {sums.max():.4g} instead of 1. Let each set fall where its neighbour rises, "
            "as '(-inf;30;42)' and '(30;42;54)' do."
        )


def grid(parts: Sequence[Floats], norm: Norm = "product") -> Floats:
    r"""Cells of independent coding: one per combination of the cells of each column, first column slowest.

    .. math:: \mu_{A_1 \times \dots \times A_r}(x) = \prod_i \mu_{A_i}(x_i)

    The product of partitions is a partition; the minimum is not.

    >>> grid([np.array([[0.5, 0.5]]), np.array([[0.2, 0.8]])]).tolist()
    [[0.1, 0.4, 0.1, 0.4]]
    """
    cells = parts[0]
    for part in parts[1:]:
        left, right = cells[:, :, None], part[:, None, :]
        both = left * right if norm == "product" else np.minimum(left, right)
        cells = both.reshape(len(part), -1)
    return cells


def indicator(labels: ArrayLike, cells: int) -> Floats:
    """Return the crisp partition that belongs to labels 0 … cells - 1; a label of -1 belongs to no cell.

    >>> indicator([1, 0, -1], 2).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    labels = np.asarray(labels)
    mu = np.zeros((len(labels), cells))
    held = labels >= 0
    mu[np.flatnonzero(held), labels[held]] = 1.0
    return mu


def harden(mu: Floats) -> NDArray[np.int64]:
    """Return the cell of highest degree of each record, the first one of equals; -1 without any degree.

    >>> harden(np.array([[0.2, 0.8], [0.5, 0.5], [0, 0]])).tolist()
    [1, 0, -1]
    """
    return np.where(mu.max(axis=1, initial=0) > 0, mu.argmax(axis=1), -1)


def scale(x: ArrayLike) -> Floats:
    r"""Scale columns to [0, 1]; a constant column becomes 0.

    .. math:: x'_{ij} = (x_{ij} - \min_i x_{ij}) / (\max_i x_{ij} - \min_i x_{ij})
    """
    x = np.asarray(x, dtype=np.float64)
    low, high = x.min(axis=0), x.max(axis=0)
    return np.asarray((x - low) / np.where(high > low, high - low, 1.0))


def controlled_round(mu: Floats, digits: int) -> Floats:
    """Return the degrees rounded to ``digits`` decimals so that each row still sums to one (largest remainders).

    >>> controlled_round(np.array([[1 / 3, 1 / 3, 1 / 3], [0.26, 0.74, 0.0]]), 1).tolist()
    [[0.4, 0.3, 0.3], [0.3, 0.7, 0.0]]
    """
    base = 10**digits
    parts = mu * base
    whole = np.floor(parts + TOLERANCE)
    left = np.rint(mu.sum(axis=1) * base - whole.sum(axis=1)).astype(np.int64)
    # the `left` largest remainders of each row are rounded up; equal ones from left to right
    order = np.argsort(-(parts - whole), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(mu.shape[1])[None, :], axis=1)
    return np.asarray((whole + (rank < left[:, None])) / base)


def break_points(x: ArrayLike, classes: int, by: Breaks = "equal-count") -> Floats:
    """Return the ends of the intervals of a global recoding: ``classes + 1`` numbers.

    ``equal-count`` takes linear (type 7) quantiles, ``equal-width`` equal steps,
    ``equal-log-width`` equal steps of the logarithm.

    >>> break_points([1, 2, 3, 4, 100], 2).tolist()
    [1.0, 3.0, 100.0]
    """
    x = np.asarray(x, dtype=np.float64)
    if classes < 1:
        raise ParameterError(f"global recode: classes must be at least 1, got {classes}.")
    if by == "equal-count":
        return np.asarray(np.quantile(x, np.linspace(0, 1, classes + 1)))
    if by == "equal-width":
        return np.linspace(x.min(), x.max(), classes + 1)
    if x.min() <= 0:
        raise DataError("global recode: equal-log-width needs values above 0. Use equal-count or equal-width.")
    points = np.exp(np.linspace(np.log(x.min()), np.log(x.max()), classes + 1))
    points[0], points[-1] = x.min(), x.max()  # exp(log(x)) need not be x
    return points


def recode_labels(x: ArrayLike, points: ArrayLike, *, include_lowest: bool = True) -> NDArray[np.int64]:
    """Return the number of the interval ``(b₀, b₁], (b₁, b₂], …`` of each value; -1 outside.

    With ``include_lowest`` the first interval is closed. Without it the smallest value falls outside, which
    is how records went missing in earlier work.

    >>> recode_labels([1, 2, 3, 4], [1, 2, 4]).tolist()
    [0, 0, 1, 1]
    >>> recode_labels([1, 2, 3, 4], [1, 2, 4], include_lowest=False).tolist()
    [-1, 0, 1, 1]
    """
    x, points = np.asarray(x, dtype=np.float64), np.asarray(points, dtype=np.float64)
    labels = np.searchsorted(points, x, side="left") - 1
    if include_lowest:
        labels = np.where(x == points[0], 0, labels)
    return np.where(x <= points[-1], labels, -1)
