r"""Search for the best node of the lattice of hierarchy levels, with proof.

Every node has a lower bound. It rises while the search learns: a node :math:`u` that must suppress the records
:math:`S` forces every finer node to suppress them too, so their penalty counts there; a loss of classes that grows
with coarsening (its *floor*) bounds every coarser node. A node whose bound reaches the best score is closed without
being looked at. The search takes the open node with the least bound, walks a chain of open nodes up from it and
checks one above the middle of the chain (coarse nodes are cheaper to check and close more): whatever the answer, it
closes nodes on one side. When no node is open, the best is proven optimal.

References: the chains follow Kohlmayer et al. (2012), *Flash: efficient, stable and optimal k-anonymity*; the
bounds by what must be suppressed are our own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.search.check import Check, Checker
from celosia.search.classes import Shares, Verdict
from celosia.search.objective import ClassObjective, ColumnObjective, Score
from celosia.search.tables import Levels

ENUMERATED = 300_000
"""Lattices up to so many nodes are held as arrays (about 50 MB at nine columns)."""


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a search: the best node, whether it is proven best, and all that was looked at."""

    best: Check | None
    """``None`` when no node holds (within what was looked at)."""
    optimal: bool
    bound: Score
    """No node scores less; equal to the best score when the optimum is proven."""
    checks: tuple[Check, ...]
    nodes: int
    """The size of the lattice."""
    lower: Levels
    upper: Levels


