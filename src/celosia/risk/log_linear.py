r"""Population uniques among the sample uniques, by a Poisson log-linear model of the key table.

The sample frequency of a cell is Poisson with mean :math:`\mu_k = \pi\lambda_k`, and log λ is a sum of main effects
and two-way interactions of the keys. A sample unique is then also a population unique with probability
:math:`e^{-(1-\pi)\lambda_k}`. The fit is by iterative proportional fitting, which gives the maximum-likelihood
estimates of such models.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError

Floats = NDArray[np.float64]
Form = Literal["independence", "two-way", "stepwise"]
Pair = tuple[int, int]

LARGEST_TABLE = 2**24  # cells of the full key table: 128 MB of floats


@dataclass(frozen=True)
class LogLinear:
    """Expected re-identifications among the sample uniques, with 95 % intervals, and the model behind them."""

    tau1: float
    tau2: float
    tau1_interval: tuple[float, float]
    tau2_interval: tuple[float, float]
    unique: Floats = field(repr=False)
    """Chance that each class is a population unique; 0 for a class that is no sample unique."""
    match: Floats = field(repr=False)
    """Expected 1/F of each class; 0 for a class that is no sample unique."""
    interactions: tuple[Pair, ...]
    misfit: float
    """Skinner and Shlomo's standardised bias of tau1: near 0 is good, above 2 the model is too simple."""


def log_linear(
    codes: NDArray[np.int32],
    counts: Floats,
    pi: float,
    rng: np.random.Generator,
    form: Form = "stepwise",
    replicates: int = 20,
) -> LogLinear:
    r"""Estimate how many sample uniques are population uniques, and how many links to them would be right.

    .. math:: \hat\tau_1 = \sum_{f_k = 1} e^{-(1-\pi)\hat\lambda_k}, \qquad
              \hat\tau_2 = \sum_{f_k = 1} \frac{1 - e^{-(1-\pi)\hat\lambda_k}}{(1-\pi)\hat\lambda_k}, \qquad
              \hat\lambda_k = \hat\mu_k / \pi

    ``form`` is the model: ``independence`` of the keys, all ``two-way`` interactions, or ``stepwise``: interactions
    join by their lack of fit until the standardised bias of :math:`\hat\tau_1` is no longer positive. The intervals are
    from refits to ``replicates`` simulated samples. sdcMicro uses :math:`\hat\mu_k` instead of
    :math:`\hat\lambda_k`, which makes both numbers several times too large.

    Fails with DataError when the full key table has more than 2^24 cells (independence has no such limit).

    References: Bethlehem, Keller & Pannekoek (1990); Skinner & Holmes (1998); Skinner & Shlomo (2008), Assessing
    identification risk in survey microdata using log-linear models.

    >>> codes = np.array(list(np.ndindex(3, 3)), dtype=np.int32)
    >>> counts = np.array([9, 4, 1, 6, 3, 1, 2, 1, 1.0])
    >>> estimate = log_linear(codes, counts, 0.1, np.random.default_rng(1), "independence")
    >>> round(estimate.tau1, 4), round(estimate.tau2, 3)
    (0.0212, 0.529)
    """
    table = _Table.of(codes, np.asarray(counts, dtype=np.float64), dense=form != "independence")
    pairs = _choose(table, pi, form)
    mu = table.fit(pairs)
    cells = table.cells if table.whole else np.arange(len(codes))
    alone = table.counts == 1
    rate = mu[cells] / pi
    unique, match = np.where(alone, _h1(rate, pi), 0.0), np.where(alone, _h2(rate, pi), 0.0)
    tau = np.array([unique.sum(), match.sum()])
    spread = _half_widths(table, mu, pi, pairs, replicates, rng)
    low, high = np.maximum(tau - spread, 0.0), np.minimum(tau + spread, float(alone.sum()))
    return LogLinear(
        float(tau[0]),
        float(tau[1]),
        (float(low[0]), float(high[0])),
        (float(low[1]), float(high[1])),
        unique,
        match,
        pairs,
        _misfit(table.observed_counts(), mu, pi),
    )


def _h1(rate: Floats, pi: float) -> Floats:
    return np.asarray(np.exp(-(1 - pi) * rate), dtype=np.float64)


def _h2(rate: Floats, pi: float) -> Floats:
    x = (1 - pi) * rate
    return np.asarray(np.where(x > 1e-12, -np.expm1(-x) / np.maximum(x, 1e-300), 1.0), dtype=np.float64)


