"""What a search over a lattice too large to list has learnt: the nodes it judged, and what they say about others."""

from __future__ import annotations

import math

import numpy as np

from celosia.search.lattice.check import Check, Checker
from celosia.search.lattice.objective import ColumnObjective, Score
from celosia.search.lattice.tables import Levels

Key = tuple[float, ...]
"""A score as a tuple, so that one number and a ranking are compared alike."""


class Knowledge:
    """The judged nodes of a lattice, the best of them, and a lower bound of every other node.

    Memory grows with the nodes that were judged, not with the lattice.
    """

    def __init__(self, checker: Checker, lower: Levels, upper: Levels) -> None:
        self.checker = checker
        self.lower, self.upper = lower, upper
        objective = checker.objective
        self.columns = objective if isinstance(objective, ColumnObjective) else objective.columns
        self.monotone = self.columns is not None and self.columns.monotone
        self.best: Check | None = None
        self.checks: dict[Levels, Check] = {}
        deepest = max((len(maps) for maps in checker.records.domain.maps), default=1)
        # The nodes that force something on finer ones, as arrays with room to grow: a bound compares with all of them.
        self._forcing = 0
        self._levels = np.zeros((0, len(lower)), dtype=np.int8)
        self._certain = np.zeros(0, dtype=np.int64)
        self._gap = np.zeros(0)
        self._ceiling = np.zeros(0)
        self._penalty = np.zeros((0, len(lower), deepest))

    def look(self, levels: Levels) -> Check:
        """Judge a node, once."""
        earlier = self.checks.get(levels)
        if earlier is not None:
            return earlier
        check = self.checker.check(levels)
        self.checks[levels] = check
        if better(check, self.best):
            self.best = check
        if check.certain or check.gap > 0 or check.ceiling > -math.inf:
            self._remember(check)
        return check

    def _remember(self, check: Check) -> None:
        """Keep what a node forces on finer ones."""
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

    def refused(self) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
        """Give the judged nodes (one per row) below which nothing can hold: each forces too many to be suppressed."""
        return self._levels[: self._forcing][self._certain[: self._forcing] > self.checker.limit]

    def hopeless(self, levels: Levels) -> bool:
        """Say whether a coarser node that was judged already shows that this one cannot hold."""
        coarser = (self.refused() >= np.array(levels, dtype=np.int8)).all(axis=1)
        return bool(coarser.any())

    def bound(self, levels: Levels, *, forced: bool = True) -> Key:
        """Give what is known about a node: its columns' loss and what coarser nodes force it to suppress.

        A loss whose columns are not monotone promises nothing about coarser nodes before they are reached.
        """
        if not forced and not self.monotone:
            return (-math.inf,)
        gap, ceiling = 0.0, -math.inf
        penalty = None
        if forced and self._forcing:
            forcing = self._levels[: self._forcing]
            above = np.flatnonzero((forcing >= np.array(levels, dtype=np.int8)).all(axis=1))
            if len(above):
                if self._certain[above].max() > self.checker.limit:
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


def better(check: Check, than: Check | None) -> bool:
    """Say whether a node that was judged holds and scores less than another."""
    if not check.holds or than is None:
        return check.holds
    return check.measure < than.measure  # type: ignore[operator]  # one objective gives numbers or tuples, never both


def key_of(score: Score) -> Key:
    """Give a score as a tuple."""
    return score if isinstance(score, tuple) else (score,)
