r"""Q-anonymity: how possible it is that the cells of a fuzzy partition hold at least Q records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.fuzzy.cardinality import possibilities

Floats = NDArray[np.float64]
Aggregate = Literal["mean", "min", "product", "weighted"]


def possibility_curve(cells: Iterable[Floats], aggregate: Aggregate = "mean") -> Floats:
    r"""Possibility that a table has at least Q records per cell, for Q = 0 … n.

    .. math:: \mathrm{Poss}(|T|_f \ge Q) = \mathcal{T}\bigl(\beta_1(Q), \dots, \beta_s(Q)\bigr), \qquad
              \beta_i(Q) = \mathrm{Poss}(|Q_i|_f \ge Q)

    ``cells`` are the degrees of the records: one array per cell, or per block of cells (records × cells). A cell that
    no record belongs to at all does not count, as an empty class does not count for k-anonymity. ``mean`` lets a
    small cell hide behind large ones; ``min`` does not, and equals k-anonymity on a crisp table; ``product`` is
    stricter still; ``weighted`` weighs cells by their σ-count.

    >>> ages = np.array([21, 24, 32, 36, 45, 56, 58, 62, 65])
    >>> from celosia.kernels.fuzzy.sets import FuzzySet
    >>> sets = ["(-inf;30;36)", "(30;36;54;60)", "(54;60;inf)"]
    >>> curve = possibility_curve([FuzzySet.parse(s)(ages) for s in sets])
    >>> curve[1:6].round(4).tolist()
    [0.6667, 0.6667, 0.6667, 0.2222, 0.1111]
    """
    join, neutral = _JOINS[aggregate]
    total, weight = np.zeros(0), 0.0
    for block in cells:
        mu = block.reshape(len(block), -1)
        mu = mu[:, mu.any(axis=0)]
        if mu.shape[1] == 0:
            continue
        curves = possibilities(mu)
        size = mu.sum(axis=0) if aggregate == "weighted" else np.ones(mu.shape[1])
        part = join(curves * size if neutral == 0 else curves, axis=1)
        total, weight = _join(total, part, join, first=weight == 0), weight + float(size.sum())
    if weight == 0:
        return np.zeros(1)
    return total / weight if neutral == 0 else total


# Sums are divided by the total weight at the end; the smallest and the product are final as they are.
_JOINS: dict[str, tuple[Callable[..., Floats], int]] = {
    "mean": (np.sum, 0),
    "weighted": (np.sum, 0),
    "min": (np.min, 1),
    "product": (np.prod, 1),
}


def _join(total: Floats, part: Floats, join: Callable[..., Floats], *, first: bool) -> Floats:
    """Join two curves; the shorter one is 0 beyond its end, where its cells cannot have so many records."""
    if first:
        return part
    length = max(len(total), len(part))
    both = np.zeros((2, length))
    both[0, : len(total)], both[1, : len(part)] = total, part
    return np.asarray(join(both, axis=0))


def q_anonymity(curve: Floats, possibility: float = 0.5) -> int:
    r"""Return the largest Q with a possibility of at least ``possibility``, and 0 if there is none.

    .. math:: Q^* = \max\{Q \ge 1: \mathrm{Poss}(|T|_f \ge Q) \ge p\}

    >>> q_anonymity(np.array([1.0, 1.0, 0.6, 0.2]))
    2
    """
    reached = np.flatnonzero(curve[1:] >= possibility - 1e-12)
    return int(reached[-1]) + 1 if len(reached) else 0
