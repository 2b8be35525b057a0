"""Search a lattice too large to list: a good node first, then as much proof as the budget allows.

The good node comes from :mod:`celosia.search.lattice.descents`. The proof makes nodes in the order of their lower
bound, each by one parent only, so memory grows with what is looked at and not with the lattice. A node that was judged
closes every finer one that it forces to suppress too much. When the budget is spent, the least bound that is still open
is a lower bound of the whole lattice; a second one comes from the refused nodes together
(:mod:`celosia.search.lattice.covering`), and the higher of the two is reported.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from celosia.search.lattice.budget import Budget
from celosia.search.lattice.check import Checker
from celosia.search.lattice.covering import covering_bound
from celosia.search.lattice.descents import Descents
from celosia.search.lattice.knowledge import Key, Knowledge, key_of
from celosia.search.lattice.objective import Score
from celosia.search.lattice.tables import Levels

if TYPE_CHECKING:
    from celosia.search.lattice.lattice import SearchResult

SEARCHED = 0.5
"""The share of the budget after which the search for a good node must end, so that some is left for the proof."""
OPENED = 20
"""Nodes that the proof opens for each node of the budget: most are closed by a bound, which is cheap but not free."""


def descend(
    checker: Checker,
    lower: Levels,
    upper: Levels,
    nodes: int,
    budget: Budget,
    rng: Callable[[], np.random.Generator] | None = None,
) -> SearchResult:
    """Find a good node of a large lattice, and a lower bound of all of its nodes."""
    from celosia.search.lattice.lattice import SearchResult

    knowledge = Knowledge(checker, lower, upper)
    Descents(knowledge, budget, np.random.default_rng(0) if rng is None else rng(), SEARCHED).run()
    open_bound = _Proof(knowledge, budget).run()
    best = knowledge.best
    least: Score = math.inf if best is None else best.score
    if open_bound is not None:
        ranked = knowledge.columns is not None and knowledge.columns.ranked
        least = open_bound if ranked else checker.loss(max(open_bound[0], covering_bound(knowledge)))
    checks = tuple(knowledge.checks.values())
    return SearchResult(best, open_bound is None, least, checks, nodes, lower, upper)


class _Proof:
    """Open nodes by their bound until none can be better than the best."""

    def __init__(self, knowledge: Knowledge, budget: Budget) -> None:
        self.knowledge, self.budget = knowledge, budget
        self.lower, self.upper = knowledge.lower, knowledge.upper
        self.opened = 0

    def _late(self) -> bool:
        judged, best = len(self.knowledge.checks), self.knowledge.best
        self.budget.tell(judged, None if best is None else best.score)
        most = math.inf if self.budget.nodes is None else OPENED * self.budget.nodes
        return self.budget.late(judged) or self.opened >= most

    def _beaten(self, key: Key) -> bool:
        """Say whether a node with this bound cannot be better than the best."""
        best = self.knowledge.best
        return best is not None and key >= key_of(best.measure)

    def run(self) -> Key | None:
        """Give the least bound still open when the budget is spent, ``None`` when all is proven.

        A node enters with the bound of its levels alone, which no coarser node falls below; so its children can wait
        for it. What coarser nodes force on it holds for itself only: with that it enters a second time, childless.
        """
        bound = self.knowledge.bound
        heap: list[tuple[Key, Levels, int]] = [(bound(self.lower, forced=False), self.lower, 0)]
        childless = len(self.lower)
        while heap:
            key, levels, first = heap[0]
            if self._beaten(key):
                return None  # every node still to come lies above
            if self._late():
                return key
            heapq.heappop(heap)
            self.opened += 1
            # A node is made by raising the columns from the left to the right, never back: so it has one parent only.
            for j in range(first, len(levels)):
                if levels[j] < self.upper[j]:
                    coarser = (*levels[:j], levels[j] + 1, *levels[j + 1 :])
                    heapq.heappush(heap, (bound(coarser, forced=False), coarser, j))
            if levels in self.knowledge.checks:
                continue
            now = bound(levels)
            if now > key:
                if now < (math.inf,):
                    heapq.heappush(heap, (now, levels, childless))
            else:
                self._climb(levels)
                if levels not in self.knowledge.checks:
                    heapq.heappush(heap, (max(key, bound(levels)), levels, childless))
        return None

    def _climb(self, levels: Levels) -> None:
        """Judge a node, or first a coarser one that may close it together with many others.

        Coarser nodes are tried from half-way to the top downwards: the higher a node is refused, the more it closes.
        Which columns are raised changes with every look, so that the refused nodes spread over the lattice.
        """
        step = sum(b - a for a, b in zip(levels, self.upper, strict=True)) // 2
        while step > 0 and not self._late():
            raised = list(levels)
            for k in range(step):
                room = [j for j in range(len(raised)) if raised[j] < self.upper[j]]
                if not room:
                    break
                raised[room[(k + len(self.knowledge.checks)) % len(room)]] += 1
            coarse = tuple(raised)
            if not self._beaten(self.knowledge.bound(coarse, forced=False)):
                self.knowledge.look(coarse)
                now = self.knowledge.bound(levels)
                if self._beaten(now) or now == (math.inf,):
                    return
            step //= 2
        if not self._late():
            self.knowledge.look(levels)