@dataclass(frozen=True)
class _Table:
    """The key table: all cells in memory (``whole``), or for independence the observed cells only."""

    codes: NDArray[np.int32]
    counts: Floats
    shape: tuple[int, ...]
    cells: NDArray[np.int64]
    whole: bool

    @classmethod
    def of(cls, codes: NDArray[np.int32], counts: Floats, dense: bool) -> _Table:
        shape = tuple(int(x) + 1 for x in codes.max(axis=0)) if len(codes) else (0,) * codes.shape[1]
        size = math.prod(shape)
        if dense and size > LARGEST_TABLE:
            raise DataError(
                f"log-linear risk: the table of all key combinations has {size} cells, more than {LARGEST_TABLE}. "
                "Use fewer or coarser keys, or the independence model."
            )
        whole = size <= LARGEST_TABLE
        cells = np.ravel_multi_index(tuple(codes.T), shape) if whole and len(codes) else np.zeros(len(codes), np.int64)
        return cls(codes, counts, shape, cells.astype(np.int64), whole)

    def observed_counts(self) -> Floats:
        """Return the counts of all cells (of the observed ones when the table is too large)."""
        if not self.whole:
            return self.counts
        full = np.zeros(math.prod(self.shape))
        full[self.cells] = self.counts
        return full

    def fit(self, pairs: Sequence[Pair], start: Floats | None = None, counts: Floats | None = None) -> Floats:
        """Return the expected counts of all cells under main effects and the given interactions."""
        observed = self.observed_counts() if counts is None else counts
        if not pairs:
            return self._independent(observed)
        data = observed.reshape(self.shape)
        mu = np.ones(self.shape) if start is None else start.reshape(self.shape).copy()
        margins: list[tuple[int, ...]] = [*pairs]
        used = {axis for pair in pairs for axis in pair}
        margins += [(axis,) for axis in range(len(self.shape)) if axis not in used]
        others = [tuple(a for a in range(len(self.shape)) if a not in margin) for margin in margins]
        wanted = [data.sum(axis=rest, keepdims=True) for rest in others]
        total = max(float(data.sum()), 1.0)
        for _ in range(200):
            off = 0.0
            for rest, target in zip(others, wanted, strict=True):
                have = mu.sum(axis=rest, keepdims=True)
                off = max(off, float(np.abs(have - target).max()))
                mu *= np.divide(target, have, out=np.zeros_like(target), where=have > 0)
            if off < 1e-7 * total:
                break
        return np.asarray(mu.ravel(), dtype=np.float64)

    def _independent(self, observed: Floats) -> Floats:
        """Return the product of the margins, in closed form."""
        n = max(float(observed.sum()), 1e-300)
        if self.whole:
            data = observed.reshape(self.shape)
            mu = np.full(self.shape, n)
            for axis in range(len(self.shape)):
                rest = tuple(a for a in range(len(self.shape)) if a != axis)
                mu = mu * (data.sum(axis=rest, keepdims=True) / n)
            return np.asarray(mu.ravel(), dtype=np.float64)
        mu = np.full(len(self.codes), n)
        for axis in range(self.codes.shape[1]):
            mu *= (np.bincount(self.codes[:, axis], weights=observed) / n)[self.codes[:, axis]]
        return mu


def _choose(table: _Table, pi: float, form: Form) -> tuple[Pair, ...]:
    """Return the interactions of the model."""
    every = tuple(itertools.combinations(range(len(table.shape)), 2))
    if form == "independence" or not every:
        return ()
    if form == "two-way":
        return every
    chosen: tuple[Pair, ...] = ()
    observed = table.observed_counts()
    mu = table.fit(())
    while len(chosen) < len(every) and _misfit(observed, mu, pi) > 0:
        lack = {pair: _lack_of_fit(table, observed, mu, pair) for pair in every if pair not in chosen}
        worst = max(lack, key=lambda pair: lack[pair])
        if lack[worst] < 1.96:  # the rest of the misfit is chance
            break
        chosen = (*chosen, worst)
        mu = table.fit(chosen, start=mu)
    return chosen


def _lack_of_fit(table: _Table, observed: Floats, mu: Floats, pair: Pair) -> float:
    """Return the standardised chi-square of one two-way margin."""
    rest = tuple(a for a in range(len(table.shape)) if a not in pair)
    have = observed.reshape(table.shape).sum(axis=rest)
    expected = mu.reshape(table.shape).sum(axis=rest)
    possible = expected > 1e-9
    chi = float((((have - expected) ** 2)[possible] / expected[possible]).sum())
    freedom = max((table.shape[pair[0]] - 1) * (table.shape[pair[1]] - 1), 1)
    return (chi - freedom) / math.sqrt(2 * freedom)


def _misfit(observed: Floats, mu: Floats, pi: float) -> float:
    r"""Return the standardised bias of :math:`\hat\tau_1` (Skinner & Shlomo 2008, eq. 12).

    .. math:: B = \sum_k \lambda_k e^{-\lambda_k} (1-\pi) \{(f_k - \mu_k) + (1-\pi) [(f_k - \mu_k)^2 - f_k] / 2\pi\}

    Its variance under the model follows from Var(f) = μ, Var((f-μ)² - f) = 2μ² and no covariance of the two.
    """
    rate = mu / pi
    weight = rate * np.exp(-rate) * (1 - pi)
    off = observed - mu
    curve = (1 - pi) / (2 * pi)
    bias = float((weight * (off + curve * (off**2 - observed))).sum())
    variance = float((weight**2 * (mu + curve**2 * 2 * mu**2)).sum())
    return bias / math.sqrt(variance) if variance > 0 else 0.0


def _half_widths(
    table: _Table, mu: Floats, pi: float, pairs: tuple[Pair, ...], replicates: int, rng: np.random.Generator
) -> Floats:
    """Return the half-widths of the 95 % intervals, from the errors of estimates on simulated samples."""
    from scipy.stats import t

    if replicates < 2:
        return np.full(2, np.nan)
    errors = np.empty((replicates, 2))
    for i in range(replicates):
        sample = rng.poisson(mu).astype(np.float64)
        alone = np.flatnonzero(sample == 1)
        unseen = rng.poisson((1 - pi) * mu[alone] / pi)
        again = table.fit(pairs, start=mu, counts=sample)[alone] / pi
        errors[i] = (
            _h1(again, pi).sum() - (unseen == 0).sum(),
            _h2(again, pi).sum() - (1.0 / (1.0 + unseen)).sum(),
        )
    # the sum of 1/F is the expected number of right links; each link is an independent draw
    return np.asarray(
        t.ppf(0.975, replicates) * np.sqrt((errors**2).mean(axis=0)) * math.sqrt(1 + 1 / replicates), dtype=np.float64
    )
