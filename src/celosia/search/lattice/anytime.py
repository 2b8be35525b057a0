r"""Search a lattice too large to list: find a good node first, then spend the rest of the budget on proof.

The good node comes from :mod:`celosia.search.lattice.descents`. The proof makes nodes in the order of their lower
bound, each by one parent only, so memory grows with the nodes visited and not with the lattice. An evaluated node
closes every finer one that it forces to suppress too much. When the budget is spent, the least bound that is still open
is a lower bound of the whole lattice; a second one comes from the refused nodes together, and the higher is reported.

A node :math:`u` that forces too many to be suppressed refuses every finer one. So any node that holds is above
:math:`u` in some column: :math:`\bigvee_j \ell_j > u_j`. The cheapest levels that satisfy this for every refused node
bound the optimum from below. With :math:`y_{jv} = 1` when column *j* is at level *v* or above, and a loss that is a
sum over columns (or a rising function of one), that is a covering problem; its linear relaxation bounds it from below
again:

.. math:: \min \sum_{j, v} (c_{jv} - c_{j,v-1})\, y_{jv} \quad\text{so that}\quad
          \sum_j y_{j, u_j + 1} \ge 1 \text{ for every refused } u, \qquad 1 \ge y_{j1} \ge y_{j2} \ge \dots \ge 0.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.search.lattice.descents import Descents
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.knowledge import Budget, Key, Knowledge, as_key
from celosia.search.lattice.objective import Score
from celosia.search.lattice.tables import Levels

if TYPE_CHECKING:
    from celosia.search.lattice.lattice import SearchResult


SEARCHED = 0.5
"""The share of the budget after which the search for a good node must end, so that some is left for the proof."""
OPENED = 20
"""Nodes that the proof opens for each node of the budget: most are closed by a bound, which is cheap but not free."""


def descend(
    evaluator: NodeEvaluator,
    lower: Levels,
    upper: Levels,
    nodes: int,
    budget: Budget,
    rng: Callable[[], np.random.Generator] | None = None,
) -> SearchResult:
    """Find a good node of a large lattice, and a lower bound of all of its nodes."""
    from celosia.search.lattice.lattice import SearchResult

    knowledge = Knowledge(evaluator, lower, upper)
    Descents(knowledge, budget, np.random.default_rng(0) if rng is None else rng(), SEARCHED).run()
    open_bound = _Proof(knowledge, budget).run()
    best = knowledge.best
    least: Score = math.inf if best is None else best.score
    if open_bound is not None:
        ranked = knowledge.columns is not None and knowledge.columns.ranked
        least = open_bound if ranked else evaluator.loss(max(open_bound[0], covering_bound(knowledge)))
    evaluations = tuple(knowledge.evaluations.values())
    return SearchResult(best, open_bound is None, least, evaluations, nodes, lower, upper)


class _Proof:
    """Open nodes by their bound until none can be better than the best."""

    def __init__(self, knowledge: Knowledge, budget: Budget) -> None:
        self.knowledge, self.budget = knowledge, budget
        self.lower, self.upper = knowledge.lower, knowledge.upper
        self.opened = 0

    def _is_late(self) -> bool:
        judged, best = len(self.knowledge.evaluations), self.knowledge.best
        self.budget.report(judged, None if best is None else best.score)
        most = math.inf if self.budget.nodes is None else OPENED * self.budget.nodes
        return self.budget.is_spent(judged) or self.opened >= most

    def _is_beaten(self, key: Key) -> bool:
        """Return whether a node with this bound cannot be better than the best."""
        best = self.knowledge.best
        return best is not None and key >= as_key(best.measure)

    def run(self) -> Key | None:
        """Return the least bound still open when the budget is spent, ``None`` when all is proven.

        A node enters the queue with the bound of its levels alone, which no coarser node falls below, so its children
        can wait for it. The bound that coarser nodes force on it is valid for itself only: with that bound it enters
        a second time, without children.
        """
        bound = self.knowledge.bound
        heap: list[tuple[Key, Levels, int]] = [(bound(self.lower, forced=False), self.lower, 0)]
        childless = len(self.lower)
        while heap:
            key, levels, first = heap[0]
            if self._is_beaten(key):
                return None  # every node still to come lies above
            if self._is_late():
                return key
            heapq.heappop(heap)
            self.opened += 1
            # A node is made by raising the columns from the left to the right, never back: so it has one parent only.
            for j in range(first, len(levels)):
                if levels[j] < self.upper[j]:
                    coarser = (*levels[:j], levels[j] + 1, *levels[j + 1 :])
                    heapq.heappush(heap, (bound(coarser, forced=False), coarser, j))
            if levels in self.knowledge.evaluations:
                continue
            now = bound(levels)
            if now > key:
                if now < (math.inf,):
                    heapq.heappush(heap, (now, levels, childless))
            else:
                self._climb(levels)
                if levels not in self.knowledge.evaluations:
                    heapq.heappush(heap, (max(key, bound(levels)), levels, childless))
        return None

    def _climb(self, levels: Levels) -> None:
        """Evaluate a node, or first a coarser one that may close it together with many others.

        Coarser nodes are tried from half-way to the top downwards: the higher a node is refused, the more it closes.
        Which columns are raised changes with every evaluation, so that the refused nodes spread over the lattice.
        """
        step = sum(b - a for a, b in zip(levels, self.upper, strict=True)) // 2
        while step > 0 and not self._is_late():
            raised = list(levels)
            for k in range(step):
                room = [j for j in range(len(raised)) if raised[j] < self.upper[j]]
                if not room:
                    break
                raised[room[(k + len(self.knowledge.evaluations)) % len(room)]] += 1
            coarse = tuple(raised)
            if not self._is_beaten(self.knowledge.bound(coarse, forced=False)):
                self.knowledge.evaluate(coarse)
                now = self.knowledge.bound(levels)
                if self._is_beaten(now) or now == (math.inf,):
                    return
            step //= 2
        if not self._is_late():
            self.knowledge.evaluate(levels)


ROWS = 4_000
"""Largest number of refused nodes used, the coarsest first: they refuse most, and the linear program stays quick."""
SLACK = 1e-7
"""Subtracted from the relaxed optimum: the solver is exact to about this, and a bound must not be too high."""


def covering_bound(knowledge: Knowledge) -> float:
    """Return a lower bound of every node that holds, on the scale of the measures; -inf where the loss is not a sum."""
    columns = knowledge.columns
    if columns is None or columns.additive is None or not columns.monotone:
        return -math.inf
    refused = maximal_nodes(knowledge.refused_nodes())
    if not len(refused):
        return -math.inf
    to_terms, to_score = columns.additive
    deepest = max(len(base) for base in columns.base)
    sums = np.array([np.pad(base, (0, deepest - len(base)), mode="edge") for base in columns.base])
    terms = to_terms(sums.T).T  # m × levels: what each column adds at each level
    least = _solve_relaxation(terms, np.array(knowledge.lower), np.array(knowledge.upper), refused)
    return -math.inf if least is None else to_score(least)


def maximal_nodes(nodes: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the nodes that are finer than no other one, the coarsest first.

    >>> maximal_nodes(np.array([[0, 1], [1, 1], [2, 0]], dtype=np.int8)).tolist()
    [[1, 1], [2, 0]]
    """
    unique = np.unique(nodes, axis=0)
    order = unique[np.argsort(-unique.sum(axis=1, dtype=np.int64), kind="stable")]
    kept: list[int] = []
    for i, levels in enumerate(order):  # coarser nodes precede finer ones
        if len(kept) == ROWS:
            break
        if not (order[kept] >= levels).all(axis=1).any():
            kept.append(i)
    return order[kept]


