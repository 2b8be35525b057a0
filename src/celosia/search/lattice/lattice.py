r"""Search for the best node of the lattice of hierarchy levels, with proof.

Every node has a lower bound. It rises while the search learns: a node :math:`u` that must suppress the records
:math:`S` forces every finer node to suppress them too, so their penalty counts there; a loss of classes that grows
with coarsening (its *floor*) bounds every coarser node. A node whose bound reaches the best score is closed without
being evaluated. The search takes the open node with the least bound, walks up from it and evaluates a node on the way:
whatever the result, it closes nodes on one side. A walk may keep to open nodes or pass through closed ones; the search
prefers the kind of walk that has recently closed more nodes per evaluation. When no node is open, the best is proven
optimal.

References: the chains follow Kohlmayer et al. (2012), *Flash: efficient, stable and optimal k-anonymity*; the
bounds by what must be suppressed are our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.classes.counts import Shares, Verdict
from celosia.search.lattice.evaluator import Evaluation, NodeEvaluator
from celosia.search.lattice.knowledge import Budget, is_better
from celosia.search.lattice.objective import ClassObjective, ColumnObjective, Score
from celosia.search.lattice.tables import Levels

ENUMERATED = 300_000
"""Largest lattice that is kept as arrays, in nodes (about 50 MB at nine columns)."""
TRIED = 8
"""One walk in this many is of another kind, to see whether that closes more by now."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search: the best node, whether it is proven best, and every evaluated node."""

    best: Evaluation | None
    """``None`` when no evaluated node holds."""
    optimal: bool
    bound: Score
    """No node that holds scores less; equal to the best score when the optimum is proven."""
    evaluations: tuple[Evaluation, ...]
    nodes: int
    """The size of the lattice."""
    lower: Levels
    upper: Levels


def search(
    evaluator: NodeEvaluator,
    lower: Levels,
    upper: Levels,
    *,
    seconds: float | None = None,
    most: int | None = None,
    rng: Callable[[], np.random.Generator] | None = None,
) -> SearchResult:
    """Find the node between ``lower`` and ``upper`` with the least score.

    Stops unfinished after ``seconds``, or after ``most`` evaluated nodes (the same result on every machine).
    A lattice of more than ``ENUMERATED`` nodes is searched with draws from ``rng``; a smaller one needs none, and the
    generator is not asked for: it may depend on all the data.
    """
    budget = Budget(seconds, most)
    nodes = math.prod(b - a + 1 for a, b in zip(lower, upper, strict=True))
    if nodes <= ENUMERATED:
        return _Enumerated(evaluator, lower, upper, nodes).run(budget)
    from celosia.search.lattice.anytime import descend

    return descend(evaluator, lower, upper, nodes, budget, rng)


class _Walk:
    """A kind of walk upwards: whether it passes through closed nodes, and where on it a node is evaluated (in tenths).

    ``closed`` is the number of nodes that an evaluation has closed recently: an exponentially weighted average.
    """

    def __init__(self, *, through: bool, tenths: int) -> None:
        self.through, self.tenths = through, tenths
        self.closed = math.inf

    def learn(self, closed: float) -> None:
        """Update the average with the nodes closed per evaluation of the last walk."""
        # about the last five walks count: the first ones close most, whatever their kind, since everything is open
        self.closed = closed if math.isinf(self.closed) else 0.8 * self.closed + 0.2 * closed


