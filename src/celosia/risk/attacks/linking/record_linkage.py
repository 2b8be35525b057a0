"""Probabilistic record linkage (Fellegi and Sunter) over all pairs of two files, with parameters by EM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, ParameterError
from celosia.kernels.disclosure.own_records import Own

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COLUMNS = 18  # agreement patterns are counted in a table of 2^k entries


@dataclass(frozen=True)
class Weights:
    """Parameters of the Fellegi-Sunter model, with the agreement patterns that they were estimated from."""

    m: Floats
    """Chance that a column agrees for records of one person."""
    u: Floats
    """Chance that a column agrees for records of two people."""
    share: float
    """Share of matches among all pairs."""
    iterations: int
    counts: Ints = field(repr=False)
    """Pairs of each agreement pattern."""

    def scores(self) -> Floats:
        """Return the log-likelihood ratio (base 2) of each agreement pattern."""
        agree, disagree = np.log2(self.m / self.u), np.log2((1 - self.m) / (1 - self.u))
        bits = _bits(len(self.m))
        return np.asarray(bits @ agree + (1 - bits) @ disagree, dtype=np.float64)


@dataclass(frozen=True)
class Matches:
    """The best-scoring record of the other file for each record."""

    first: Ints
    score: Floats
    tied: Ints
    correct: Floats
    """Chance that the link is right: the share of the best-scoring records that are the same person's."""


@dataclass(frozen=True)
class Windows:
    """Records of the target file that agree with each source record, column by column.

    They are a run in the sorted target column: positions ``starts`` to ``stops`` of its ``orders``.
    """

    orders: NDArray[np.int32]
    starts: Ints
    stops: Ints

    @classmethod
    def of(cls, source: Sequence[Floats], target: Sequence[Floats], tolerance: Floats) -> Windows:
        """Build the windows: agreement is within the tolerance of a column (0 for categories); NaN agrees with nothing.

        >>> w = Windows.of([np.array([1.0, 5.0])], [np.array([5.2, 0.9, np.nan])], np.array([0.3]))
        >>> (w.stops - w.starts).tolist()
        [[1, 1]]
        """
        if len(source) == 0 or len(source) > MOST_COLUMNS:
            raise ParameterError(
                f"probabilistic linkage: between 1 and {MOST_COLUMNS} columns can be compared, got {len(source)}."
            )
        orders, starts, stops = [], [], []
        for a, b, reach in zip(source, target, tolerance, strict=True):
            order = np.argsort(b, kind="stable").astype(np.int32)
            ordered = b[order][: int((~np.isnan(b)).sum())]  # NaN sorts last
            slack = reach * (1 + 1e-12)
            low = np.searchsorted(ordered, a - slack, side="left")
            high = np.searchsorted(ordered, a + slack, side="right")
            empty = np.isnan(a)
            orders.append(order)
            starts.append(np.where(empty, 0, low))
            stops.append(np.where(empty, 0, high))
        return cls(np.stack(orders), np.stack(starts).astype(np.int64), np.stack(stops).astype(np.int64))


