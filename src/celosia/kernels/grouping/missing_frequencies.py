"""Frequencies of patterns when some of their values are missing.

Two patterns are *compatible* when they are equal wherever both are observed. Compatibility is not transitive,
so these are frequencies per pattern, not sizes of classes. The work is done per pair of missingness masks:
patterns of two masks are matched on the columns that both observe, by a hash table built on the smaller side.
A table of P patterns with M masks costs about M · P steps, never P².
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.errors import ParameterError
from celosia.kernels.arrays import Flags, Floats, Ints, Small
from celosia.kernels.grouping.row_groups import slot_of_row
from celosia.kernels.jit import jit

Reading = Literal["wildcard", "conservative", "alpha"]


class Holders(NamedTuple):
    """Persons of each pattern: ``person[first[i] : first[i + 1]]`` have pattern i, each with a weight and its rows."""

    first: Ints
    person: Ints
    weight: Floats
    rows: Floats


def frequencies(codes: Small, counts: Floats, reading: Reading = "wildcard", alpha: float = 1.0) -> Floats:
    r"""Frequency of every distinct pattern, ``-1`` being a missing value.

    With :math:`n_q` the count (records, persons or weights) of pattern q and :math:`p \sim q` for compatible
    patterns, C the complete and I the incomplete ones,

    .. math:: f_p = n_p + \sum_{q \in C,\, q \sim p} n_q + a \sum_{q \in I,\, q \sim p} n_q

    - ``wildcard``: a = 1, a missing value stands for anything, in both directions;
    - ``conservative``: a = 0, an incomplete record may be any compatible complete one but protects none;
    - ``alpha``: a = alpha as in sdcMicro, where the pattern with nothing observed adds nothing to complete
      ones (in ``wildcard`` it does). With alpha = 0 it is the conservative reading.

    The pattern with nothing observed has the frequency of the whole table in each reading. The patterns must
    be distinct; one group-by makes them.

    Fails with ParameterError when the shapes do not fit, alpha is outside [0, 1] or the reading is unknown.

    References: Templ, Kowarik & Meindl (2015), sdcMicro.

    >>> patterns = np.array([[0, 0], [0, -1], [1, 1]], dtype=np.int32)
    >>> frequencies(patterns, np.array([2.0, 1.0, 3.0]), "wildcard")
    array([3., 3., 3.])
    >>> frequencies(patterns, np.array([2.0, 1.0, 3.0]), "conservative")
    array([2., 3., 3.])
    """
    codes, counts = np.ascontiguousarray(codes, dtype=np.int32), np.ascontiguousarray(counts, dtype=np.float64)
    if codes.ndim != 2 or counts.shape != (codes.shape[0],):
        raise ParameterError(
            f"frequencies: codes must be patterns × columns and counts one number per pattern, "
            f"got shapes {codes.shape} and {counts.shape}."
        )
    share = _share(reading, alpha)
    missing = codes < 0
    result = counts.copy()
    if missing.any():
        order, start, observed = _by_mask(missing)
        everywhere = reading == "wildcard" or share == 0.0
        result[order] = _match_masks(codes[order], counts[order], start, observed, share, everywhere)
    result[missing.all(axis=1)] = counts.sum()
    return result


def person_frequencies(
    codes: Small,
    pattern: Ints,
    person: Ints,
    reading: Reading = "wildcard",
    alpha: float = 1.0,
    weights: tuple[Floats, Floats] | None = None,
) -> Floats:
    r"""Frequency of every distinct pattern in persons, of whom each may have several patterns.

    .. math:: f_p = \sum_u \max_{q \sim p,\, u \in q} a_{pq}

    with :math:`a_{pq}` the part of a compatible pattern q that counts for p: 1 for p itself and for complete patterns,
    a (see :func:`frequencies`) for incomplete ones. A person counts once however many of her patterns are compatible.

    ``pattern`` and ``person`` number the distinct pairs of them. ``weights`` gives the sum of the sampling weights and
    the number of rows of each pair: a person then counts with the mean weight of her rows that count.

    Persons with one pattern are added up as records are. For the others each pattern looks up the compatible ones
    and notes whom it has seen: the time grows with the pairs of patterns and persons that are compatible, the memory
    with the patterns and persons.

    >>> patterns = np.array([[0, 0], [0, -1]], dtype=np.int32)
    >>> person_frequencies(patterns, np.array([0, 1, 1]), np.array([0, 0, 1]), "wildcard")
    array([2., 2.])
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    n = len(codes)
    weight, rows = weights if weights is not None else (np.ones(len(person)), np.ones(len(person)))
    several = np.bincount(person)[person] > 1 if len(person) else np.zeros(0, dtype=np.bool_)
    alone = ~several
    counts = np.bincount(pattern[alone], weights=weight[alone] / rows[alone], minlength=n).astype(np.float64)
    result = frequencies(codes, counts, reading, alpha)
    if not several.any():
        return result
    missing = codes < 0
    share = _share(reading, alpha)
    order, start, observed = _by_mask(missing)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    held = np.flatnonzero(several)
    held = held[np.argsort(place[pattern[held]], kind="stable")]
    _, who = np.unique(person[held], return_inverse=True)
    first = np.concatenate(([0], np.cumsum(np.bincount(place[pattern[held]], minlength=n)))).astype(np.int64)
    everywhere = reading == "wildcard" or share == 0.0
    holders = Holders(first, who.astype(np.int64), weight[held], rows[held])
    result[order] += _match_persons(codes[order], start, observed, share, everywhere, holders)
    total = np.bincount(who, weights=weight[held]) / np.bincount(who, weights=rows[held])
    result[missing.all(axis=1)] = counts.sum() + total.sum()
    return result


