"""Combinations of codes, packed into single numbers to group and sort them by array operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEYS = 2**62
"""Packed keys are below this number."""


def pack(columns: Sequence[NDArray[np.int32] | NDArray[np.int64]]) -> NDArray[np.int64]:
    """Pack the codes of each row into a number; numbers have the lexicographic order of the rows.

    >>> pack([np.array([0, 1, 0]), np.array([5, 0, 2])]).tolist()
    [5, 6, 2]
    """
    key = columns[0].astype(np.int64)
    size = int(key.max(initial=0)) + 1
    for codes in columns[1:]:
        width = int(codes.max(initial=0)) + 1
        if size > KEYS // width:  # close the gaps first; ranks keep the order
            _, key = np.unique(key, return_inverse=True)
            size = int(key.max(initial=0)) + 1
        key = key * width + codes
        size *= width
    return key


_FEW = 1 << 22
"""Largest number of possible combinations that are looked up in an array of all, without a sort."""


def group(columns: Sequence[NDArray[np.int32] | NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group rows by some columns: the first row of each combination, in order, and the combination of each row.

    >>> first, place = group([np.array([7, 7, 3, 7]), np.array([0, 2, 2, 0])])
    >>> first.tolist(), place.tolist()
    ([2, 0, 1], [1, 2, 0, 1])
    """
    key = pack(columns)
    size = int(key.max(initial=-1)) + 1
    if size > _FEW:
        steps = np.diff(key, prepend=-1)
        if (steps >= 0).all():  # in order already: combinations end where the number changes
            return np.flatnonzero(steps), np.cumsum(steps > 0) - 1
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return first, place.reshape(-1)
    seen = np.full(size, -1, dtype=np.int64)
    seen[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    present = np.flatnonzero(seen >= 0)
    places = np.zeros(size, dtype=np.int64)
    places[present] = np.arange(len(present))
    return seen[present], places[key]


def sort_order(columns: Sequence[NDArray[np.int32] | NDArray[np.int64]]) -> NDArray[np.int64] | slice:
    """Return the positions that sort rows lexicographically by some columns, or a full slice if they are sorted.

    >>> sort_order([np.array([1, 0, 1]), np.array([0, 5, 0])]).tolist()
    [1, 0, 2]
    >>> sort_order([np.array([0, 1]), np.array([5, 5])])
    slice(None, None, None)
    """
    key = pack(columns)
    return slice(None) if (key[1:] >= key[:-1]).all() else np.argsort(key, kind="stable")


def number(columns: Sequence[NDArray[np.int32] | NDArray[np.int64]]) -> NDArray[np.int64]:
    """Assign consecutive numbers from 0 to the combinations of some columns, in their order.

    >>> number([np.array([7, 7, 3]), np.array([0, 2, 2])]).tolist()
    [1, 2, 0]
    """
    return group(columns)[1]
