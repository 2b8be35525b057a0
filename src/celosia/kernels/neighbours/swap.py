"""Rank swapping: which sorted position changes places with which."""

from __future__ import annotations

import numpy as np

from celosia.kernels.arrays import Flags, Ints
from celosia.kernels.jit import jit

Bools = Flags

LIMIT = 10_000  # candidates that a joint exchange looks at: in many columns hardly any record is near in all
TRIES = 64  # draws before the free positions are counted; each draw hits one with a chance of about a half


@jit()
def _free_between(partner: Ints, first: int, last: int, rng: np.random.Generator) -> int:
    """Return a free position in first … last, each equally likely; -1 when there is none."""
    width = last - first + 1
    if width < 1:
        return -1
    for _ in range(TRIES):  # rejection keeps the choice uniform
        l = first + int(rng.random() * width)
        if partner[l] < 0:
            return l
    count = 0
    for l in range(first, last + 1):
        if partner[l] < 0:
            count += 1
    if count == 0:
        return -1
    pick = int(rng.random() * count)
    for l in range(first, last + 1):
        if partner[l] < 0:
            if pick == 0:
                return l
            pick -= 1
    return -1


@jit()
def _pair(partner: Ints, i: int, l: int) -> None:
    partner[i] = l
    partner[l] = i


@jit()
def pairs(n: int, window: int, rng: np.random.Generator) -> Ints:
    r"""Return the position that each of ``n`` sorted positions changes places with; itself where no partner was left.

    Position i takes a free position l with :math:`i < l \le i + w`, all equally likely, and both are done. No value
    moves by more than ``window`` ranks, none moves twice. Reference: Moore (1996).

    >>> pairs(4, 1, np.random.default_rng(0)).tolist()
    [1, 0, 3, 2]
    """
    partner = np.full(n, -1, np.int64)
    for i in range(n):
        if partner[i] < 0:
            l = _free_between(partner, i + 1, min(n - 1, i + window), rng)
            _pair(partner, i, l if l >= 0 else i)
    return partner


@jit()
def _next_free(partner: Ints, i: int) -> int:
    """Return the next position after i without a partner; i itself where there is none."""
    for l in range(i + 1, len(partner)):
        if partner[l] < 0:
            return l
    return i


@jit()
def pairs_normal(n: int, window: int, rng: np.random.Generator) -> Ints:
    r"""Return swap partners with a step from :math:`N(w/2, (w/2)^2)` in place of a window that an intruder could know.

    A step that is not positive, leaves the file or meets a used position is drawn again; after some draws the next
    free position is taken. Reference: Nin, Herranz & Torra (2008), rank swapping p-distribution.

    >>> sorted(pairs_normal(4, 1, np.random.default_rng(0)).tolist())
    [0, 1, 2, 3]
    """
    partner = np.full(n, -1, np.int64)
    half = 0.5 * window
    for i in range(n):
        if partner[i] >= 0:
            continue
        l = -1
        for _ in range(TRIES):
            step = round(half + half * rng.standard_normal())
            if step >= 1 and i + step < n and partner[i + step] < 0:
                l = i + step
                break
        _pair(partner, i, l if l >= 0 else _next_free(partner, i))
    return partner


@jit()
def pairs_buckets(n: int, size: int, rng: np.random.Generator) -> Ints:
    r"""Return swap partners from the bucket of i or a later one, each bucket half as likely as the one before it.

    Positions are cut into buckets of ``size``; that of the partner is s with :math:`P(s) \propto 2^{-(s-r+1)}` for
    :math:`s \ge r`, and the partner any free position in it. A bucket without a free position is drawn again; after
    some draws the next free position is taken. Reference: Nin, Herranz & Torra (2008), rank swapping p-buckets.

    >>> sorted(pairs_buckets(4, 2, np.random.default_rng(0)).tolist())
    [0, 1, 2, 3]
    """
    partner = np.full(n, -1, np.int64)
    for i in range(n):
        if partner[i] >= 0:
            continue
        partner[i] = i  # so that it is not free for itself
        l = -1
        for _ in range(TRIES):
            ahead = 0
            while rng.random() < 0.5:
                ahead += 1
            first = (i // size + ahead) * size
            if first < n:
                l = _free_between(partner, max(first, i + 1), min(n, first + size) - 1, rng)
                if l >= 0:
                    break
        _pair(partner, i, l if l >= 0 else _next_free(partner, i))
    return partner


@jit()
def pairs_jointly(ranks: Ints, order: Ints, window: int, rng: np.random.Generator) -> Ints:
    """Return the record that each record changes places with, at most ``window`` ranks away in every column.

    ``ranks`` is records × columns, ``order`` the records sorted by the first column. Partners are sought among the
    window of the first column, one after the other from a random start; a record that finds none among ten thousand
    stays.

    >>> pairs_jointly(np.array([[0, 3], [1, 2], [2, 1], [3, 0]]), np.arange(4), 1, np.random.default_rng(0)).tolist()
    [1, 0, 3, 2]
    """
    n, d = ranks.shape
    partner = np.full(n, -1, np.int64)
    for i in range(n):
        record = order[i]
        if partner[record] >= 0:
            continue
        width = min(n - 1, i + window) - i
        mate = record
        start = int(rng.random() * width) if width > 0 else 0
        for t in range(min(width, LIMIT)):
            other = order[i + 1 + (start + t) % width]
            if partner[other] >= 0:
                continue
            inside = True
            for a in range(1, d):
                if abs(ranks[record, a] - ranks[other, a]) > window:
                    inside = False
                    break
            if inside:
                mate = other
                break
        _pair(partner, record, mate)
    return partner