class _Enumerated:
    """The search over a lattice whose nodes are all listed."""

    def __init__(self, evaluator: NodeEvaluator, lower: Levels, upper: Levels, nodes: int) -> None:
        from celosia.kernels.search import lattice_nodes

        self._kernels = lattice_nodes
        self.evaluator = evaluator
        self.lower, self.upper, self.nodes = lower, upper, nodes
        self.bottom = np.array(lower, dtype=np.int64)
        self.spans = np.array(upper, dtype=np.int64) - self.bottom + 1
        grid = np.indices(tuple(self.spans.tolist()), dtype=np.int8).reshape(len(lower), -1).T
        self.levels = np.ascontiguousarray(grid + np.array(lower, dtype=np.int8))  # nodes × m
        self.strides = np.append(np.cumprod(self.spans[:0:-1])[::-1], 1)
        objective = evaluator.objective
        self.columns = objective if isinstance(objective, ColumnObjective) else objective.columns
        self.walks = self._walk_kinds()
        self.bound = np.full((nodes, 1), -np.inf)
        if self.columns is not None:
            self.sums = np.stack([base[self.levels[:, j]] for j, base in enumerate(self.columns.base)], axis=1)
            self.penalty = np.zeros_like(self.sums)
            self.bound = self.columns.value(self.sums)
        if isinstance(objective, ClassObjective):
            self.known_scores = np.empty((nodes, 3))
            self.known_scores[:] = -np.inf, 0.0, -np.inf
            self.known_scores[:, 2] = self.bound[:, 0]
        self.open: Verdict = np.ones(nodes, dtype=bool)  # may still be better than the best
        self.fresh: Verdict = np.ones(nodes, dtype=bool)  # not evaluated; a closed one can still bound others
        self.best: Evaluation | None = None
        self.evaluations: list[Evaluation] = []
        self._draw = self._turn = 0
        self._path = np.empty(int(self.spans.sum()), dtype=np.int64)
        self._listed = np.empty(nodes, dtype=np.int64)

    def run(self, budget: Budget) -> SearchResult:
        """Evaluate the top, then chains of open nodes, until none is open or the budget is spent."""
        self._evaluate(self.nodes - 1)
        if self.columns is None and self.open[0] and not budget.is_spent(len(self.evaluations)):
            self._evaluate(0)  # a loss that has a floor alone is bounded everywhere by that of the finest node
        while True:
            node = self._next_open()
            if node < 0:
                self._prefer_finest(budget)
                return self._result(True)
            walk = self._walk()
            evaluated, still = len(self.evaluations), int(np.count_nonzero(self.open))
            budget.report(evaluated, None if self.best is None else self.best.score, closed=1 - still / self.nodes)
            chain = self._chain(node, through=walk.through)
            while len(chain):
                if budget.is_spent(len(self.evaluations)):
                    return self._result(False)
                # the middle would halve the chain; how far above it is best depends on which answer closes more
                at = len(chain) * walk.tenths // 10
                self._evaluate(int(chain[at]))
                rest = chain[:at] if self.open[node] else chain[:0]
                chain = rest if walk.through else chain[self.open[chain]]
            walk.learn((still - np.count_nonzero(self.open)) / (len(self.evaluations) - evaluated))

    def _next_open(self) -> int:
        """Return the open node with the least bound, -1 if none is open; without a loss over columns a finest one."""
        if self.columns is not None:
            return self._kernels.least_open(self.open, self.bound)
        first = int(np.argmax(self.open))
        return first if self.open[first] else -1

    def _walk_kinds(self) -> tuple[_Walk, ...]:
        """Return the walks to choose from (measured).

        A coarse node closes finer ones by what it must suppress even if it is closed itself, most of all where nothing
        may be suppressed. A floor without a loss over columns closes most from below.
        """
        if self.evaluator.limit == 0:
            return (_Walk(through=True, tenths=8),)
        if self.columns is None:
            return (_Walk(through=False, tenths=3),)
        return (_Walk(through=False, tenths=7), _Walk(through=True, tenths=4))

    def _walk(self) -> _Walk:
        """Take the walk that recently closed most nodes per look; every few turns try each of the others again."""
        self._turn += 1
        if self._turn % TRIED == 1:
            return self.walks[self._turn // TRIED % len(self.walks)]
        return max(self.walks, key=lambda walk: walk.closed)

    def _prefer_finest(self, budget: Budget) -> None:
        """Move from the best node to a finest one of the same score: coarser levels would lose detail for nothing."""
        seen = {check.levels: check for check in self.evaluations}
        moved = self.best is not None
        while moved and self.best is not None:
            moved = False
            for j, level in enumerate(self.best.levels):
                if level == self.lower[j]:
                    continue
                finer = (*self.best.levels[:j], level - 1, *self.best.levels[j + 1 :])
                if finer not in seen:
                    node = int(np.dot(np.array(finer) - self.bottom, self.strides))
                    if budget.is_spent(len(self.evaluations)) or self.bound[node, 0] > _first(self.best.measure):
                        continue
                    seen[finer] = self.evaluator.evaluate(finer)
                    self.evaluations.append(seen[finer])
                if seen[finer].holds and seen[finer].measure == self.best.measure:
                    self.best, moved = seen[finer], True
                    break

    def _chain(self, node: int, *, through: bool) -> NDArray[np.int64]:
        """Walk up from an open node over open neighbours, or through all nodes that are not evaluated yet.

        The column to raise is picked in turn: chains that spread over the lattice close more nodes than chains that
        all follow the cheapest column (measured: half the evaluations).
        """
        way = self.fresh if through else self.open
        length, self._draw = self._kernels.walk_up(node, way, self.strides, self.spans, self._draw, self._path)
        return self._path[:length].copy()

    def _evaluate(self, node: int) -> None:
        check = self.evaluator.evaluate(tuple(self.levels[node].tolist()))
        self.evaluations.append(check)
        self.open[node] = self.fresh[node] = False
        improved = is_better(check, self.best)
        if improved:
            self.best = check
        # a record that fails here for certain fails at every finer node: its class there is a part of this one
        if check.certain > self.evaluator.limit:
            self.open[self._open_side(node, below=True)] = False
        elif check.certain or check.gap > 0 or check.ceiling > -np.inf:
            self._raise_finer(node, check)
        if check.floor > -np.inf:
            self._apply_bounds(node, below=False, floor=check.floor)
        if improved:  # only then can a bound that stayed where it was reach the best
            self._close(np.flatnonzero(self.open))

    def _open_side(self, node: int, *, below: bool) -> NDArray[np.int64]:
        """Return the open nodes that are finer (or coarser) than a node; valid until the next call."""
        return self._listed[: self._kernels.open_side(node, below, self.open, self.strides, self.spans, self._listed)]

    def _raise_finer(self, node: int, check: Evaluation) -> None:
        """Raise the bounds of finer nodes by what they must suppress."""
        if self.columns is not None and check.penalty is not None:
            finer = self._open_side(node, below=True)
            changed = finer[: self._kernels.raise_penalty(finer, self.levels, check.penalty, self.penalty)]
            bound = self.columns.value(self.sums[changed] + self.penalty[changed])
            if isinstance(self.evaluator.objective, ColumnObjective):
                self.bound[changed] = bound
                self._close(changed)
            else:
                self.known_scores[changed, 2] = np.maximum(self.known_scores[changed, 2], bound[:, 0])
        if isinstance(self.evaluator.objective, ClassObjective):
            self._apply_bounds(node, below=True, gap=check.gap, least=check.ceiling)

    def _apply_bounds(
        self, node: int, *, below: bool, floor: float = -np.inf, gap: float = 0.0, least: float = -np.inf
    ) -> None:
        """Raise the bounds of nodes on one side for a loss of classes: merging costs its floor, suppressing the gap."""
        objective = self.evaluator.objective
        assert isinstance(objective, ClassObjective)
        best = np.inf if self.best is None else _first(self.best.measure)
        nodes = self._kernels.Nodes(self.open, self.bound, self.known_scores, self.strides, self.spans, self._listed)
        rise = self._kernels.Rise(floor, gap, least, objective.gap_adds, objective.whole, best)
        self._kernels.raise_side(node, below, nodes, rise)

    def _close(self, nodes: NDArray[np.int64]) -> None:
        """Close nodes whose bound is not below the best score."""
        if self.best is not None:
            self.open[nodes[~_below(self.bound[nodes], self.best.measure)]] = False

    def _result(self, finished: bool) -> SearchResult:
        bound: Score = math.inf if self.best is None else self.best.score
        if not finished:
            rows = self.bound[self.open]
            least = rows[np.lexsort(rows.T[::-1])[0]]
            bound = tuple(least.tolist()) if len(least) > 1 else self.evaluator.loss(float(least[0]))
        return SearchResult(self.best, finished, bound, tuple(self.evaluations), self.nodes, self.lower, self.upper)


def _below(bound: Shares, score: Score) -> Verdict:
    """Return whether each bound (a row, compared from the left) is below a score."""
    if not isinstance(score, tuple):
        return np.asarray(bound[:, 0] < score, dtype=bool)
    difference = bound - np.array(score)
    first = (difference != 0).argmax(axis=1)  # 0 when all are equal: the difference there is 0, not below
    return np.asarray(difference[np.arange(len(bound)), first] < 0, dtype=bool)


def _first(score: Score) -> float:
    return score[0] if isinstance(score, tuple) else score
