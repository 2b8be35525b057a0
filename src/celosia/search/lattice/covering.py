r"""A lower bound from the refused nodes together.

A node :math:`u` that forces too many to be suppressed refuses every finer one. So whatever holds is above :math:`u` in
some column: :math:`\bigvee_j \ell_j > u_j`. The cheapest levels that satisfy this for every refused node bound the
optimum from below. With :math:`y_{jv} = 1` when column *j* is at level *v* or above, and a loss that is a sum over
columns (or a rising function of one), that is a covering problem; its linear relaxation bounds it from below again:

.. math:: \min \sum_{j, v} (c_{jv} - c_{j,v-1})\, y_{jv} \quad\text{so that}\quad
          \sum_j y_{j, u_j + 1} \ge 1 \text{ for every refused } u, \qquad 1 \ge y_{j1} \ge y_{j2} \ge \dots \ge 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from celosia.search.lattice.knowledge import Knowledge

ROWS = 4_000
"""So many refused nodes are used at most, the coarsest: they say most, and the linear program stays quick."""
SLACK = 1e-7
"""Taken off the relaxed optimum: the solver is exact to about this, and a bound must not be too high."""


def covering_bound(knowledge: Knowledge) -> float:
    """Give a lower bound of every node that holds, on the scale of the measures; -inf where the loss is no sum."""
    columns = knowledge.columns
    if columns is None or columns.additive is None or not columns.monotone:
        return -math.inf
    refused = maximal(knowledge.refused())
    if not len(refused):
        return -math.inf
    to_terms, to_score = columns.additive
    deepest = max(len(base) for base in columns.base)
    sums = np.array([np.pad(base, (0, deepest - len(base)), mode="edge") for base in columns.base])
    terms = to_terms(sums.T).T  # m × levels: what each column adds at each level
    least = _relaxed(terms, np.array(knowledge.lower), np.array(knowledge.upper), refused)
    return -math.inf if least is None else to_score(least)


def maximal(nodes: NDArray[np.int8]) -> NDArray[np.int8]:
    """Give the nodes that are finer than no other one, the coarsest first.

    >>> maximal(np.array([[0, 1], [1, 1], [2, 0]], dtype=np.int8)).tolist()
    [[1, 1], [2, 0]]
    """
    unique = np.unique(nodes, axis=0)
    order = unique[np.argsort(-unique.sum(axis=1, dtype=np.int64), kind="stable")]
    kept: list[int] = []
    for i, levels in enumerate(order):  # whatever is coarser than a node stands before it
        if len(kept) == ROWS:
            break
        if not (order[kept] >= levels).all(axis=1).any():
            kept.append(i)
    return order[kept]


def _relaxed(
    terms: NDArray[np.float64], lower: NDArray[np.int64], upper: NDArray[np.int64], refused: NDArray[np.int8]
) -> float | None:
    """Solve the linear relaxation; ``None`` when the solver gives no answer."""
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix
    except ModuleNotFoundError:  # an extra: without it the bound is the one that is known without a program
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
