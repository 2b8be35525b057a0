"""Groups of records with different sensitive values: Xiao and Tao's bucketisation, and parts for persons."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit


@jit()
def bucketise(code: NDArray[np.int32], order: NDArray[np.int64], width: int, l: int) -> NDArray[np.int64]:
    """Put the records into groups of ``l`` different values each, the few left over into groups that lack
    their value.

    Always one record of each of the ``l`` fullest buckets makes a group, records within a bucket in the given
    (random) ``order``. No value may have more than 1/l of the records. Returns the group of each record.
    """
    n = code.size
    count = np.zeros(width + 1, np.int64)
    for i in range(n):
        count[code[i] + 1] += 1
    begin = np.cumsum(count)
    members = np.empty(n, np.int64)
    fill = begin[:-1].copy()
    for i in order:
        members[fill[code[i]]] = i
        fill[code[i]] += 1
    left = count[1:].copy()
    queue = [(0, 0)]
    queue.pop()
    for v in range(width):
        if left[v] > 0:
            queue.append((-left[v], v))  # noqa: PERF401
    heapq.heapify(queue)
    group = np.full(n, -1, np.int64)
    groups = 0
    taken = np.empty(l, np.int64)
    while len(queue) >= l:
        for j in range(l):
            taken[j] = heapq.heappop(queue)[1]
        for j in range(l):
            v = taken[j]
            left[v] -= 1
            group[members[begin[v] + left[v]]] = groups
            if left[v] > 0:
                heapq.heappush(queue, (-left[v], v))
        groups += 1
    # at most l - 1 values are left, each with one record; it goes to the next group without its value
    holds = np.zeros((len(queue), max(groups, 1)), np.bool_)
    slot = np.full(width, -1, np.int64)
    for j in range(len(queue)):
        slot[queue[j][1]] = j
    for i in range(n):
        if group[i] >= 0 and slot[code[i]] >= 0:
            holds[slot[code[i]], group[i]] = True
    at = 0
    for j in range(len(queue)):
        v = queue[j][1]
        while left[v] > 0:
            left[v] -= 1
            steps = 0
            while holds[j, at] and steps < groups:
                at = (at + 1) % groups
                steps += 1
            holds[j, at] = True
            group[members[begin[v] + left[v]]] = at
            at = (at + 1) % groups
    return group


@jit()
def deal(
    order: NDArray[np.int64], person: NDArray[np.int32], codes: NDArray[np.int64], width: int, parts: int
) -> NDArray[np.int64]:
    """Deal the records out to ``parts`` so that no part has two records of a person.

    ``order`` lists the records person by person, nobody with more records than there are parts. ``codes`` has a row
    per counted column, with values below ``width`` that no two columns share. A record goes to the part that has its
    values least often, then to the smallest. Returns the part of each record.
    """
    part = np.empty(order.size, np.int64)
    held = np.zeros((parts, width), np.int64)
    size = np.zeros(parts, np.int64)
    last = np.full(parts, -1, np.int64)  # the last person who came to a part
    for i in order:
        best, fewest = -1, 0
        for p in range(parts):
            if last[p] == person[i]:
                continue
            alike = 0
            for j in range(codes.shape[0]):
                alike += held[p, codes[j, i]]
            if best < 0 or alike < fewest or (alike == fewest and size[p] < size[best]):
                best, fewest = p, alike
        part[i] = best
        last[best] = person[i]
        size[best] += 1
        for j in range(codes.shape[0]):
            held[best, codes[j, i]] += 1
    return part
