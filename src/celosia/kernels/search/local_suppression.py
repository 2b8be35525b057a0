"""Which records lose which cells, where a blank matches anything and so one record can help many.

The kernel sees *places*: a place is one published pattern (some columns blanked), an *entry* one pattern of
the data that may move there at a cost. Entries of a place are consecutive, ``start[g]`` to ``start[g + 1]``.
It makes the move that saves most per cost, again and again; scores are kept in a heap and renewed when they
are popped, which is right because a score only gets worse as records are saved elsewhere.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Moves(NamedTuple):
    """Which pattern may move to which place, and at what cost: place by place, and the entries of each pattern."""

    start: Ints
    pattern: Ints
    cost: Floats
    of_pattern: Ints
    """Where the entries of each pattern begin in ``place_at``."""
    place_at: Ints


@jit()
def cover(moves: Moves, able: NDArray[np.bool_], count: Ints, lack: Ints) -> Ints:
    """Choose moves so that every lacking pattern has moved or is helped often enough, a missing value
    standing for anything.

    A record of pattern ``p`` that moves to a place is saved (``able``: it is, by itself) and becomes one more
    match for every other pattern with an entry there. ``count[p]`` records each lack ``lack[p]`` matches.
    Returns how many records move by each entry.

    Greedy, then every move that turned out not to be needed is taken back, latest and dearest first.
    """
    start, pattern, cost, of_pattern, place_at = moves
    patterns = count.size
    moved = np.zeros(pattern.size, np.int64)
    place = np.empty(pattern.size, np.int64)
    for g in range(start.size - 1):
        place[start[g] : start[g + 1]] = g
    stay = count.copy()  # records that have not moved
    help_ = np.zeros(patterns, np.int64)
    need = np.zeros(start.size - 1, np.int64)  # records at each place that still lack
    for e in range(pattern.size):
        need[place[e]] += count[pattern[e]]
    queue = [(0.0, 0, 0)]
    queue.pop()
    for e in range(pattern.size):
        if able[e]:
            p = pattern[e]
            queue.append((-(lack[p] + need[place[e]] - stay[p]) / cost[e], e, 0))
    heapq.heapify(queue)
    taken = np.empty(count.sum(), np.int64)
    steps = 0
    while len(queue) > 0:
        score, e, _ = heapq.heappop(queue)
        p = pattern[e]
        if stay[p] == 0 or help_[p] >= lack[p]:
            continue
        g = place[e]
        now = -(lack[p] - help_[p] + need[g] - stay[p]) / cost[e]
        if now > score + 1e-12:
            heapq.heappush(queue, (now, e, 0))
            continue
        moved[e] += 1
        taken[steps] = e
        steps += 1
        stay[p] -= 1
        for i in range(of_pattern[p], of_pattern[p + 1]):
            need[place[place_at[i]]] -= 1
        for f in range(start[g], start[g + 1]):
            u = pattern[f]
            if u == p:
                continue
            help_[u] += 1
            if help_[u] == lack[u] and stay[u] > 0:
                for i in range(of_pattern[u], of_pattern[u + 1]):
                    need[place[place_at[i]]] -= stay[u]
        if stay[p] > 0:
            heapq.heappush(queue, (now, e, 0))
    take_back(moves, place, lack, moved, stay, help_, taken[:steps])
    return moved


@jit()
def take_back(moves: Moves, place: Ints, lack: Ints, moved: Ints, stay: Ints, help_: Ints, taken: Ints) -> None:
    """Undo the moves without which no record lacks a match, dearest first and among equals the latest first."""
    start, pattern, cost, _, _ = moves
    order = np.argsort(-cost[taken[::-1]], kind="mergesort")
    for i in order:
        e = taken[taken.size - 1 - i]
        p, g = pattern[e], place[e]
        if help_[p] < lack[p]:
            continue
        spare = True
        for f in range(start[g], start[g + 1]):
            u = pattern[f]
            if u != p and stay[u] > 0 and help_[u] <= lack[u]:
                spare = False
                break
        if not spare:
            continue
        moved[e] -= 1
        stay[p] += 1
        for f in range(start[g], start[g + 1]):
            if pattern[f] != p:
                help_[pattern[f]] -= 1