def fellegi_sunter(windows: Windows, limit: int = 1000, tolerance: float = 1e-9) -> Weights:
    r"""Estimate m and u of each column, by EM over the counts of agreement patterns of all pairs.

    With γ the agreement pattern of a pair and columns independent given the match status,

    .. math:: g(\gamma) = \frac{p \prod m_i^{\gamma_i} (1-m_i)^{1-\gamma_i}}
              {p \prod m_i^{\gamma_i} (1-m_i)^{1-\gamma_i} + (1-p) \prod u_i^{\gamma_i} (1-u_i)^{1-\gamma_i}}

    and m, u, p are the means weighted by g and 1 − g. It starts at m = 0.9, u = the share of agreement over all pairs
    and p = 1/n.

    Fails with DataError when a file is empty.

    References: Fellegi & Sunter (1969); Jaro (1989); Torra & Domingo-Ferrer (2003).

    >>> rng = np.random.default_rng(1)
    >>> x = rng.integers(0, 20, (3, 300)).astype(float)
    >>> weights = fellegi_sunter(Windows.of(list(x), list(x), np.zeros(3)))
    >>> bool((weights.m > 0.9).all() and (weights.u < 0.1).all())
    True
    """
    from celosia.kernels.grouping.agreement import count_patterns
    from celosia.kernels.grouping.mixture import EDGE, two_kinds

    k, n_other = windows.orders.shape
    n = windows.starts.shape[1]
    if n == 0 or n_other == 0:
        raise DataError("probabilistic linkage: a file without records cannot be linked.")
    counts = count_patterns(windows.orders, windows.starts, windows.stops, 16).sum(axis=0)
    seen = counts > 0
    bits, often = _bits(k)[seen], counts[seen].astype(np.float64)
    start = np.clip(often @ bits / often.sum(), EDGE, 1 - EDGE)
    m, u, p, steps = two_kinds(bits, often, np.full(k, 0.9), start, 1.0 / max(n, n_other), limit, tolerance)
    return Weights(m, u, p, steps, counts)


def match(windows: Windows, weights: Weights, truth: Ints | Own) -> Matches:
    """Link each record to the best-scoring record of the other file, ties shared.

    ``truth`` is the record of the other file that belongs to each record (-1 for none), or those of the same person.
    """
    from celosia.kernels.grouping.agreement import SAME, best_patterns

    scores = weights.scores()
    first, score, tied = best_patterns(windows.orders, windows.starts, windows.stops, scores, 16)
    place = np.argsort(windows.orders, axis=1)  # position of each record in the order of each column

    def best(i: Ints, j: Ints) -> NDArray[np.bool_]:
        agree = (windows.starts[:, i] <= place[:, j]) & (place[:, j] < windows.stops[:, i])
        pattern = (1 << np.arange(len(agree))) @ agree
        return np.asarray(scores[pattern] >= score[i] - SAME, dtype=np.bool_)

    own = truth if isinstance(truth, Own) else Own.single(truth)
    return Matches(first, score, tied, own.count(best) / tied)


def thresholds(weights: Weights, false_link: float, missed_link: float) -> tuple[float, float]:
    r"""Return the lowest score of a link and the highest score of a non-link, for two error bounds.

    Patterns by falling score: links are those with :math:`\sum u(\gamma) \le \mu` (pairs of two people that would be
    linked), non-links, from the other end, those with :math:`\sum m(\gamma) \le \lambda`; pairs between them need
    clerical review.

    References: Fellegi & Sunter (1969), theorem 1.

    >>> w = Weights(np.array([0.9]), np.array([0.1]), 0.01, 1, np.array([90, 10]))
    >>> thresholds(w, 0.05, 0.05), thresholds(w, 0.1, 0.1)
    ((inf, -inf), (3.16..., -3.16...))
    """
    score = weights.scores()
    bits = _bits(len(weights.m))
    chance_m = np.exp(bits @ np.log(weights.m) + (1 - bits) @ np.log1p(-weights.m))
    chance_u = np.exp(bits @ np.log(weights.u) + (1 - bits) @ np.log1p(-weights.u))
    falling = np.argsort(-score, kind="stable")
    links = int(np.searchsorted(np.cumsum(chance_u[falling]), false_link * (1 + 1e-9), side="right"))
    rising = falling[::-1]
    none = int(np.searchsorted(np.cumsum(chance_m[rising]), missed_link * (1 + 1e-9), side="right"))
    upper = float(score[falling[links - 1]]) if links else math.inf
    lower = float(score[rising[none - 1]]) if none else -math.inf
    return upper, min(lower, upper)


def _bits(k: int) -> Floats:
    """Return the bits of 0 … 2^k - 1, one row each, the lowest first."""
    return ((np.arange(1 << k)[:, None] >> np.arange(k)) & 1).astype(np.float64)
