"""Match units (households) that change places across areas."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from celosia.kernels.jit import jit

Ints = npt.NDArray[np.int64]

TRIES = 16


@jit()
def match_across(wanted: Ints, bucket: Ints, area: Ints, partner: Ints, rng: np.random.Generator) -> int:
    """Assign each wanted unit a random free partner of its bucket in another area; return how many found none.

    ``partner`` is filled in place; units with a partner (``>= 0``) are not free.

    >>> partner = np.full(4, -1)
    >>> match_across(np.array([0]), np.zeros(4, np.int64), np.array([0, 0, 0, 1]), partner, np.random.default_rng(0))
    0
    >>> partner.tolist()
    [3, -1, -1, 0]
    """
    units = bucket.size
    count = np.zeros(bucket.max() + 2 if units else 1, np.int64)
    for u in range(units):
        count[bucket[u] + 1] += 1
    begin = np.cumsum(count)
    members = np.empty(units, np.int64)
    fill = begin.copy()
    for u in range(units):
        members[fill[bucket[u]]] = u
        fill[bucket[u]] += 1
    free = fill.copy()  # the end of the units of a bucket that may still be free
    alone = 0
    for w in range(wanted.size):
        u = wanted[w]
        if partner[u] >= 0:
            continue
        b = bucket[u]
        mate = -1
        for _ in range(TRIES):
            width = free[b] - begin[b]
            if width == 0:
                break
            p = begin[b] + int(rng.random() * width)
            v = members[p]
            if partner[v] >= 0:  # used up: put it behind the end
                free[b] -= 1
                members[p], members[free[b]] = members[free[b]], members[p]
            elif area[v] != area[u]:
                mate = v
                break
        if mate < 0:
            width = free[b] - begin[b]
            first = int(rng.random() * width) if width > 0 else 0
            for t in range(width):
                v = members[begin[b] + (first + t) % width]
                if partner[v] < 0 and area[v] != area[u]:
                    mate = v
                    break
        if mate < 0:
            alone += 1
        else:
            partner[u] = mate
            partner[mate] = u
    return alone
