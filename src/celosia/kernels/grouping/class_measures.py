"""Sums over classes that losses of whole classes are made of, each in one pass.

Codes come column by column (m × classes); ``start[j] + code`` is where the number of a cell of column *j* stands.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Floats = NDArray[np.float64]


@jit()
def split_by_size(size: Ints, least: int) -> tuple[int, int]:
    """Return the number of classes with so many records, and the number of records in the others."""
    several = 0
    rest = 0
    for c in range(len(size)):
        enough = size[c] >= least
        several += enough
        rest += 0 if enough else size[c]
    return several, rest


@jit()
def minorities(start: Ints, count: Ints, size: Ints, kept: Flags, certain: Flags) -> tuple[int, int, int, int]:
    """Return the records without the most frequent value of their class, in kept and in all classes.

    Class *c* holds values ``count[start[c]:start[c + 1]]`` times. Also give the records that are not kept, and those
    of certain classes less their minorities.
    """
    inside = whole = lost = sure = 0
    for c in range(len(size)):
        most = 0
        minority = 0
        for e in range(start[c], start[c + 1]):
            most = max(most, count[e])
            minority += count[e]
        minority -= most
        whole += minority
        inside += minority if kept[c] else 0
        lost += 0 if kept[c] else size[c]
        sure += size[c] - minority if certain[c] else 0
    return inside, whole, lost, sure


@jit()
def cell_products(codes: Small, start: Ints, values: Floats) -> Floats:
    """Return for each class the product of the numbers of its cells."""
    m, n = codes.shape
    out = np.ones(n)
    for j in range(m):
        for c in range(n):
            out[c] *= values[start[j] + codes[j, c]]
    return out


@jit()
def _two_sum(a: float, b: float) -> tuple[float, float]:
    """Return the rounded sum and what was rounded off (Knuth, 4.2.2)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@jit()
def spread_bits(
    cells: tuple[Small, Ints, Floats],
    size: Ints,
    kept: Flags,
    certain: Flags,
    logs: Floats,
    total: int,
    largest: float,
) -> tuple[float, float, float, int]:
    r"""Return the bits that records spend when each class is spread over its cells, for the divergence.

    With :math:`h_c` the sum of the numbers of the cells of class *c* and :math:`r_c = \log_2(n / |c|)`: the sums of
    :math:`|c| (h_c + r_c)` over kept and over all classes; the sum of :math:`|c| (L - h_c)` over certain ones and of
    :math:`|c| \min(r_c, L - h_c)` over the others, with :math:`L` the largest; the records not kept. ``logs`` are the
    logarithms of the first whole numbers. What is rounded off is summed, too: the order of classes hardly matters.
    """
    codes, start, values = cells
    m = len(codes)
    all_bits = np.log2(total)
    inside = inside_rest = whole = whole_rest = room = 0.0
    lost = 0
    for c in range(len(size)):
        held = 0.0
        for j in range(m):
            held += values[start[j] + codes[j, c]]
        rarity = all_bits - (logs[size[c]] if size[c] < len(logs) else np.log2(size[c]))
        spent = size[c] * (held + rarity)
        whole, error = _two_sum(whole, spent)
        whole_rest += error
        inside, error = _two_sum(inside, spent if kept[c] else 0.0)
        inside_rest += error
        free = largest - held
        room += size[c] * (free if certain[c] or free < rarity else rarity)
        lost += 0 if kept[c] else size[c]
    return inside + inside_rest, whole + whole_rest, room, lost
