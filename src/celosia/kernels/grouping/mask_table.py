"""Which row of a table belongs to a set of columns, found by the bit mask of the set (open addressing)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit


@jit()
def rows_inside(
    mask: int, lowest: int, key: NDArray[np.int64], row: NDArray[np.int64], inside: NDArray[np.int64]
) -> int:
    """Write the positions of the sets that lack one column of the mask, but not the lowest; return their number."""
    count = 0
    rest = mask ^ (1 << lowest)
    while rest:
        bit = rest & -rest
        at = place_of(key, mask ^ bit)
        if key[at] >= 0:
            inside[count] = row[at]
            count += 1
        rest ^= bit
    return count


@jit()
def place_of(key: NDArray[np.int64], mask: int | np.int64) -> int:
    """Return the place of a mask in the table of places, or the free one where it belongs."""
    size = key.shape[0]
    mixed = ((mask ^ (mask >> 31)) & 0x7FFFFFFF) * 40503  # stays below 2^47
    place = (mixed ^ (mixed >> 17)) & (size - 1)
    while key[place] >= 0 and key[place] != mask:
        place = (place + 1) & (size - 1)
    return int(place)


@jit()
def grow(key: NDArray[np.int64], row: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the table of places with twice the room."""
    new_key = np.full(2 * key.shape[0], -1, np.int64)
    new_row = np.empty(2 * key.shape[0], np.int64)
    for i in range(key.shape[0]):
        if key[i] >= 0:
            at = place_of(new_key, key[i])
            new_key[at] = key[i]
            new_row[at] = row[i]
    return new_key, new_row