def _share(reading: Reading, alpha: float) -> float:
    """Return the part of an incomplete pattern that counts for the compatible ones."""
    if reading not in ("wildcard", "conservative", "alpha"):
        raise ParameterError(
            f"frequencies: no reading of missing values named {reading!r}. There are: wildcard, conservative, alpha."
        )
    if reading == "alpha" and not (math.isfinite(alpha) and 0.0 <= alpha <= 1.0):
        raise ParameterError(f"frequencies: alpha must be in [0, 1], got {alpha}.")
    return {"wildcard": 1.0, "conservative": 0.0, "alpha": float(alpha)}[reading]


def _by_mask(missing: Flags) -> tuple[NDArray[np.intp], Ints, Flags]:
    """Return the patterns in the order of their missingness masks, where each mask starts, and what each observes."""
    mask_of, observed = _masks(missing)
    start = np.concatenate(([0], np.cumsum(np.bincount(mask_of, minlength=len(observed))))).astype(np.int64)
    return np.argsort(mask_of, kind="stable"), start, observed


def _masks(missing: Flags) -> tuple[Ints, Flags]:
    """Return the number of the missingness mask of every pattern, and the observed columns of every mask."""
    packed = np.ascontiguousarray(np.packbits(missing, axis=1))
    width = packed.shape[1]
    if width <= 8:
        whole = np.zeros((len(packed), 8), dtype=np.uint8)
        whole[:, :width] = packed
        _, first, mask_of = np.unique(whole.view(np.uint64), return_index=True, return_inverse=True)
    else:
        _, first, mask_of = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return mask_of.astype(np.int64).ravel(), ~missing[first]


@jit()
def _match_weight(giver: Flags, taker: Flags, share: float, empty_counts: bool) -> float:
    """Return the weight with which ``giver`` is counted in the frequency of a compatible ``taker``.

    Both are masks of observed columns. The weight is 1 for a complete giver and ``share`` for an incomplete one.
    """
    if not empty_counts and taker.all() and not giver.any():
        return 0.0  # sdcMicro: nothing observed adds nothing to complete patterns
    return 1.0 if giver.all() else share


@jit()
def _match_masks(
    codes: Small, counts: Floats, start: Ints, observed: Flags, share: float, empty_counts: bool
) -> Floats:
    """Add up compatible patterns, pair of masks by pair of masks; patterns are sorted by mask."""
    n_masks, m = observed.shape
    result = counts.copy()
    both = np.empty(m, dtype=np.int64)
    # one hash table for all pairs: a slot belongs to the current pair when its stamp says so
    largest_small = 1
    for a in range(n_masks):
        for b in range(a + 1, n_masks):
            small = min(start[a + 1] - start[a], start[b + 1] - start[b])
            largest_small = max(largest_small, small)
    size = 4
    while size < 2 * largest_small:
        size *= 2
    stamp = np.zeros(size, dtype=np.int64)
    head = np.empty(size, dtype=np.int64)
    sum_small = np.empty(size)
    sum_large = np.empty(size)
    slot_of = np.empty(largest_small, dtype=np.int64)
    turn = 0
    for a in range(n_masks):
        for b in range(a + 1, n_masks):
            s, t = a, b
            if start[a + 1] - start[a] > start[b + 1] - start[b]:
                s, t = b, a
            to_s = _match_weight(observed[t], observed[s], share, empty_counts)
            to_t = _match_weight(observed[s], observed[t], share, empty_counts)
            if to_s == 0.0 and to_t == 0.0:
                continue
            n_both = 0
            for j in range(m):
                if observed[s, j] and observed[t, j]:
                    both[n_both] = j
                    n_both += 1
            columns = both[:n_both]
            turn += 1
            room = 4
            while room < 2 * (start[s + 1] - start[s]):
                room *= 2
            for i in range(start[s], start[s + 1]):
                at = slot_of_row(codes, i, columns, stamp, head, turn, room)
                if stamp[at] != turn:
                    stamp[at] = turn
                    head[at] = i
                    sum_small[at] = 0.0
                    sum_large[at] = 0.0
                sum_small[at] += counts[i]
                slot_of[i - start[s]] = at
            for i in range(start[t], start[t + 1]):
                at = slot_of_row(codes, i, columns, stamp, head, turn, room)
                if stamp[at] == turn:
                    sum_large[at] += counts[i]
                    result[i] += to_t * sum_small[at]
            for i in range(start[s], start[s + 1]):
                result[i] += to_s * sum_large[slot_of[i - start[s]]]
    return result


