"""Which records lose which cells, when the possible losses and whom each helps are known.

Both kernels see *places*: a place is one published pattern (some columns blanked), an *entry* one pattern of
the data that may move there at a cost. Entries of a place are consecutive, ``start[g]`` to ``start[g + 1]``.
Both pick the place that costs least per record that it saves, again and again; scores are kept in a heap and
renewed when they are popped, which is right because a score only gets worse as records are saved elsewhere.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.compiled import compiled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled()
def cover(
    start: Ints,
    pattern: Ints,
    cost: Floats,
    able: NDArray[np.bool_],
    count: Ints,
    lack: Ints,
    of_pattern: Ints,
    place_at: Ints,
) -> Ints:
    """Choose moves so that every lacking pattern has moved or is helped often enough, a missing value
    standing for anything.

    A record of pattern ``p`` that moves to a place is saved (``able``: it is, by itself) and becomes one more
    match for every other pattern with an entry there. ``count[p]`` records each lack ``lack[p]`` matches.
    ``place_at`` lists the entries of each pattern from ``of_pattern[p]`` on. Returns how many records move by
    each entry.

    Greedy, then every move that turned out not to be needed is taken back, latest and dearest first.
    """
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
    take_back(start, pattern, place, cost, lack, moved, stay, help_, taken[:steps])
    return moved


@compiled()
def take_back(
    start: Ints, pattern: Ints, place: Ints, cost: Floats, lack: Ints, moved: Ints, stay: Ints, help_: Ints, taken: Ints
) -> None:
    """Undo the moves without which nobody lacks a match, dearest first and among equals the latest first."""
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


@compiled()
def price(
    g: int, start: Ints, pattern: Ints, cost: Floats, base: Ints, must: Ints, spare: Ints, k: int, chosen: Ints
) -> float:
    """Cost per saved record of opening a place: those who must move and, when too few, the cheapest who can
    be spared.

    Writes how many records of each entry move into ``chosen``. Infinite when the place cannot reach ``k``.
    """
    total = 0.0
    saved = 0
    for e in range(start[g], start[g + 1]):
        chosen[e] = must[pattern[e]]
        saved += chosen[e]
        total += cost[e] * chosen[e]
    short = k - base[g] - saved
    if saved == 0:
        return np.inf
    while short > 0:
        best = -1
        for e in range(start[g], start[g + 1]):
            if spare[pattern[e]] > chosen[e] and (best < 0 or cost[e] < cost[best]):
                best = e
        if best < 0:
            return np.inf
        take = min(short, spare[pattern[best]] - chosen[best])
        chosen[best] += take
        total += cost[best] * take
        short -= take
    return total / saved


@compiled()
def gather(
    start: Ints,
    pattern: Ints,
    cost: Floats,
    base: Ints,
    must: Ints,
    spare: Ints,
    k: int,
    of_pattern: Ints,
    place_at: Ints,
) -> Ints:
    """Choose moves so that every record that must move shares its place with ``k`` or more, a missing value
    being a value.

    ``must[p]`` records of a pattern have to move, or ``spare[p]`` of them may move to fill a place up; a
    place already holds ``base[g]``. Returns how many records move by each entry.
    """
    must, spare = must.copy(), spare.copy()
    moved = np.zeros(pattern.size, np.int64)
    chosen = np.zeros(pattern.size, np.int64)
    place = np.empty(pattern.size, np.int64)
    queue = [(0.0, 0)]
    queue.pop()
    for g in range(start.size - 1):
        place[start[g] : start[g + 1]] = g
        first = price(g, start, pattern, cost, base, must, spare, k, chosen)
        if first < np.inf:
            queue.append((first, g))
    heapq.heapify(queue)
    home = np.full(must.size, -1, np.int64)
    while len(queue) > 0:
        score, g = heapq.heappop(queue)
        now = price(g, start, pattern, cost, base, must, spare, k, chosen)
        if now == np.inf:
            continue
        if now > score + 1e-12:
            heapq.heappush(queue, (now, g))
            continue
        for e in range(start[g], start[g + 1]):
            p = pattern[e]
            if chosen[e] > 0:
                moved[e] += chosen[e]
                if must[p] > 0:
                    home[p] = e
                    must[p] = 0
                else:
                    spare[p] -= chosen[e]
    for _ in range(8):
        if not settle(start, place, pattern, cost, base, moved, home, spare, k, of_pattern, place_at):
            break
    return moved


@compiled()
def settle(
    start: Ints,
    place: Ints,
    pattern: Ints,
    cost: Floats,
    base: Ints,
    moved: Ints,
    home: Ints,
    spare: Ints,
    k: int,
    of_pattern: Ints,
    place_at: Ints,
) -> bool:
    """Improve a choice: cheaper places for single patterns, fewer spared records, and places given up when
    others cost less.
    """
    total = base.copy()
    for e in range(pattern.size):
        total[place[e]] += moved[e]
    better = False
    for p in range(home.size):
        if home[p] < 0:
            continue
        e = home[p]
        g, size = place[e], moved[e]
        if total[g] - size < k and total[g] - size > base[g]:
            continue  # others rely on this pattern
        best = e
        for i in range(of_pattern[p], of_pattern[p + 1]):
            f = place_at[i]
            if place[f] != g and cost[f] < cost[best] and total[place[f]] + size >= k:
                best = f
        if best != e:
            moved[best], moved[e], home[p] = size, 0, best
            total[g] -= size
            total[place[best]] += size
            better = True
    for g in range(start.size - 1):
        held = 0.0  # what the place costs now, and what its patterns would cost elsewhere
        other = 0.0
        lent = False
        for e in range(start[g], start[g + 1]):
            p = pattern[e]
            if moved[e] == 0:
                continue
            if home[p] != e:
                back = min(moved[e], total[g] - k)
                if back > 0:
                    moved[e] -= back
                    spare[p] += back
                    total[g] -= back
                    better = True
                lent = lent or moved[e] > 0
                held += cost[e] * moved[e]
                continue
            held += cost[e] * moved[e]
            other += moved[e] * elsewhere(p, g, place, cost, total, k, of_pattern, place_at, moved[e])[0]
        if not lent or other >= held - 1e-9:
            continue
        for e in range(start[g], start[g + 1]):
            p = pattern[e]
            if moved[e] > 0 and home[p] == e:
                f = elsewhere(p, g, place, cost, total, k, of_pattern, place_at, moved[e])[1]
                total[place[f]] += moved[e]
                moved[f], home[p] = moved[e], f
            elif moved[e] > 0:
                spare[p] += moved[e]
            total[g] -= moved[e]
            moved[e] = 0
        better = True
    return better


@compiled()
def elsewhere(
    p: int, g: int, place: Ints, cost: Floats, total: Ints, k: int, of_pattern: Ints, place_at: Ints, size: int
) -> tuple[float, int]:
    """Cheapest other place where a pattern of so many records would find company, and its cost."""
    best, least = -1, np.inf
    for i in range(of_pattern[p], of_pattern[p + 1]):
        f = place_at[i]
        if place[f] != g and cost[f] < least and total[place[f]] + size >= k:
            best, least = f, cost[f]
    return least, best
