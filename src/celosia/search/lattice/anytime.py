"""Search a lattice too large to list: descend to a good node, then prove as much as time allows.

Nodes are made in the order of their lower bound, each by one parent only, so memory grows with what is looked at
and not with the lattice. A node that was judged closes every finer one that it forces to suppress too much. When time
is up, the least bound that is still open is a lower bound of the whole lattice.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from celosia.search.lattice.check import Check, Checker
from celosia.search.lattice.objective import ColumnObjective, Score
from celosia.search.lattice.tables import Levels

if TYPE_CHECKING:
    from celosia.search.lattice.lattice import Found

Key = tuple[float, ...]


def descend(checker: Checker, lower: Levels, upper: Levels, nodes: int, late: Callable[[int], bool]) -> Found:
    """Find a good node of a large lattice, and a lower bound; ``late`` is asked with the number of nodes judged."""
    return _Descent(checker, lower, upper, nodes, late).run()


class _Descent:
    def __init__(self, checker: Checker, lower: Levels, upper: Levels, nodes: int, late: Callable[[int], bool]) -> None:
        self.checker = checker
        self.lower, self.upper, self.nodes = lower, upper, nodes
        self.late = late
        objective = checker.objective
        self.columns = objective if isinstance(objective, ColumnObjective) else objective.columns
        self.monotone = self.columns is not None and self.columns.monotone
        self.best: Check | None = None
        self.checks: dict[Levels, Check] = {}
        domain = checker.records.domain
        deepest = max((len(maps) for maps in domain.maps), default=1)
        self._forcing = 0
        self._levels = np.zeros((0, len(lower)), dtype=np.int8)
        self._certain = np.zeros(0, dtype=np.int64)
        self._gap = np.zeros(0)
        self._ceiling = np.zeros(0)
        self._penalty = np.zeros((0, len(lower), deepest))

    def run(self) -> Found:
        """Descend from the top, then open nodes by their bound until none is left or time is up."""
        from celosia.search.lattice.lattice import Found

        top = self._look(self.upper)
        if top.holds:
            self._walk_down(top)
        self._exchange()
        bound = self._prove()
        finished = bound is None
        least: Score = math.inf if self.best is None else self.best.score
        if bound is not None:
            ranked = self.columns is not None and self.columns.ranked
            least = bound if ranked else self.checker.loss(bound[0])
        return Found(self.best, finished, least, tuple(self.checks.values()), self.nodes, self.lower, self.upper)

    def _late(self) -> bool:
        return self.late(len(self.checks))

    def _look(self, levels: Levels) -> Check:
        known = self.checks.get(levels)
        if known is not None:
            return known
        from celosia.search.lattice.lattice import better

        check = self.checker.check(levels)
        self.checks[levels] = check
        if better(check, self.best):
            self.best = check
        if check.certain or check.gap > 0 or check.ceiling > -math.inf:
            self._remember(check)
        return check

    def _remember(self, check: Check) -> None:
        """Keep what a node forces on finer ones, as arrays."""
        count = self._forcing
        if count == len(self._certain):
            grow = max(64, count)
            self._levels = np.concatenate([self._levels, np.zeros((grow, self._levels.shape[1]), dtype=np.int8)])
            self._certain = np.concatenate([self._certain, np.zeros(grow, dtype=np.int64)])
            self._gap = np.concatenate([self._gap, np.zeros(grow)])
            self._ceiling = np.concatenate([self._ceiling, np.full(grow, -math.inf)])
            self._penalty = np.concatenate([self._penalty, np.zeros((grow, *self._penalty.shape[1:]))])
        self._levels[count] = check.levels
        self._certain[count], self._gap[count], self._ceiling[count] = check.certain, check.gap, check.ceiling
        if check.penalty is not None:
            self._penalty[count] = check.penalty
        self._forcing = count + 1

    def _walk_down(self, start: Check) -> None:
        """Go to the best neighbour one level finer while one is better: greedy, from the coarsest node."""
        here = start
        while not self._late():
            found = here
            for j, level in enumerate(here.levels):
                if level == self.lower[j] or self._late():
                    continue
                check = self._look((*here.levels[:j], level - 1, *here.levels[j + 1 :]))
                if check.holds and check.measure < found.measure:  # type: ignore[operator]
                    found = check
            if found is here:
                return
            here = found

    def _exchange(self) -> None:
        """Trade levels between columns: one or two finer for one coarser, while that helps."""
        tried: Check | None = None
        while self.best is not None and self.best is not tried and not self._late():
            tried = self.best
            for levels in self._neighbours(tried.levels):
                if self._late() or self.best is not tried:
                    break
                if levels not in self.checks and self._bound(levels) < self._key(tried.measure):
                    self._look(levels)

    def _neighbours(self, levels: Levels) -> list[Levels]:
        m = len(levels)
        finer = [[], *([j] for j in range(m)), *([i, j] for i in range(m) for j in range(i, m))]
        out = []
        for up in range(-1, m):
            for down in finer:
                node = list(levels)
                if up >= 0:
                    node[up] += 1
                for j in down:
                    node[j] -= 1
                inside = all(a <= x <= b for a, x, b in zip(self.lower, node, self.upper, strict=True))
                if inside and tuple(node) != levels:
                    out.append(tuple(node))
        return out

    def _prove(self) -> Key | None:
        """Open nodes by their bound; give the least bound still open when time is up, ``None`` when all is proven.

        A node enters with the bound of its levels alone, which no coarser node falls below; so its children can wait
        for it. What coarser nodes force on it holds for itself only: with that it enters a second time, childless.
        """
        heap: list[tuple[Key, Levels, int]] = [(self._bound(self.lower, forced=False), self.lower, 0)]
        childless = len(self.lower)
        while heap:
            key, levels, first = heap[0]
            if self.best is not None and key >= self._key(self.best.measure):
                return None  # every node still to come lies above
            if self._late():
                return key
            heapq.heappop(heap)
            for j in range(first, len(levels)):
                if levels[j] < self.upper[j]:
                    coarser = (*levels[:j], levels[j] + 1, *levels[j + 1 :])
                    heapq.heappush(heap, (self._bound(coarser, forced=False), coarser, j))
            if levels in self.checks:
                continue
            now = self._bound(levels)
            if now > key:
                if now < (math.inf,):
                    heapq.heappush(heap, (now, levels, childless))
            else:
                self._climb(levels)
                if levels not in self.checks:
                    heapq.heappush(heap, (max(key, self._bound(levels)), levels, childless))
        return None

    def _climb(self, levels: Levels) -> None:
        """Judge a node, or first a coarser one that may close it together with many others."""
        gap = [b - a for a, b in zip(levels, self.upper, strict=True)]
        step = sum(gap) // 2
        node = list(levels)
        while step > 0 and not self._late():
            raised = list(node)
            for k in range(step):
                room = [j for j in range(len(raised)) if raised[j] < self.upper[j]]
                if not room:
                    break
                raised[room[(k + len(self.checks)) % len(room)]] += 1
            coarse = tuple(raised)
            if self.best is None or self._bound(coarse, forced=False) < self._key(self.best.measure):
                self._look(coarse)
                if self.best is not None and self._bound(levels) >= self._key(self.best.measure):
                    return
                if self._bound(levels) == (math.inf,):
                    return
            step //= 2
        if not self._late():
            self._look(levels)

    def _key(self, score: Score) -> Key:
        return score if isinstance(score, tuple) else (score,)

    def _bound(self, levels: Levels, *, forced: bool = True) -> Key:
        """Give what is known about a node: its columns' loss and what coarser nodes force it to suppress.

        A loss whose columns are not monotone promises nothing about coarser nodes before they are reached.
        """
        if not forced and not self.monotone:
            return (-math.inf,)
        gap, ceiling = 0.0, -math.inf
        penalty = None
        if forced and self._forcing:
            known = self._levels[: self._forcing]
            below = np.flatnonzero((known >= np.array(levels, dtype=np.int8)).all(axis=1))
            if len(below):
                if self._certain[below].max() > self.checker.limit:
                    return (math.inf,)
                gap, ceiling = float(self._gap[below].max()), float(self._ceiling[below].max())
                columns = np.arange(len(levels))
                penalty = self._penalty[below[:, None], columns, list(levels)].max(axis=0)
        if self.columns is None:
            return (ceiling,)
        sums = np.array([base[level] for base, level in zip(self.columns.base, levels, strict=True)])
        value = self.columns.value(sums if penalty is None else sums + penalty)
        if len(value) > 1:
            return tuple(value.tolist())
        return (max(float(value[0]) + gap, ceiling),)
