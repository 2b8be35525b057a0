"""Choice of the cells that each record loses, where records with the same blanks must be ``k`` or more.

Places and entries are those of :mod:`~celosia.kernels.search.local_suppression`. A pattern with
fewer than ``k`` records moves as a whole to one place; larger patterns can lend records to fill a place. First the
place with the lowest cost per saved record is opened, repeatedly; then places are emptied at random and refilled, and
a result that is not worse is kept.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.jit import jit
from celosia.kernels.search.local_suppression import Moves

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

WORK = 20_000_000
"""Entries to evaluate while improving, about a second. A count and not a time, so that results are reproducible."""
JOURNAL = 1_000_000
"""Most changes of one attempt; a larger one is not tried."""
TURNS = 30
"""Most attempts per pattern."""


class State(NamedTuple):
    """Places with their entries, and the records of each pattern at them."""

    start: Ints
    pattern: Ints
    cost: Floats
    place: Ints
    of_pattern: Ints
    place_at: Ints
    k: int
    lacking: NDArray[np.bool_]
    moved: Ints
    """Records that have moved by each entry."""
    total: Ints
    """Records at each place, including those that were there at the start."""
    left: Ints
    """Records of each pattern that must still move, or may still be lent."""
    home: Ints
    """The entry by which a lacking pattern has moved, or -1."""
    chosen: Ints
    log: Ints
    """Journal of changes since the last mark: their count in the first row, then entry and number of records."""
    noise: Floats


@jit()
def change(state: State, e: int, number: int) -> float:
    """Move records by an entry (or back, when negative), add it to the journal and return its cost."""
    p = state.pattern[e]
    state.moved[e] += number
    state.total[state.place[e]] += number
    state.left[p] -= number
    if state.lacking[p]:
        state.home[p] = e if number > 0 else -1
    at = state.log[0, 0] + 1
    if at < state.log.shape[0]:  # the first filling needs no journal; later ones are sure to have room
        state.log[0, 0] = at
        state.log[at, 0] = e
        state.log[at, 1] = number
    return float(number * state.cost[e])


@jit()
def price(state: State, g: int) -> float:
    """Return the cost per saved record of opening a place: the records that must move and, if too few, the cheapest
    that can be lent.

    Write the number of records that each entry would move to ``chosen``. Infinite when no record is saved or the place
    cannot reach ``k``.
    """
    cost, saved = 0.0, 0
    for e in range(state.start[g], state.start[g + 1]):
        p = state.pattern[e]
        state.chosen[e] = state.left[p] if state.lacking[p] else 0
        saved += state.chosen[e]
        cost += state.cost[e] * state.chosen[e]
    if saved == 0:
        return np.inf
    short = state.k - state.total[g] - saved
    while short > 0:
        best = -1
        for e in range(state.start[g], state.start[g + 1]):
            p = state.pattern[e]
            if (
                not state.lacking[p]
                and state.left[p] > state.chosen[e]
                and (best < 0 or state.cost[e] < state.cost[best])
            ):
                best = e
        if best < 0:
            return np.inf
        take = min(short, state.left[state.pattern[best]] - state.chosen[best])
        state.chosen[best] += take
        cost += state.cost[best] * take
        short -= take
    return cost / saved


@jit()
def fill(state: State, wanted: Ints) -> float:
    """Open the best of the wanted places until no place gains; return the total cost."""
    queue = [(0.0, 0)]
    queue.pop()
    for g in wanted:
        first = price(state, g) * state.noise[g]
        if first < np.inf:
            queue.append((first, g))
    heapq.heapify(queue)
    spent = 0.0
    while len(queue) > 0:
        score, g = heapq.heappop(queue)
        now = price(state, g) * state.noise[g]
        if now == np.inf:
            continue
        if now > score + 1e-12:
            heapq.heappush(queue, (now, g))
            continue
        for e in range(state.start[g], state.start[g + 1]):
            if state.chosen[e] > 0:
                spent += change(state, e, state.chosen[e])
        spent += release(state, g)
    return spent


@jit()
def release(state: State, g: int) -> float:
    """Send back lent records that a place no longer needs; returns the (negative) cost."""
    spent = 0.0
    for e in range(state.start[g], state.start[g + 1]):
        extra = min(state.moved[e], state.total[g] - state.k)
        if extra > 0 and not state.lacking[state.pattern[e]]:
            spent += change(state, e, -extra)
    return spent


@jit()
def empty(state: State, g: int) -> float:
    """Send everybody who moved to a place back; returns the (negative) cost."""
    spent = 0.0
    for e in range(state.start[g], state.start[g + 1]):
        if state.moved[e] > 0:
            spent += change(state, e, -state.moved[e])
    return spent


@jit()
def undo(state: State) -> None:
    """Take back all changes in the journal, latest first."""
    while state.log[0, 0] > 0:
        at = state.log[0, 0]
        e, number = state.log[at, 0], state.log[at, 1]
        change(state, e, -number)
        state.log[0, 0] = at - 1


@jit()
def gather(moves: Moves, base: Ints, must: Ints, spare: Ints, k: int) -> Ints:
    """Choose cheap moves after which every opened place holds at least ``k`` records.

    Where ``must[p]`` is above 0, all those records of pattern p move together to one place; otherwise up to
    ``spare[p]`` of them may move to fill a place. Place g holds ``base[g]`` records beforehand. Return the
    number of records moved by each entry of ``moves``.
    """
    start, pattern, cost, of_pattern, place_at = moves
    places = start.size - 1
    place = np.empty(pattern.size, np.int64)
    for g in range(places):
        place[start[g] : start[g + 1]] = g
    state = State(
        start,
        pattern,
        cost,
        place,
        of_pattern,
        place_at,
        k,
        must > 0,
        np.zeros(pattern.size, np.int64),
        base.copy(),
        np.where(must > 0, must, spare),
        np.full(must.size, -1, np.int64),
        np.zeros(pattern.size, np.int64),
        np.zeros((min(4 * pattern.size, JOURNAL) + 64, 2), np.int64),
        np.ones(places),
    )
    fill(state, np.arange(places))
    patterns = np.flatnonzero((must > 0) & (state.home >= 0))
    if patterns.size > 0:
        improve(state, patterns)
    return state.moved


@jit()
def improve(state: State, patterns: Ints) -> None:
    """Empty a few neighbouring places, refill them with slightly perturbed prices, keep the result if it is not
    worse.
    """
    seed = 1
    work = 0
    stamp = np.zeros(state.start.size - 1, np.int64)
    wanted = np.empty(state.start.size - 1, np.int64)
    turn = 0
    while work < WORK and turn < TURNS * patterns.size:
        turn += 1
        state.log[0, 0] = 0
        seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
        p = patterns[(seed >> 8) % patterns.size]
        spent = 0.0
        removed = places = entries = 0
        for _ in range(4):
            if state.home[p] >= 0:
                g = state.place[state.home[p]]
                if state.log[0, 0] + state.start[g + 1] - state.start[g] < state.log.shape[0] - 1:
                    spent += empty(state, g)
            # on to a pattern that this one could meet
            ways = state.of_pattern[p + 1] - state.of_pattern[p]
            seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
            g = state.place[state.place_at[state.of_pattern[p] + (seed >> 8) % ways]]
            size = state.start[g + 1] - state.start[g]
            seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
            other = state.pattern[state.start[g] + (seed >> 8) % size]
            if state.lacking[other]:
                p = other
        for i in range(1, state.log[0, 0] + 1):
            q = state.pattern[state.log[i, 0]]
            if not state.lacking[q]:
                continue
            removed += 1
            for j in range(state.of_pattern[q], state.of_pattern[q + 1]):
                g = state.place[state.place_at[j]]
                if stamp[g] != turn:
                    stamp[g] = turn
                    wanted[places] = g
                    places += 1
                    seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
                    state.noise[g] = 1.0 + 0.3 * ((seed >> 8) / 8388608.0)
                    entries += state.start[g + 1] - state.start[g]
        work += 500 + 2 * entries
        if removed == 0:
            continue
        # an entry is filled once and, when lent, released once
        if state.log[0, 0] + 2 * entries >= state.log.shape[0] - 1:
            undo(state)
            continue
        spent += fill(state, wanted[:places])
        whole = True
        for i in range(1, state.log[0, 0] + 1):
            q = state.pattern[state.log[i, 0]]
            whole = whole and (not state.lacking[q] or state.left[q] == 0)
        if not whole or spent > 1e-9:
            undo(state)
