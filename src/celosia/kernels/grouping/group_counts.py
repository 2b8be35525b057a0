"""Counts of values per group, for records that are sorted by group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit


@jit()
def value_counts(
    begin: NDArray[np.int64], records: NDArray[np.int64], code: NDArray[np.int32], width: int, person: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Count the values of one column in each group, as compressed rows with ascending values.

    Group ``g`` holds ``records[begin[g]:begin[g + 1]]``. With ``person`` (empty: none) a value that a person
    has on several records counts once. Returns the starts of the groups' entries, the values and their
    counts.
    """
    groups = begin.size - 1
    start = np.zeros(groups + 1, np.int64)
    value = np.empty(records.size, np.int32)
    count = np.empty(records.size, np.int64)
    tally = np.zeros(width, np.int64)
    used = 0
    for g in range(groups):
        members = records[begin[g] : begin[g + 1]]
        first = used
        if person.size > 0:
            pairs = np.empty(members.size, np.int64)
            for i in range(members.size):
                pairs[i] = np.int64(person[members[i]]) * width + code[members[i]]
            pairs.sort()
            for i in range(members.size):
                if i > 0 and pairs[i] == pairs[i - 1]:
                    continue
                c = pairs[i] % width
                if tally[c] == 0:
                    value[used] = c
                    used += 1
                tally[c] += 1
        else:
            for i in range(members.size):
                c = np.int64(code[members[i]])
                if tally[c] == 0:
                    value[used] = c
                    used += 1
                tally[c] += 1
        ordered = np.sort(value[first:used])
        for i in range(ordered.size):
            value[first + i] = ordered[i]
            count[first + i] = tally[ordered[i]]
            tally[ordered[i]] = 0
        start[g + 1] = used
    return start, value[:used].copy(), count[:used].copy()


@jit()
def group_sizes(begin: NDArray[np.int64], records: NDArray[np.int64], person: NDArray[np.int32]) -> NDArray[np.int64]:
    """Count the records of each group, or its distinct persons."""
    size = np.empty(begin.size - 1, np.int64)
    seen = np.full(person.max() + 1 if person.size > 0 else 1, -1, np.int64)
    for g in range(size.size):
        size[g] = begin[g + 1] - begin[g]
        if person.size > 0:
            size[g] = 0
            for i in range(begin[g], begin[g + 1]):
                p = person[records[i]]
                if seen[p] != g:
                    seen[p] = g
                    size[g] += 1
    return size


@jit()
def tally(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each number below ``size`` occurs, and where first (-1: nowhere).

    >>> tally(np.array([2, 0, 2]), 3)
    (array([1, 0, 2]), array([ 1, -1,  0]))
    """
    count = np.zeros(size, np.int64)
    first = np.full(size, -1, np.int64)
    for i in range(key.size):
        if count[key[i]] == 0:
            first[key[i]] = i
        count[key[i]] += 1
    return count, first


@jit()
def counting_order(key: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the positions that sort numbers below ``size``, equal ones in their order: a stable argsort by counting.

    >>> counting_order(np.array([2, 0, 2, 1]), 3)
    array([1, 3, 0, 2])
    """
    start = np.zeros(size + 1, np.int64)
    for i in range(key.size):
        start[key[i] + 1] += 1
    for c in range(size):
        start[c + 1] += start[c]
    order = np.empty(key.size, np.int64)
    for i in range(key.size):
        order[start[key[i]]] = i
        start[key[i]] += 1
    return order
