r"""Q-anonymity: how possible it is that the cells of a fuzzy partition hold at least Q records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.fuzzy.cardinality import possibilities

Floats = NDArray[np.float64]
Aggregate = Literal["mean", "min", "product", "weighted"]

# Each is an aggregation operator: 0 for all 0, 1 for all 1, monotone. Rows are Q, columns are cells.
_AGGREGATES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "mean": lambda curves, _: curves.mean(axis=1),
    "min": lambda curves, _: curves.min(axis=1),
    "product": lambda curves, _: curves.prod(axis=1),
    "weighted": lambda curves, size: curves @ (size / size.sum()),
}


def possibility_curve(cells: Iterable[Floats], aggregate: Aggregate = "mean") -> Floats:
    r"""Possibility that a table has at least Q records per cell, for Q = 0 … n.

    .. math:: \mathrm{Poss}(|T|_f \ge Q) = \mathcal{T}\bigl(\beta_1(Q), \dots, \beta_s(Q)\bigr), \qquad
              \beta_i(Q) = \mathrm{Poss}(|Q_i|_f \ge Q)

    ``cells`` are the degrees of the records, one array per cell. A cell that no record belongs to at all does not
    count, as an empty class does not count for k-anonymity. ``mean`` lets a small cell hide behind large ones;
    ``min`` does not, and equals k-anonymity on a crisp table; ``weighted`` weighs cells by their σ-count.

    >>> ages = np.array([21, 24, 32, 36, 45, 56, 58, 62, 65])
    >>> from celosia.fuzzy.sets import FuzzySet
    >>> sets = ["(-inf;30;36)", "(30;36;54;60)", "(54;60;inf)"]
    >>> curve = possibility_curve([FuzzySet.parse(s)(ages) for s in sets])
    >>> curve[1:6].round(4).tolist()
    [0.6667, 0.6667, 0.6667, 0.2222, 0.1111]
    """
    held = [mu for mu in cells if mu.any()]
    if not held:
        return np.zeros(1)
    curves = np.column_stack([possibilities(mu) for mu in held])
    return _AGGREGATES[aggregate](curves, np.array([mu.sum() for mu in held]))


def q_anonymity(curve: Floats, possibility: float = 0.5) -> int:
    r"""The largest Q with a possibility of at least ``possibility``, and 1 if there is none.

    .. math:: Q^* = \max\{Q \ge 1: \mathrm{Poss}(|T|_f \ge Q) \ge p\}

    >>> q_anonymity(np.array([1.0, 1.0, 0.6, 0.2]))
    2
    """
    reached = np.flatnonzero(curve[1:] >= possibility - 1e-12)
    return int(reached[-1]) + 1 if len(reached) else 1
