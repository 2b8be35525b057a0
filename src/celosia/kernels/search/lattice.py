"""Grouping of packed keys: the inner loop of a search over hierarchy levels.

A record's quasi-identifiers are packed into one or more 64-bit words, a field of bits per column. Generalising a
column replaces its field through a small map; grouping counts equal keys with a hash table. A coarser node is
grouped from the classes of any finer one, not from the records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Floats = NDArray[np.float64]

# Multiplicative hashing (Knuth, 6.4) of 32-bit halves: the products fit into 64 bits, so nothing wraps round.
LOW = np.uint64(0xFFFFFFFF)
GOLDEN = np.uint64(0x9E3779B1)  # 2^32 / golden ratio, a prime near it
PRIME = np.uint64(0x85EBCA77)
HALF = np.uint64(32)
QUARTER = np.uint64(16)
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)  # no key: a layout of one word leaves its highest bit free
ONE = np.uint64(1)


@jit()
def pack(codes: Small, word: Small, shift: NDArray[np.uint64], words: int) -> Keys:
    """Pack each row of codes (n × m) into ``words`` 64-bit words."""
    n, m = codes.shape
    keys = np.zeros((n, words), dtype=np.uint64)
    for i in range(n):
        for j in range(m):
            keys[i, word[j]] |= np.uint64(codes[i, j]) << shift[j]
    return keys


@jit()
def unpack(keys: Keys, word: Small, shift: NDArray[np.uint64], mask: NDArray[np.uint64]) -> Small:
    """Return the codes (n × m) of packed keys."""
    n = keys.shape[0]
    m = len(word)
    codes = np.empty((n, m), dtype=np.int32)
    for i in range(n):
        for j in range(m):
            codes[i, j] = np.int32((keys[i, word[j]] >> shift[j]) & mask[j])
    return codes


@jit()
def unpack_columns(keys: Keys, word: Small, shift: NDArray[np.uint64], mask: NDArray[np.uint64]) -> Small:
    """Return the codes of packed keys, column by column (m × n)."""
    n = keys.shape[0]
    codes = np.empty((len(word), n), dtype=np.int32)
    for j in range(len(word)):
        w, s, m = word[j], shift[j], mask[j]
        for i in range(n):
            codes[j, i] = np.int32((keys[i, w] >> s) & m)
    return codes


@jit()
def roll_up(
    keys: Keys,
    sums: Ints,
    peak: Ints,
    word: Small,
    shift: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    offset: Ints,
    steps: Small,
    slots: Small,
    out_keys: Keys,
    out_sums: Ints,
    out_peak: Ints,
    group: Small,
) -> int:
    """Generalise the columns with ``offset >= 0`` and group equal keys; give the number of groups.

    Column *j* takes code *g* to ``steps[offset[j] + g]``. Writes into the arrays given (memory that is asked for
    anew at each of thousands of calls would cost more than the grouping): the distinct keys in order of first
    occurrence, the column sums of ``sums`` and the maximum of ``peak`` (may be empty) per key, the group of each row.
    ``slots`` must be twice as long as there are rows, rounded up to a power of two, at least 16. The arrays come one
    by one: putting them into tuples costs more at each of those calls than grouping a small table.
    """
    rows, words = keys.shape
    width = sums.shape[1]
    m = len(word)
    changed = np.empty(m, dtype=np.int64)
    n_changed = 0
    for j in range(m):
        if offset[j] >= 0:
            changed[n_changed] = j
            n_changed += 1
    bits = 4
    while (1 << bits) < 2 * rows:
        bits += 1
    last = np.int64((1 << bits) - 1)
    down = np.uint64(32 - bits)
    for i in range(1 << bits):
        slots[i] = -1
    with_peak = len(peak) > 0
    groups = 0
    key = np.empty(words, dtype=np.uint64)
    for r in range(rows):
        x = keys[r, 0]
        if words == 1:  # the usual case: the key stays in a register
            for c in range(n_changed):
                j = changed[c]
                s = shift[j]
                code = np.int64((x >> s) & mask[j])
                x = (x & ~(mask[j] << s)) | (np.uint64(steps[offset[j] + code]) << s)
            h = ((x & LOW) * GOLDEN ^ (x >> HALF) * PRIME) & LOW
        else:
            for w in range(words):
                key[w] = keys[r, w]
            for c in range(n_changed):
                j = changed[c]
                s = shift[j]
                x = key[word[j]]
                code = np.int64((x >> s) & mask[j])
                key[word[j]] = (x & ~(mask[j] << s)) | (np.uint64(steps[offset[j] + code]) << s)
            x = key[0]
            h = ((x & LOW) * GOLDEN ^ (x >> HALF) * PRIME) & LOW
            for w in range(1, words):
                h = (h ^ (h >> QUARTER)) * PRIME & LOW
                h = (h ^ (key[w] & LOW) * GOLDEN ^ (key[w] >> HALF) * PRIME) & LOW
        slot = np.int64((((h ^ (h >> QUARTER)) * GOLDEN) & LOW) >> down)
        while True:
            g = slots[slot]
            if g < 0:
                g = groups
                slots[slot] = g
                out_keys[g, 0] = x
                for w in range(1, words):
                    out_keys[g, w] = key[w]
                for a in range(width):
                    out_sums[g, a] = sums[r, a]
                if with_peak:
                    out_peak[g] = peak[r]
                groups += 1
                break
            same = out_keys[g, 0] == x
            for w in range(1, words):
                same = same and out_keys[g, w] == key[w]
            if same:
                for a in range(width):
                    out_sums[g, a] += sums[r, a]
                if with_peak and peak[r] > out_peak[g]:
                    out_peak[g] = peak[r]
                break
            slot = (slot + 1) & last
        group[r] = g
    return groups


@jit()
def _merge_in_table(
    start: Ints, value: Small, count: Ints, group: Small, groups: int, width: int
) -> tuple[Ints, Small, Ints]:
    """Sum the value counts of the rows of each group, by a dense table of groups × values.

    Returned as compressed rows: where each group starts, its values, their counts.
    """
    full = np.zeros((groups, width), dtype=np.int64)
    for r in range(len(group)):
        g = group[r]
        for e in range(start[r], start[r + 1]):
            full[g, value[e]] += count[e]
    room = min(len(value), groups * width) + 1
    out_start = np.zeros(groups + 1, dtype=np.int64)
    out_value = np.empty(room, dtype=np.int32)
    out_count = np.empty(room, dtype=np.int64)
    used = 0
    for g in range(groups):
        for v in range(width):  # written in any case: whether a value occurs cannot be predicted
            c = full[g, v]
            out_value[used] = v
            out_count[used] = c
            used += c > 0
        out_start[g + 1] = used
    return out_start, out_value[:used].copy(), out_count[:used].copy()


@jit()
def _by_group(group: Small, groups: int) -> tuple[Ints, Ints]:
    """Return the rows in the order of their groups, and where each group begins."""
    rows = len(group)
    begin = np.zeros(groups + 1, dtype=np.int64)
    for r in range(rows):
        begin[group[r] + 1] += 1
    for g in range(groups):
        begin[g + 1] += begin[g]
    place = begin[:-1].copy()
    order = np.empty(rows, dtype=np.int64)
    for r in range(rows):
        g = group[r]
        order[place[g]] = r
        place[g] += 1
    return order, begin


@jit()
def roll_up_word(
    keys: Keys,
    sums: Ints,
    shift: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    offset: Ints,
    steps: Small,
    slot_key: NDArray[np.uint64],
    slot_group: Small,
    work: NDArray[np.uint64],
    out_keys: Keys,
    out_sums: Ints,
    group: Small,
) -> int:
    """Do the same as :func:`roll_up` for the usual case: one word whose highest bit is free, one sum, no peak.

    Columns are generalised one after the other (simple loops over all rows), and what is written for a row does not
    depend on whether its key is new: a branch that nobody can predict costs more than everything else.
    """
    rows = len(keys)
    _generalise(keys, shift, mask, offset, steps, work)
    bits = np.uint64(4)
    while (1 << bits) < 2 * rows:
        bits += ONE
    last = np.uint64((1 << bits) - 1)
    down = HALF - bits
    for i in range(1 << bits):
        slot_key[i] = EMPTY
    for i in range(rows):
        out_sums[i, 0] = 0
    groups = np.uint64(0)
    for r in range(rows):
        x = work[r]
        slot = (((x & LOW) * GOLDEN ^ (x >> HALF) * PRIME) & LOW) >> down
        there = slot_key[slot]
        while (there != x) & (there != EMPTY):
            slot = (slot + ONE) & last
            there = slot_key[slot]
        fresh = there == EMPTY
        earlier = np.uint64(slot_group[slot])
        g = groups if fresh else earlier
        slot_key[slot] = x
        slot_group[slot] = np.int32(g)
        out_keys[groups, 0] = x
        out_sums[g, 0] += sums[r, 0]
        group[r] = np.int32(g)
        groups += np.uint64(fresh)
    return int(groups)


@jit()
def _generalise(
    keys: Keys,
    shift: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    offset: Ints,
    steps: Small,
    work: NDArray[np.uint64],
) -> None:
    rows = len(keys)
    for r in range(rows):
        work[r] = keys[r, 0]
    for j in range(len(offset)):
        if offset[j] >= 0:
            s, m, o = shift[j], mask[j], np.uint64(offset[j])
            others = ~(m << s)
            for r in range(rows):
                x = work[r]
                work[r] = (x & others) | (np.uint64(steps[o + ((x >> s) & m)]) << s)


@jit()
def merge_values(
    start: Ints, value: Small, count: Ints, group: Small, groups: int, width: int
) -> tuple[Ints, Small, Ints]:
    """Add up value counts (compressed rows) of the rows of each group; values ascend within a group."""
    if groups * width <= 8 * len(value) + 4096:  # few values: a full table is quicker than sorting rows by group
        return _merge_in_table(start, value, count, group, groups, width)
    order, begin = _by_group(group, groups)
    total = np.zeros(width, dtype=np.int64)
    touched = np.empty(width, dtype=np.int32)
    out_start = np.zeros(groups + 1, dtype=np.int64)
    out_value = np.empty(len(value), dtype=np.int32)
    out_count = np.empty(len(value), dtype=np.int64)
    used = 0
    for g in range(groups):
        n_touched = 0
        for p in range(begin[g], begin[g + 1]):
            r = order[p]
            for e in range(start[r], start[r + 1]):
                v = value[e]
                if total[v] == 0:
                    touched[n_touched] = v
                    n_touched += 1
                total[v] += count[e]
        if n_touched * 8 > width:  # a scan over all values is cheaper than a sort of the many that occur
            for v in range(width):
                if total[v] > 0:
                    out_value[used] = v
                    out_count[used] = total[v]
                    total[v] = 0
                    used += 1
        else:
            for v in np.sort(touched[:n_touched]):
                out_value[used] = v
                out_count[used] = total[v]
                total[v] = 0
                used += 1
        out_start[g + 1] = used
    return out_start, out_value[:used].copy(), out_count[:used].copy()


@jit()
def large_classes(sums: Ints, least: int, large: NDArray[np.bool_], lost: Ints) -> tuple[int, int]:
    """Mark the classes with so many records, copy the records of the others; give how many classes and records."""
    several = 0
    gone = 0
    for r in range(len(sums)):
        size = sums[r, 0]
        enough = size >= least
        large[r] = enough
        lost[r] = 0 if enough else size
        several += enough
        gone += lost[r]
    return several, gone


@jit()
def suppressed_counts(
    keys: Keys,
    lost: Ints,
    word: Small,
    shift: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    count: Ints,
) -> None:
    """Count the lost records of the classes, by column and generalised code, into ``count``."""
    m = len(word)
    count[:] = 0
    rows = np.empty(len(lost) + 1, dtype=np.int64)
    some = 0
    for r in range(len(lost)):  # written in any case: whether a class is lost cannot be predicted
        rows[some] = r
        some += lost[r] > 0
    for i in range(some):
        r = rows[i]
        gone = lost[r]
        for j in range(m):
            count[j, (keys[r, word[j]] >> shift[j]) & mask[j]] += gone


@jit()
def suppressed_cost(count: Ints, levels: Small, extra: Floats, offset: Ints, spread: Floats, out: Floats) -> None:
    r"""Return for each column and each level up to the node's what the suppressed records add at least.

    .. math:: \sum_g c_g\, extra[offset_{jl} + g] + spread_j \sum_g c_g \log_2 (C / c_g), \quad C = \sum_g c_g

    with :math:`c_g` the suppressed records of generalised value *g* of the node, and ``extra`` the least that a
    suppressed record below *g* adds at level *l*. An empty ``extra`` or ``spread`` counts as 0.
    """
    m, widest = count.shape
    for j in range(m):
        bits = 0.0
        if len(spread) > 0:
            total = 0
            for g in range(widest):
                total += count[j, g]
            for g in range(widest):
                if count[j, g] > 0:
                    bits += count[j, g] * np.log2(total / count[j, g])
            bits *= spread[j]
        for level in range(levels[j] + 1):
            add = bits
            if len(extra) > 0:
                at = offset[j, levels[j], level]
                for g in range(widest):
                    if count[j, g] > 0:
                        add += count[j, g] * extra[at + g]
            out[j, level] = add
