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
from numpy.typing import NDArray

from celosia.search.check import Check, Checker
from celosia.search.objective import ColumnObjective, Score
from celosia.search.tables import Levels

if TYPE_CHECKING:
    from celosia.search.lattice import Found

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
        self._forcing: list[Check] = []
        self._forcing_levels = np.zeros((0, len(lower)), dtype=np.int8)

    def run(self) -> Found:
        """Descend from the top, then open nodes by their bound until none is left or time is up."""
        from celosia.search.lattice import Found

        top = self._look(self.upper)
        if top.holds:
            self._walk_down(top)
        bound = self._prove()
        finished = bound is None
        least: Score = math.inf if self.best is None else self.best.score
        if bound is not None:
            ranked = self.columns is not None and self.columns.ranked
            least = bound if ranked else bound[0]
        return Found(self.best, finished, least, tuple(self.checks.values()), self.nodes, self.lower, self.upper)

    def _late(self) -> bool:
        return self.late(len(self.checks))

    def _look(self, levels: Levels) -> Check:
        known = self.checks.get(levels)
        if known is not None:
            return known
        from celosia.search.lattice import better

        check = self.checker.check(levels)
        self.checks[levels] = check
        if better(check, self.best):
            self.best = check
        if check.certain or check.gap > 0 or check.ceiling > -math.inf:
            self._forcing.append(check)
            if len(self._forcing) > len(self._forcing_levels):
                more = np.zeros((max(64, len(self._forcing_levels)), len(levels)), dtype=np.int8)
                self._forcing_levels = np.concatenate([self._forcing_levels, more])
            self._forcing_levels[len(self._forcing) - 1] = levels
        return check

    def _walk_down(self, start: Check) -> None:
        """Go to the best neighbour one level finer while one is better: greedy, from the coarsest node."""
        here = start
        while not self._late():
            found = here
            for j, level in enumerate(here.levels):
                if level == self.lower[j] or self._late():
                    continue
                check = self._look((*here.levels[:j], level - 1, *here.levels[j + 1 :]))
                if check.holds and check.score < found.score:  # type: ignore[operator]
                    found = check
            if found is here:
                return
            here = found

    def _prove(self) -> Key | None:
        """Open nodes by their bound; give the least bound still open when time is up, ``None`` when all is proven.

        A node enters with the bound of its levels alone, which no coarser node falls below; so its children can wait
        for it. What coarser nodes force on it holds for itself only: with that it enters a second time, childless.
        """
        heap: list[tuple[Key, Levels, int]] = [(self._bound(self.lower, forced=False), self.lower, 0)]
        childless = len(self.lower)
        while heap:
            key, levels, first = heap[0]
            if self.best is not None and key >= self._key(self.best.score):
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
            if self.best is None or self._bound(coarse, forced=False) < self._key(self.best.score):
                self._look(coarse)
                if self.best is not None and self._bound(levels) >= self._key(self.best.score):
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
        below: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        if forced and self._forcing:
            known = self._forcing_levels[: len(self._forcing)]
            below = np.flatnonzero((known >= np.array(levels, dtype=np.int8)).all(axis=1))
        gap, ceiling = 0.0, -math.inf
        sums = None
        if self.columns is not None:
            sums = np.array([base[level] for base, level in zip(self.columns.base, levels, strict=True)])
            penalty = np.zeros(len(levels))
        for i in below:
            check = self._forcing[i]
            if check.certain > self.checker.limit:
                return (math.inf,)
            gap, ceiling = max(gap, check.gap), max(ceiling, check.ceiling)
            if sums is not None and check.penalty is not None:
                penalty = np.maximum(penalty, check.penalty[np.arange(len(levels)), list(levels)])
        if self.columns is None or sums is None:
            return (ceiling,)
        value = self.columns.value(sums + penalty)
        if len(value) > 1:
            return tuple(value.tolist())
        return (max(float(value[0]) + gap, ceiling),)
