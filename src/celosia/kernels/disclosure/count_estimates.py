"""Counts estimated from tables that hide who has which sensitive value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def anatomy_count(matching: Floats | NDArray[np.bool_], group: Ints, with_value: Ints) -> float:
    r"""Estimate how many records satisfy a predicate on the quasi-identifiers and have a value, from an
    anatomy.

    .. math:: \hat n = \sum_g n_g(p)\, \frac{c_g(s)}{|g|}

    ``matching`` says which records satisfy the predicate, or how far, ``group`` is the group of each record and
    ``with_value`` the number of records with the value in each group. Exact when every group holds one value;
    otherwise unbiased if values are spread at random in their group. References: Xiao & Tao (2006).

    >>> anatomy_count(np.array([False, True, True, True]), np.array([0, 0, 0, 0]), np.array([2]))
    1.5
    """
    sizes = np.bincount(group, minlength=len(with_value))
    inside = np.bincount(group, weights=matching, minlength=len(with_value))
    return float((inside * with_value / np.maximum(sizes, 1)).sum())


def spread_count(share: Floats, with_value: Ints) -> float:
    r"""Estimate the same from a generalised table, values being spread evenly over the range of a class.

    .. math:: \hat n = \sum_g c_g(s)\, \frac{|p \cap \mathrm{range}_g|}{|\mathrm{range}_g|}

    ``share`` is the part of each class's range that satisfies the predicate.

    >>> spread_count(np.array([0.0, 0.2]), np.array([3, 2]))
    0.4
    """
    return float((share * with_value).sum())


def reconstruction_error(group: Ints, value: Ints) -> float:
    r"""Squared error when each record's value is guessed by its group's shares, summed over the records.

    .. math::

        \mathrm{RCE} = \sum_i \Big[ (1 - q_i(s_i))^2 + \sum_{s \ne s_i} q_i(s)^2 \Big], \qquad
        q_i(s) = c_{g(i)}(s) / |g(i)|

    The least that groups of l different values can have is n (1 - 1/l). References: Xiao & Tao (2006).

    >>> reconstruction_error(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0]))
    1.0
    """
    if not len(group):
        return 0.0
    width = int(value.max()) + 1
    pairs, count = np.unique(group.astype(np.int64) * width + value, return_counts=True)
    sizes = np.bincount(group).astype(np.float64)
    owner = pairs // width
    q = count / sizes[owner]
    square = np.bincount(owner, weights=q**2, minlength=len(sizes))
    # for a record with value s: (1 - q_s)^2 - q_s^2 + sum of squares = 1 - 2 q_s + sum of squares
    return float((count * (1.0 - 2.0 * q + square[owner])).sum())
