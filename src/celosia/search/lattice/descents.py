r"""A good node of a huge lattice, in few looks: descents from the top in several orders, then from the best again.

A descent lowers one column by one level at a time, as long as the node holds and loses less. Three facts keep it short.

- *Which column first* is answered without a look. Detail of a column is worth what it takes off the loss, and costs
  what it adds to the entropy of the column: records become unique when the entropies of the columns add up to about
  :math:`\log_2 (n / k)` bits. So the column with the most loss saved per bit goes first, as in a knapsack.
- *How far the first part goes* is found by halving: whether the nodes along an order hold changes once, as a rule.
- *A column that cannot be lowered here* cannot be lowered further down the same descent, for requirements that
  coarsening never breaks. And whatever lies below a node that was refused, in any descent, is not looked at.

The first descent follows that order, a few more follow orders drawn around it. Then the best node is disturbed (some
columns raised) and descended from again with those columns last, and the result is kept if it is no worse: an iterated
local search (Lourenço, Martin & Stützle 2003). The draws come from a generator, so one seed gives one result.
"""

from __future__ import annotations

import numpy as np

from celosia.classes.counts import Shares
from celosia.search.lattice.budget import Budget
from celosia.search.lattice.check import Check
from celosia.search.lattice.knowledge import Knowledge, better
from celosia.search.lattice.tables import Levels, entropy

STARTS = 4
"""Descents from the top before the best is disturbed (measured: further ones find less than disturbances do)."""
NOISE = 0.5
"""How far orders are drawn from the best guess: the standard deviation of the logarithm of each column's worth."""
RAISED = 3
"""So many columns are raised at most by a disturbance: with more, a descent forgets where it came from."""
IDLE = 4
"""So many disturbances per column without a better node end the search: the rest of the budget goes to the proof."""


class Descents:
    """Look for a good node until nothing better turns up, or a share of the budget is spent."""

    def __init__(self, knowledge: Knowledge, budget: Budget, rng: np.random.Generator, share: float) -> None:
        self.knowledge, self.budget, self.rng, self.share = knowledge, budget, rng, share
        self.lower, self.upper = knowledge.lower, knowledge.upper
        domain = knowledge.checker.records.domain
        bits = [[entropy(domain.frequency(j, v)) for v in range(domain.height(j) + 1)] for j in range(len(domain))]
        # what lowering column j to a level adds; a level that tells nothing new is free but for a trifle
        self._bits = [np.maximum(1e-3, -np.diff(by_level)) for by_level in bits]

    def run(self) -> None:
        """Descend from the top, then from disturbed versions of the best node; the knowledge keeps the best."""
        top = self.knowledge.look(self.upper)
        if not top.holds:
            return  # nothing to descend from
        here = top
        for start in range(STARTS):
            worth = np.exp(NOISE * self.rng.standard_normal(len(self.lower))) if start else np.ones(len(self.lower))
            here = self._kept(self._descend(self._halved(top, worth), worth), here)
        idle = 0
        while idle < IDLE * len(self.lower) and not self._late():
            before = self.knowledge.best
            disturbed, raised = self._disturbed(here)
            if disturbed.holds:
                worth = np.exp(NOISE * self.rng.standard_normal(len(self.lower)))
                here = self._kept(self._descend(disturbed, worth, last=raised), here)
            idle = idle + 1 if self.knowledge.best is before else 0

    def _late(self) -> bool:
        judged = len(self.knowledge.checks)
        best = self.knowledge.best
        self.budget.tell(judged, None if best is None else best.score)
        return self.budget.spent(judged) >= self.share

    def _kept(self, new: Check, here: Check) -> Check:
        """Give the new node unless it is worse: equally good ones are taken, to move along a plain."""
        return here if better(here, new) else new

    def _disturbed(self, here: Check) -> tuple[Check, frozenset[int]]:
        """Raise a few columns of a node by a few levels."""
        room = [j for j, level in enumerate(here.levels) if level < self.upper[j]]
        if not room:
            return here, frozenset()
        count = min(len(room), int(self.rng.integers(1, RAISED + 1)))
        raised = [int(j) for j in self.rng.choice(room, count, replace=False)]
        levels = list(here.levels)
        for j in raised:
            levels[j] = int(self.rng.integers(levels[j] + 1, self.upper[j] + 1))
        return self.knowledge.look(tuple(levels)), frozenset(raised)

    def _halved(self, top: Check, worth: Shares) -> Check:
        """Give the last node that holds and loses less along the order in which columns are worth most."""
        order = [self.upper]
        while (columns := self._open(order[-1])) != []:
            order.append(lowered(order[-1], self._worthiest(order[-1], columns, worth)))
        holds, low, high = top, 0, len(order)
        while low + 1 < high and not self._late():
            middle = (low + high) // 2
            check = None if self.knowledge.hopeless(order[middle]) else self.knowledge.look(order[middle])
            if check is not None and better(check, holds):
                holds, low = check, middle
            else:
                high = middle
        return holds

    def _descend(self, start: Check, worth: Shares, last: frozenset[int] = frozenset()) -> Check:
        """Lower one column after the other while that helps; columns named ``last`` when no other can be lowered."""
        here, stuck = start, set[int]()
        while not self._late():
            columns = [j for j in self._open(here.levels) if j not in stuck]
            if not columns:
                break
            j = self._worthiest(here.levels, [j for j in columns if j not in last] or columns, worth)
            finer = lowered(here.levels, j)
            check = None if self.knowledge.hopeless(finer) else self.knowledge.look(finer)
            if check is not None and better(check, here):
                here = check
            else:  # for good: lowering other columns makes classes smaller still
                stuck.add(j)
        return here

    def _open(self, levels: Levels) -> list[int]:
        """Give the columns that can be lowered."""
        return [j for j, level in enumerate(levels) if level > self.lower[j]]

    def _worthiest(self, levels: Levels, columns: list[int], worth: Shares) -> int:
        """Give the column that saves most loss per bit when it is lowered by one level."""
        saved = self._saved(levels, columns)
        bits = np.array([self._bits[j][levels[j] - 1] for j in columns])
        return columns[int(np.argmax(saved * worth[columns] / bits))]

    def _saved(self, levels: Levels, columns: list[int]) -> Shares:
        """Give what lowering each of the columns takes off the loss, as far as the levels alone tell."""
        objective = self.knowledge.columns
        if objective is None:
            return np.array([1.0 / max(1, self.upper[j]) for j in columns])
        sums = np.array([base[level] for base, level in zip(objective.base, levels, strict=True)], dtype=np.float64)
        finer = np.array([objective.base[j][levels[j] - 1] for j in columns])
        if objective.ranked:  # no single number: the columns' own sums say enough for an order
            return np.asarray(sums[columns] - finer)
        nodes = np.tile(sums, (len(columns), 1))
        nodes[np.arange(len(columns)), columns] = finer
        return np.asarray(objective.value(sums)[0] - objective.value(nodes)[:, 0])


def lowered(levels: Levels, j: int) -> Levels:
    """Give the node with column *j* one level finer."""
    return (*levels[:j], levels[j] - 1, *levels[j + 1 :])