def _solve_relaxation(
    terms: NDArray[np.float64], lower: NDArray[np.int64], upper: NDArray[np.int64], refused: NDArray[np.int8]
) -> float | None:
    """Solve the linear relaxation; return ``None`` when there is no solver or no answer."""
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix
    except ModuleNotFoundError:  # an extra
        return None

    steps = [(j, v) for j in range(len(lower)) for v in range(lower[j] + 1, upper[j] + 1)]
    place = {step: i for i, step in enumerate(steps)}
    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    for i, levels in enumerate(refused):
        above = [place[j, max(int(v), lower[j]) + 1] for j, v in enumerate(levels) if v < upper[j]]
        rows += [i] * len(above)
        columns += above
        entries += [-1.0] * len(above)
    count = len(refused)
    for (j, v), i in place.items():
        if (j, v - 1) in place:
            rows += [count, count]
            columns += [i, place[j, v - 1]]
            entries += [1.0, -1.0]
            count += 1
    right = np.zeros(count)
    right[: len(refused)] = -1.0
    cost = np.array([terms[j, v] - terms[j, v - 1] for j, v in steps])
    matrix = csr_matrix((entries, (rows, columns)), shape=(count, len(steps)))
    solved = linprog(cost, A_ub=matrix, b_ub=right, bounds=(0, 1), method="highs")
    if solved.status != 0:
        return None
    return float(solved.fun) - SLACK + float(terms[np.arange(len(lower)), lower].sum())
