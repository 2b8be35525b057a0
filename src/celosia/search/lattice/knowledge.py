"""State of a search over a lattice too large to list: the evaluated nodes, and the bounds they imply for others."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from celosia.parts.progress import advance
from celosia.search.lattice.evaluator import Evaluation, NodeEvaluator
from celosia.search.lattice.objective import ColumnObjective, Score
from celosia.search.lattice.tables import Levels


@dataclass
class Budget:
    """Limit of a search in seconds, in evaluated nodes, in both or in neither; in nodes it is reproducible.

    >>> Budget(nodes=10).spent(4), Budget(nodes=10).is_spent(10), Budget().is_spent(10**9)
    (0.4, True, False)
    """

    seconds: float | None = None
    nodes: int | None = None
    _start: float = field(default_factory=time.monotonic, repr=False)

    def spent(self, judged: int) -> float:
        """Return the share of the budget that is used after ``judged`` nodes; 0 without a limit."""
        by_nodes = 0.0 if self.nodes is None else judged / self.nodes
        by_time = 0.0 if self.seconds is None else (time.monotonic() - self._start) / self.seconds
        return max(by_nodes, by_time)

    def is_spent(self, judged: int) -> bool:
        """Return whether the search must stop."""
        return self.spent(judged) >= 1

    def report(self, judged: int, best: object, *, closed: float = 0.0) -> None:
        """Report progress: the share of the budget that is spent, or the share of the lattice that is closed."""
        shown = f", least loss {best:.4g}" if isinstance(best, float) and math.isfinite(best) else ""
        advance(max(self.spent(judged), closed), f"{judged:,} nodes judged{shown}")


Key = tuple[float, ...]
"""A score as a tuple, so that one number and a ranking are compared alike."""


class Knowledge:
    """The evaluated nodes of a lattice, the best of them, and a lower bound of every other node.

    Memory grows with the number of evaluated nodes, not with the lattice.
    """

    def __init__(self, evaluator: NodeEvaluator, lower: Levels, upper: Levels) -> None:
        self.evaluator = evaluator
        self.lower, self.upper = lower, upper
        objective = evaluator.objective
        self.columns = objective if isinstance(objective, ColumnObjective) else objective.columns
        self.monotone = self.columns is not None and self.columns.monotone
        self.best: Evaluation | None = None
        self.evaluations: dict[Levels, Evaluation] = {}
        deepest = max((len(maps) for maps in evaluator.records.domain.maps), default=1)
        # The nodes that force something on finer ones, as arrays with room to grow: a bound compares with all of them.
        self._forcing = 0
        self._levels = np.zeros((0, len(lower)), dtype=np.int8)
        self._certain = np.zeros(0, dtype=np.int64)
        self._gap = np.zeros(0)
        self._ceiling = np.zeros(0)
        self._penalty = np.zeros((0, len(lower), deepest))

    def evaluate(self, levels: Levels) -> Evaluation:
        """Evaluate a node, once."""
        earlier = self.evaluations.get(levels)
        if earlier is not None:
            return earlier
        check = self.evaluator.evaluate(levels)
        self.evaluations[levels] = check
        if is_better(check, self.best):
            self.best = check
        if check.certain or check.gap > 0 or check.ceiling > -math.inf:
            self._remember(check)
        return check

    def _remember(self, check: Evaluation) -> None:
        """Store what a node forces on finer ones."""
        row = self._forcing
        if row == len(self._certain):
            more = max(64, row)
            self._levels = np.concatenate([self._levels, np.zeros((more, self._levels.shape[1]), dtype=np.int8)])
            self._certain = np.concatenate([self._certain, np.zeros(more, dtype=np.int64)])
            self._gap = np.concatenate([self._gap, np.zeros(more)])
            self._ceiling = np.concatenate([self._ceiling, np.full(more, -math.inf)])
            self._penalty = np.concatenate([self._penalty, np.zeros((more, *self._penalty.shape[1:]))])
        self._levels[row] = check.levels
        self._certain[row], self._gap[row], self._ceiling[row] = check.certain, check.gap, check.ceiling
        if check.penalty is not None:
            self._penalty[row] = check.penalty
        self._forcing = row + 1

    def refused_nodes(self) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
        """Return the evaluated nodes (one per row) that force too much suppression: no finer node can hold."""
        return self._levels[: self._forcing][self._certain[: self._forcing] > self.evaluator.limit]

    def is_refused(self, levels: Levels) -> bool:
        """Return whether an evaluated coarser node shows that this one cannot hold."""
        coarser = (self.refused_nodes() >= np.array(levels, dtype=np.int8)).all(axis=1)
        return bool(coarser.any())

    def bound(self, levels: Levels, *, forced: bool = True) -> Key:
        """Return a lower bound of a node, from its columns' loss and from what coarser nodes force it to suppress.

        A loss whose columns are not monotone gives no bound without the second part (``forced``).
        """
        if not forced and not self.monotone:
            return (-math.inf,)
        gap, ceiling = 0.0, -math.inf
        penalty = None
        if forced and self._forcing:
            forcing = self._levels[: self._forcing]
            above = np.flatnonzero((forcing >= np.array(levels, dtype=np.int8)).all(axis=1))
            if len(above):
                if self._certain[above].max() > self.evaluator.limit:
                    return (math.inf,)
                gap, ceiling = float(self._gap[above].max()), float(self._ceiling[above].max())
                columns = np.arange(len(levels))
                penalty = self._penalty[above[:, None], columns, list(levels)].max(axis=0)
        if self.columns is None:
            return (ceiling,)
        sums = np.array([base[level] for base, level in zip(self.columns.base, levels, strict=True)])
        value = self.columns.value(sums if penalty is None else sums + penalty)
        if len(value) > 1:
            return tuple(value.tolist())
        return (max(float(value[0]) + gap, ceiling),)


def is_better(check: Evaluation, than: Evaluation | None) -> bool:
    """Return whether an evaluated node holds and scores less than another."""
    if not check.holds or than is None:
        return check.holds
    return check.measure < than.measure  # type: ignore[operator]  # one objective gives numbers or tuples, never both


def as_key(score: Score) -> Key:
    """Return a score as a tuple."""
    return score if isinstance(score, tuple) else (score,)
