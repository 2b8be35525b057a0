"""Positions of numbers in a sorted list, for many more numbers than the list is long."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit


def range_starts(keys: NDArray[np.int64]) -> tuple[NDArray[np.int32], int]:
    """Return the first position of each range of numbers, and the number of low bits that a range ignores.

    There are about two ranges per key. ``keys`` are not negative, strictly rising and fewer than 2^31.

    >>> range_starts(np.array([1, 2, 9]))
    (array([0, 1, 2, 2, 2, 3], dtype=int32), 1)
    """
    largest = int(keys[-1]) if len(keys) else 0
    shift = max(0, largest.bit_length() - (2 * len(keys)).bit_length())
    starts = np.zeros((largest >> shift) + 2, dtype=np.int32)
    np.cumsum(np.bincount(keys >> shift, minlength=len(starts) - 1), out=starts[1:])
    return starts, shift


@jit()
def locate(
    keys: NDArray[np.int64], starts: NDArray[np.int32], shift: int, given: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the position of each given number among the keys, -1 for one that is not a key.

    The range leaves few keys to compare: a search in the whole list would miss the cache twenty times.

    >>> keys = np.array([1, 2, 9])
    >>> locate(keys, *range_starts(keys), np.array([9, 3, 1, 40]))
    array([ 2, -1,  0, -1], dtype=int32)
    """
    out = np.full(given.size, -1, np.int32)
    for i in range(given.size):
        wanted = given[i]
        bucket = wanted >> shift
        if bucket < 0 or bucket + 1 >= starts.size:
            continue
        low, high = starts[bucket], starts[bucket + 1]
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low < keys.size and keys[low] == wanted:
            out[i] = low
    return out
