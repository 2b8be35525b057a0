r"""Find a good node of a huge lattice in few evaluations: descend from the top, then from neighbours of the best.

A descent lowers one column by one level at a time, as long as the node holds and loses less. Three facts keep it short.

- *Which column first* needs no evaluation. Detail of a column is worth the loss it saves, and costs
  the entropy it adds to the column: records become unique when the entropies of the columns add up to about
  :math:`\log_2 (n / k)` bits. So the column with the most loss saved per bit goes first, as in a knapsack.
- *How far the first part goes* is found by halving: whether the nodes along an order hold changes once, as a rule.
- *A column that cannot be lowered here* cannot be lowered further down the same descent, for requirements that
  coarsening never breaks. And nodes finer than a refused one, in any descent, are not evaluated.

The first descent follows that order, a few more follow orders drawn around it. Then the best node is perturbed (some
columns raised) and descended from again with those columns last, and the result is kept if it is no worse: an iterated
local search (Lourenço, Martin & Stützle 2003). The draws come from a generator, so one seed gives one result.
"""

from __future__ import annotations

import numpy as np

from celosia.classes.counts import Shares
from celosia.search.lattice.evaluator import Evaluation
from celosia.search.lattice.knowledge import Budget, Knowledge, is_better
from celosia.search.lattice.tables import Levels, entropy

STARTS = 4
"""Descents from the top before the best is perturbed (measured: further ones find less than perturbations do)."""
NOISE = 0.5
"""How far orders are drawn from the best guess: the standard deviation of the logarithm of each column's worth."""
RAISED = 3
"""Most columns that a perturbation raises: with more, a descent forgets where it came from."""
IDLE = 4
"""Perturbations per column without a better node that end the search: the rest of the budget goes to the proof."""


class Descents:
    """Search for a good node until nothing better is found or a share of the budget is spent."""

    def __init__(self, knowledge: Knowledge, budget: Budget, rng: np.random.Generator, share: float) -> None:
        self.knowledge, self.budget, self.rng, self.share = knowledge, budget, rng, share
        self.lower, self.upper = knowledge.lower, knowledge.upper
        domain = knowledge.evaluator.records.domain
        bits = [[entropy(domain.frequency(j, v)) for v in range(domain.height(j) + 1)] for j in range(len(domain))]
        # what lowering column j to a level adds; a level that adds no information is nearly free
        self._bits = [np.maximum(1e-3, -np.diff(by_level)) for by_level in bits]

    def run(self) -> None:
        """Descend from the top, then from perturbed versions of the best node; ``knowledge`` keeps the best."""
        top = self.knowledge.evaluate(self.upper)
        if not top.holds:
            return  # nothing to descend from
        here = top
        for start in range(STARTS):
            worth = np.exp(NOISE * self.rng.standard_normal(len(self.lower))) if start else np.ones(len(self.lower))
            here = self._better_of(self._descend(self._bisect(top, worth), worth), here)
        idle = 0
        while idle < IDLE * len(self.lower) and not self._is_late():
            before = self.knowledge.best
            perturbed, raised = self._perturb(here)
            if perturbed.holds:
                worth = np.exp(NOISE * self.rng.standard_normal(len(self.lower)))
                here = self._better_of(self._descend(perturbed, worth, last=raised), here)
            idle = idle + 1 if self.knowledge.best is before else 0

    def _is_late(self) -> bool:
        judged = len(self.knowledge.evaluations)
        best = self.knowledge.best
        self.budget.report(judged, None if best is None else best.score)
        return self.budget.spent(judged) >= self.share

    def _better_of(self, new: Evaluation, here: Evaluation) -> Evaluation:
        """Return the new node unless it is worse: equally good ones are accepted, to move along a plateau."""
        return here if is_better(here, new) else new

    def _perturb(self, here: Evaluation) -> tuple[Evaluation, frozenset[int]]:
        """Raise a few columns of a node by a few levels."""
        room = [j for j, level in enumerate(here.levels) if level < self.upper[j]]
        if not room:
            return here, frozenset()
        count = min(len(room), int(self.rng.integers(1, RAISED + 1)))
        raised = [int(j) for j in self.rng.choice(room, count, replace=False)]
        levels = list(here.levels)
        for j in raised:
            levels[j] = int(self.rng.integers(levels[j] + 1, self.upper[j] + 1))
        return self.knowledge.evaluate(tuple(levels)), frozenset(raised)

    def _bisect(self, top: Evaluation, worth: Shares) -> Evaluation:
        """Return the last node that holds and loses less along the order in which columns are worth most."""
        order = [self.upper]
        while (columns := self._lowerable(order[-1])) != []:
            order.append(lower_column(order[-1], self._best_column(order[-1], columns, worth)))
        holds, low, high = top, 0, len(order)
        while low + 1 < high and not self._is_late():
            middle = (low + high) // 2
            check = None if self.knowledge.is_refused(order[middle]) else self.knowledge.evaluate(order[middle])
            if check is not None and is_better(check, holds):
                holds, low = check, middle
            else:
                high = middle
        return holds

    def _descend(self, start: Evaluation, worth: Shares, last: frozenset[int] = frozenset()) -> Evaluation:
        """Lower one column after the other while that helps; those of ``last`` only when no other can be lowered."""
        here, stuck = start, set[int]()
        while not self._is_late():
            columns = [j for j in self._lowerable(here.levels) if j not in stuck]
            if not columns:
                break
            j = self._best_column(here.levels, [j for j in columns if j not in last] or columns, worth)
            finer = lower_column(here.levels, j)
            check = None if self.knowledge.is_refused(finer) else self.knowledge.evaluate(finer)
            if check is not None and is_better(check, here):
                here = check
            else:  # for good: lowering other columns makes classes smaller still
                stuck.add(j)
        return here

    def _lowerable(self, levels: Levels) -> list[int]:
        """Return the columns that can be lowered."""
        return [j for j, level in enumerate(levels) if level > self.lower[j]]

    def _best_column(self, levels: Levels, columns: list[int], worth: Shares) -> int:
        """Return the column that saves most loss per bit when it is lowered by one level."""
        saved = self._savings(levels, columns)
        bits = np.array([self._bits[j][levels[j] - 1] for j in columns])
        return columns[int(np.argmax(saved * worth[columns] / bits))]

    def _savings(self, levels: Levels, columns: list[int]) -> Shares:
        """Return the loss that lowering each of the columns saves, estimated from the levels alone."""
        objective = self.knowledge.columns
        if objective is None:
            return np.array([1.0 / max(1, self.upper[j]) for j in columns])
        sums = np.array([base[level] for base, level in zip(objective.base, levels, strict=True)], dtype=np.float64)
        finer = np.array([objective.base[j][levels[j] - 1] for j in columns])
        if objective.ranked:  # not a single number: the columns' own sums are enough for an order
            return np.asarray(sums[columns] - finer)
        nodes = np.tile(sums, (len(columns), 1))
        nodes[np.arange(len(columns)), columns] = finer
        return np.asarray(objective.value(sums)[0] - objective.value(nodes)[:, 0])


def lower_column(levels: Levels, j: int) -> Levels:
    """Return the node with column *j* one level finer."""
    return (*levels[:j], levels[j] - 1, *levels[j + 1 :])