@jit()
def _match_persons(
    codes: Small,
    start: Ints,
    observed: Flags,
    share: float,
    empty_counts: bool,
    holders: Holders,
) -> Floats:
    """Persons of the compatible patterns, each once."""
    first, person, weight, rows = holders
    n_masks, m = observed.shape
    n = codes.shape[0]
    persons = person.max() + 1
    result = np.zeros(n)
    seen = np.full(persons, -1, np.int64)
    given = np.zeros(persons)
    weighed = np.zeros(persons)
    counted = np.zeros(persons)
    touched = np.empty(persons, np.int64)
    # one hash table per mask, on the columns that it shares with the mask in turn; patterns of a slot are chained
    room = np.empty(n_masks, np.int64)
    begin = np.empty(n_masks, np.int64)
    size = 0
    for t in range(n_masks):
        room[t] = 4
        while room[t] < 2 * (start[t + 1] - start[t]):
            room[t] *= 2
        begin[t] = size
        size += room[t]
    stamp = np.full(size, -1, np.int64)
    head = np.empty(size, np.int64)
    following = np.empty(n, np.int64)
    both = np.empty((n_masks, m), np.int64)
    n_both = np.zeros(n_masks, np.int64)
    for s in range(n_masks):
        for t in range(n_masks):
            n_both[t] = 0
            for j in range(m):
                if observed[s, j] and observed[t, j]:
                    both[t, n_both[t]] = j
                    n_both[t] += 1
            if t == s or _match_weight(observed[t], observed[s], share, empty_counts) == 0.0:
                continue
            marks, heads = stamp[begin[t] : begin[t] + room[t]], head[begin[t] : begin[t] + room[t]]
            for i in range(start[t], start[t + 1]):
                if first[i] < first[i + 1]:
                    _chain(codes, i, both[t, : n_both[t]], marks, heads, following, s)
        for q in range(start[s], start[s + 1]):
            n_touched = 0
            for t in range(n_masks):
                part = 1.0 if t == s else _match_weight(observed[t], observed[s], share, empty_counts)
                if part == 0.0:
                    continue
                i = q
                if t != s:
                    marks, heads = stamp[begin[t] : begin[t] + room[t]], head[begin[t] : begin[t] + room[t]]
                    at = slot_of_row(codes, q, both[t, : n_both[t]], marks, heads, s, room[t])
                    if marks[at] != s:
                        continue
                    i = heads[at]
                while i >= 0:
                    for k in range(first[i], first[i + 1]):
                        u = person[k]
                        if seen[u] != q:
                            seen[u] = q
                            touched[n_touched] = u
                            n_touched += 1
                            given[u] = weighed[u] = counted[u] = 0.0
                        given[u] = max(given[u], part)
                        weighed[u] += weight[k]
                        counted[u] += rows[k]
                    i = following[i] if t != s else -1
            for k in range(n_touched):
                u = touched[k]
                result[q] += given[u] * weighed[u] / counted[u]
    return result


@jit()
def _chain(codes: Small, i: int, both: Ints, stamp: Ints, head: Ints, following: Ints, turn: int) -> None:
    """Put pattern i into its slot, behind the one that is there."""
    at = slot_of_row(codes, i, both, stamp, head, turn, stamp.shape[0])
    following[i] = -1
    if stamp[at] == turn:
        following[i] = following[head[at]]
        following[head[at]] = i
    else:
        stamp[at] = turn
        head[at] = i
