"""How much of some numbers, or of their order, other values show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

FEWEST = 50
"""Fewer pairs say little about an order."""


def explained_order(values: pl.Series, numbers: pl.Series) -> float:
    r"""Return the share of the variance of the ranks of ``numbers`` that ``values`` explain.

    .. math:: r_s^2 \text{ for numbers,} \qquad
              \eta^2 = \sum_g n_g (\bar R_g - \bar R)^2 \Big/ \sum_i (R_i - \bar R)^2 \text{ for groups}

    Pairs with a missing value are left out; 0 when fewer than fifty are left, or when either side is constant.

    >>> import polars as pl
    >>> numbers = pl.Series(range(100))
    >>> explained_order(numbers * numbers, numbers), round(explained_order(numbers // 50, numbers.cast(pl.Float64)), 3)
    (1.0, 0.75)
    >>> explained_order((numbers // 50).cast(pl.String), numbers)
    0.7500750075007501
    """
    import polars as pl

    pairs = pl.DataFrame({"value": values, "number": numbers}).drop_nulls()
    if len(pairs) < FEWEST:
        return 0.0
    rank = pl.col("number").rank()
    if values.dtype.is_numeric():
        pairs = pairs.select(shown=pl.col("value").rank(), rank=rank)
        share = pairs.select(pl.corr("shown", "rank")).item() ** 2
    else:
        pairs = pairs.select("value", rank=rank)
        between = pairs.select(pl.col("rank").mean().over("value").var(ddof=0)).item()
        total = pairs.select(pl.col("rank").var(ddof=0)).item()
        share = between / total if total else 0.0
    return float(share) if np.isfinite(share) else 0.0


def unexplained_by_formula(columns: NDArray[np.float64], numbers: NDArray[np.float64]) -> float:
    r"""Return the share of the variance of numbers that no sum and no product of powers of columns explains.

    .. math:: \min(1 - R^2_{\text{linear}},\; 1 - R^2_{\log})

    The logarithms count only where all numbers are positive. 1 for fewer than fifty rows, or a constant.

    >>> rng = np.random.default_rng(0)
    >>> height, weight = rng.normal(1.7, 0.1, 200), rng.normal(70, 12, 200)
    >>> bool(unexplained_by_formula(np.column_stack([height, weight]), weight / height**2) < 1e-6)
    True
    """
    if len(numbers) < FEWEST:
        return 1.0
    forms = [(columns, numbers)]
    if numbers.min() > 0 and columns.min() > 0:
        forms.append((np.log(columns), np.log(numbers)))
    shares = []
    for terms, target in forms:
        centred, off = terms - terms.mean(axis=0), target - target.mean()
        total = float(off @ off)
        left = off - centred @ np.linalg.lstsq(centred, off, rcond=None)[0]
        shares.append(float(left @ left) / total if total > 0 else 1.0)
    return min(shares)