def search(
    checker: Checker, lower: Levels, upper: Levels, *, seconds: float | None = None, most: int | None = None
) -> Found:
    """Find the node between ``lower`` and ``upper`` with the least score.

    Stops unfinished after so many ``seconds``, or after ``most`` nodes were judged (the same result on every machine).
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    allowed = math.inf if most is None else most

    def late(judged: int) -> bool:
        return judged >= allowed or time.monotonic() > deadline

    nodes = math.prod(b - a + 1 for a, b in zip(lower, upper, strict=True))
    if nodes <= ENUMERATED:
        return _Enumerated(checker, lower, upper, nodes).run(late)
    from celosia.search.anytime import descend

    return descend(checker, lower, upper, nodes, late)


def better(check: Check, than: Check | None) -> bool:
    """Say whether a node that was judged holds and scores less than another."""
    if not check.holds or than is None:
        return check.holds
    return check.score < than.score  # type: ignore[operator]  # one objective gives numbers or tuples, never both


class _Enumerated:
    """The search over a lattice whose nodes are all listed."""

    def __init__(self, checker: Checker, lower: Levels, upper: Levels, nodes: int) -> None:
        self.checker = checker
        self.lower, self.upper, self.nodes = lower, upper, nodes
        spans = [b - a + 1 for a, b in zip(lower, upper, strict=True)]
        grid = np.indices(spans, dtype=np.int8).reshape(len(spans), -1)
        self.levels = grid + np.array(lower, dtype=np.int8)[:, None]  # m × nodes: comparisons run along nodes
        strides = np.ones(len(spans), dtype=np.int64)
        for j in range(len(spans) - 2, -1, -1):
            strides[j] = strides[j + 1] * spans[j + 1]
        self.strides = strides
        objective = checker.objective
        self.columns = objective if isinstance(objective, ColumnObjective) else objective.columns
        self.bound = np.full((nodes, 1), -np.inf)
        if self.columns is not None:
            self.sums = np.stack([base[self.levels[j]] for j, base in enumerate(self.columns.base)], axis=1)
            self.penalty = np.zeros_like(self.sums)
            self.bound = self.columns.value(self.sums)
        if isinstance(objective, ClassObjective):
            self.column_bound = self.bound[:, 0].copy()
            self.floor = np.full(nodes, -np.inf)
            self.gap = np.zeros(nodes)
            self.gap_adds = objective.gap_adds
        self.open: Verdict = np.ones(nodes, dtype=bool)
        self.best: Check | None = None
        self.checks: list[Check] = []
        self.steps = 0

    def run(self, late: Callable[[int], bool]) -> Found:
        """Check the top, then chains of open nodes, until none is open or time is up."""
        self._look(self.nodes - 1)
        while True:
            node = int(np.argmin(np.where(self.open, self.bound[:, 0], np.inf)))
            if not self.open[node]:
                self._settle(late)
                return self._result(True)
            chain = self._chain(node)
            while chain:
                if late(len(self.checks)):
                    return self._result(False)
                self._look(chain[len(chain) * 7 // 10])
                chain = [step for step in chain if self.open[step]]

    def _settle(self, late: Callable[[int], bool]) -> None:
        """Among nodes of one score go to a finest one: generalising for nothing is no use."""
        seen = {check.levels for check in self.checks}
        moved = self.best is not None
        while moved and self.best is not None:
            moved = False
            for j, level in enumerate(self.best.levels):
                finer = (*self.best.levels[:j], level - 1, *self.best.levels[j + 1 :])
                if level == self.lower[j] or finer in seen or late(len(self.checks)):
                    continue
                node = int(np.dot(np.array(finer) - np.array(self.lower), self.strides))
                if self.bound[node, 0] > _first(self.best.score):
                    continue
                check = self.checker.check(finer)
                seen.add(finer)
                self.checks.append(check)
                if check.holds and check.score == self.best.score:
                    self.best, moved = check, True
                    break

    def _chain(self, node: int) -> list[int]:
        """Walk up from an open node over open neighbours.

        The column to raise is picked in turn: chains that spread over the lattice close more nodes than chains that
        all follow the cheapest column (measured: half the checks).
        """
        chain = [node]
        top = np.array(self.upper)
        while True:
            up = node + self.strides[self.levels[:, node] < top]
            up = up[self.open[up]]
            if not len(up):
                return chain
            self.steps = (self.steps * 5 + 3) % 8191  # a fixed sequence without a short period
            node = int(up[self.steps % len(up)])
            chain.append(node)

    def _look(self, node: int) -> None:
        check = self.checker.check(tuple(self.levels[:, node].tolist()))
        self.checks.append(check)
        self.open[node] = False
        improved = better(check, self.best)
        if improved:
            self.best = check
        if check.certain > self.checker.limit:
            self.open[self._side(check.levels, below=True)] = False
        elif check.certain or check.gap > 0 or check.ceiling > -np.inf:
            self._raise_finer(self._side(check.levels, below=True), check)
        if check.floor > -np.inf:
            self._raise_coarser(self._side(check.levels, below=False), check)
        if improved:
            self._close(np.flatnonzero(self.open))

    def _side(self, levels: Sequence[int], *, below: bool) -> NDArray[np.intp]:
        """Give the open nodes that are finer (or coarser) than a node."""
        side = self.open.copy()
        for j, level in enumerate(levels):
            if below and level < self.upper[j]:
                side &= self.levels[j] <= level
            elif not below and level > self.lower[j]:
                side &= self.levels[j] >= level
        return np.flatnonzero(side)

    def _raise_finer(self, finer: NDArray[np.intp], check: Check) -> None:
        """Let finer nodes know what they must suppress."""
        if self.columns is not None and check.penalty is not None:
            penalty = self.penalty[finer]
            for j, by_level in enumerate(check.penalty):
                np.maximum(penalty[:, j], by_level[self.levels[j, finer]], out=penalty[:, j])
            self.penalty[finer] = penalty
            bound = self.columns.value(self.sums[finer] + penalty)
            if isinstance(self.checker.objective, ColumnObjective):
                self.bound[finer] = bound
            else:
                self.column_bound[finer] = np.maximum(self.column_bound[finer], bound[:, 0])
        if isinstance(self.checker.objective, ClassObjective):
            self.gap[finer] = np.maximum(self.gap[finer], check.gap)
            self._bind(finer, check.ceiling)
        self._close(finer)

    def _raise_coarser(self, coarser: NDArray[np.intp], check: Check) -> None:
        """Let coarser nodes know what merging classes costs."""
        self.floor[coarser] = np.maximum(self.floor[coarser], check.floor)
        self._bind(coarser, -np.inf)
        self._close(coarser)

    def _bind(self, nodes: NDArray[np.intp], least: float) -> None:
        """Put together what is known about a loss of classes."""
        gap = self.gap[nodes]
        floor = self.floor[nodes] + gap if self.gap_adds else self.floor[nodes]
        bound = np.maximum(np.maximum(floor, self.column_bound[nodes] + gap), least)
        self.bound[nodes, 0] = np.maximum(self.bound[nodes, 0], bound)

    def _close(self, nodes: NDArray[np.intp]) -> None:
        """Close nodes whose bound is not below the best score."""
        if self.best is not None:
            self.open[nodes[~_below(self.bound[nodes], self.best.score)]] = False

    def _result(self, finished: bool) -> Found:
        bound: Score = math.inf if self.best is None else self.best.score
        if not finished:
            rows = self.bound[self.open]
            least = rows[np.lexsort(rows.T[::-1])[0]]
            bound = tuple(least.tolist()) if len(least) > 1 else float(least[0])
        return Found(self.best, finished, bound, tuple(self.checks), self.nodes, self.lower, self.upper)


def _below(bound: Shares, score: Score) -> Verdict:
    """Say for each bound (rows, compared from the left) whether it is below a score."""
    if not isinstance(score, tuple):
        return np.asarray(bound[:, 0] < score, dtype=bool)
    difference = bound - np.array(score)
    first = (difference != 0).argmax(axis=1)  # 0 when all are equal: the difference there is 0, not below
    return np.asarray(difference[np.arange(len(bound)), first] < 0, dtype=bool)


def _first(score: Score) -> float:
    return score[0] if isinstance(score, tuple) else score
