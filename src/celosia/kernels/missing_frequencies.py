"""Frequencies of patterns when some of their values are missing.

Two patterns are *compatible* when they are equal wherever both are observed. Compatibility is not transitive,
so these are frequencies per pattern, not sizes of classes. The work is done per pair of missingness masks:
patterns of two masks are matched on the columns that both observe, by a hash table built on the smaller side.
A table of P patterns with M masks costs about M · P steps, never P².
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.errors import ParameterError
from celosia.kernels.compiled import compiled

Reading = Literal["wildcard", "conservative", "alpha"]


def frequencies(
    codes: NDArray[np.int32], counts: NDArray[np.float64], reading: Reading = "wildcard", alpha: float = 1.0
) -> NDArray[np.float64]:
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
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    counts = np.ascontiguousarray(counts, dtype=np.float64)
    if codes.ndim != 2 or counts.shape != (codes.shape[0],):
        raise ParameterError(
            f"frequencies: codes must be patterns × columns and counts one number per pattern, "
            f"got shapes {codes.shape} and {counts.shape}."
        )
    if reading not in ("wildcard", "conservative", "alpha"):
        raise ParameterError(
            f"frequencies: no reading of missing values named {reading!r}. There are: wildcard, conservative, alpha."
        )
    if reading == "alpha" and not (math.isfinite(alpha) and 0.0 <= alpha <= 1.0):
        raise ParameterError(f"frequencies: alpha must be in [0, 1], got {alpha}.")
    if codes.shape[1] == 0:
        return np.full(codes.shape[0], counts.sum())
    missing = codes < 0
    if not missing.any():
        return counts.copy()
    share = {"wildcard": 1.0, "conservative": 0.0, "alpha": float(alpha)}[reading]
    mask_of, observed = _masks(missing)
    order = np.argsort(mask_of, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(mask_of, minlength=len(observed))))).astype(np.int64)
    sorted_codes = codes[order]
    result = np.empty(len(counts))
    result[order] = _match_masks(
        sorted_codes, counts[order], start, observed, share, reading == "wildcard" or share == 0.0
    )
    nothing_observed = missing.all(axis=1)
    result[nothing_observed] = counts.sum()
    return result


def _masks(missing: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Number of the missingness mask of every pattern, and the observed columns of every mask."""
    packed = np.ascontiguousarray(np.packbits(missing, axis=1))
    width = packed.shape[1]
    if width <= 8:
        whole = np.zeros((len(packed), 8), dtype=np.uint8)
        whole[:, :width] = packed
        _, first, mask_of = np.unique(whole.view(np.uint64), return_index=True, return_inverse=True)
    else:
        _, first, mask_of = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return mask_of.astype(np.int64).ravel(), ~missing[first]


@compiled()
def _given(giver: NDArray[np.bool_], taker: NDArray[np.bool_], share: float, empty_counts: bool) -> float:
    """The part of a pattern that a compatible one receives, by the observed columns of the two."""
    if not empty_counts and taker.all() and not giver.any():
        return 0.0  # sdcMicro: nothing observed adds nothing to complete patterns
    return 1.0 if giver.all() else share


@compiled()
def _match_masks(
    codes: NDArray[np.int32],
    counts: NDArray[np.float64],
    start: NDArray[np.int64],
    observed: NDArray[np.bool_],
    share: float,
    empty_counts: bool,
) -> NDArray[np.float64]:
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
            to_s = _given(observed[t], observed[s], share, empty_counts)
            to_t = _given(observed[s], observed[t], share, empty_counts)
            if to_s == 0.0 and to_t == 0.0:
                continue
            n_both = 0
            for j in range(m):
                if observed[s, j] and observed[t, j]:
                    both[n_both] = j
                    n_both += 1
            turn += 1
            room = 4
            while room < 2 * (start[s + 1] - start[s]):
                room *= 2
            for i in range(start[s], start[s + 1]):
                at = _find(codes, i, both, n_both, stamp, head, turn, room)
                if stamp[at] != turn:
                    stamp[at] = turn
                    head[at] = i
                    sum_small[at] = 0.0
                    sum_large[at] = 0.0
                sum_small[at] += counts[i]
                slot_of[i - start[s]] = at
            for i in range(start[t], start[t + 1]):
                at = _find(codes, i, both, n_both, stamp, head, turn, room)
                if stamp[at] == turn:
                    sum_large[at] += counts[i]
                    result[i] += to_t * sum_small[at]
            for i in range(start[s], start[s + 1]):
                result[i] += to_s * sum_large[slot_of[i - start[s]]]
    return result


@compiled()
def _find(
    codes: NDArray[np.int32],
    i: int,
    both: NDArray[np.int64],
    n_both: int,
    stamp: NDArray[np.int64],
    head: NDArray[np.int64],
    turn: int,
    room: int,
) -> int:
    """Slot of pattern i on the shared columns: the one that holds it, or the free one where it belongs."""
    # 32-bit multiply-xor steps: products stay below 2^63, so that plain Python runs the same arithmetic
    h = 2166136261
    for c in range(n_both):
        h = ((h ^ (int(codes[i, both[c]]) + 1)) * 16777619) & 0xFFFFFFFF
    h ^= h >> 15
    at = h & (room - 1)
    while stamp[at] == turn:
        same = True
        for c in range(n_both):
            if codes[head[at], both[c]] != codes[i, both[c]]:
                same = False
                break
        if same:
            return at
        at = (at + 1) & (room - 1)
    return at
