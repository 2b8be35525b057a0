r"""Estimates from several synthetic copies of a table, with variances that account for the synthesis.

With estimates :math:`q_1 \dots q_m` of the copies and their variances :math:`v_i` as if the copies were real,
:math:`\bar q` and :math:`\bar v` their means and :math:`b` the variance between the :math:`q_i`:

========================= ==========================================
``partial``               :math:`T = \bar v + b / m`
``full``                  :math:`T = (1 + 1/m)\, b - \bar v`
``simple``                :math:`T = (1 + 1/m)\, \bar v`
========================= ==========================================

``simple`` holds for a synthesis of all rows by a model that was fitted, not drawn from a posterior, with as many rows
as the original: the methods here (which draw more evenly than it assumes, so that it is on the safe side). It needs one
copy only. References: Reiter (2003); Raghunathan, Reiter & Rubin (2003); Raab, Nowok & Dibben (2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from celosia.errors import ParameterError

Rule = Literal["partial", "full", "simple"]


@dataclass(frozen=True)
class Combined:
    """An estimate with its variance, degrees of freedom and interval."""

    estimate: float
    variance: float
    degrees: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval by Student's t.

        >>> low, high = Combined(0.0, 1.0, np.inf).interval()
        >>> round(high, 2)
        1.96
        """
        from scipy.stats import norm, t

        tail = (1 + level) / 2
        factor = float(norm.ppf(tail) if np.isinf(self.degrees) else t.ppf(tail, self.degrees))
        half = factor * float(np.sqrt(self.variance))
        return self.estimate - half, self.estimate + half


def combine(estimates: ArrayLike, variances: ArrayLike, rule: Rule = "simple") -> Combined:
    r"""Combine the estimates of m synthetic copies.

    ``full`` can come out negative with few copies; then, as is usual, :math:`\bar v` takes its place (on the safe
    side: Reiter 2002).

    >>> combine([10.0, 12.0, 14.0], [1.0, 1.0, 1.0], "partial").variance.__round__(6)
    2.333333
    """
    q, v = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    m = len(q)
    if m == 0 or q.shape != v.shape:
        raise ParameterError(f"give as many variances as estimates, at least one, got {v.size} and {q.size}.")
    if (v < 0).any():
        raise ParameterError("a variance cannot be negative.")
    if rule != "simple" and m < 2:
        raise ParameterError(f"the rule {rule!r} needs at least two copies, got {m}; use 'simple' for one.")
    mean, within = float(q.mean()), float(v.mean())
    if rule == "simple":
        return Combined(mean, within * (1 + 1 / m), np.inf)
    between = float(q.var(ddof=1))
    if rule == "partial":
        total = within + between / m
        degrees = (m - 1) * (1 + m * within / between) ** 2 if between > 0 else np.inf
        return Combined(mean, total, degrees)
    if rule == "full":
        total = (1 + 1 / m) * between - within
        degrees = (m - 1) * (1 - m * within / ((m + 1) * between)) ** 2 if between > 0 and total > 0 else np.inf
        return Combined(mean, total if total > 0 else within, degrees)
    raise ParameterError(f"rule must be 'partial', 'full' or 'simple', got {rule!r}.")
