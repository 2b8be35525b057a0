r"""How many records are unique in the population, estimated from the class sizes of a sample.

Each estimator takes the sizes of the sample's classes and the population size N, and returns an :class:`Estimate`
of :math:`S_1`, the number of population uniques, with a predictive interval for it (none without a random
generator). An estimator that has no solution says so: its number is not a number (NaN) with the reason, never 0.

The interval holds if the model holds: it covers sampling and what the model leaves to chance, not a wrong model. The
models disagree widely on real data, so report more than one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.errors import ParameterError
from celosia.kernels.disclosure.uniqueness.likelihood import Likelihood

Floats = NDArray[np.float64]

DRAWS = 1000  # predictive draws behind an interval: the 2.5 % points are then good to about 0.7 % of probability


@dataclass(frozen=True)
class Estimate:
    """Number of population uniques with a 95 % interval, the model it comes from, and why there is none if so."""

    uniques: float
    low: float
    high: float
    model: str
    population: int
    stays: float = math.nan
    """Chance that a sample unique is a population unique."""
    reason: str = ""

    @property
    def available(self) -> bool:
        """Whether there is an estimate at all."""
        return math.isfinite(self.uniques)

    @property
    def share(self) -> float:
        """Share of the population that is unique."""
        return self.uniques / self.population

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the share."""
        return self.low / self.population, self.high / self.population


@dataclass(frozen=True)
class Sizes:
    """Class sizes of the sample: ``count[i]`` classes of ``size[i]`` records."""

    size: Floats
    count: Floats
    population: int

    @classmethod
    def of(cls, sizes: NDArray[np.int64], population: int) -> Sizes:
        """Tally the sizes of all classes."""
        sizes = np.asarray(sizes)
        if len(sizes) == 0 or (sizes < 1).any():
            raise ParameterError("population uniqueness: needs at least one class, each of at least one record.")
        size, count = np.unique(sizes, return_counts=True)
        n = int(sizes.sum())
        if population < n:
            raise ParameterError(
                f"population uniqueness: the population ({population}) cannot be smaller than the sample ({n})."
            )
        return cls(size.astype(float), count.astype(float), int(population))

    @property
    def n(self) -> int:
        """Records of the sample."""
        return int((self.size * self.count).sum())

    @property
    def classes(self) -> int:
        """Classes of the sample."""
        return int(self.count.sum())

    @property
    def uniques(self) -> int:
        """Classes of one record in the sample."""
        return int(self.count[0]) if self.size[0] == 1 else 0

    @property
    def fraction(self) -> float:
        """Sampling fraction."""
        return self.n / self.population


def pitman(sizes: NDArray[np.int64], population: int, rng: np.random.Generator | None) -> Estimate:
    r"""Pitman's sampling formula with parameters by maximum likelihood.

    .. math:: P(s) \propto \frac{\prod_{i=1}^{u-1} (\theta + i\alpha)}{\prod_{i=1}^{n-1} (\theta + i)}
              \prod_j \Big[\prod_{i=1}^{j-1} (i - \alpha)\Big]^{s_j}

    Given the sample, each of its :math:`s_1` uniques stays unique, and new uniques appear, with the expectation

    .. math:: E[S_1] = s_1 \frac{(\theta+n-1+\alpha)_M}{(\theta+n)_M}
              + M\,\frac{\theta + u\alpha}{\theta + n}\,\frac{(\theta+n+\alpha)_{M-1}}{(\theta+n+1)_{M-1}}

    where :math:`M = N - n` and :math:`(x)_m` is a rising factorial. There is no estimate when every record of the
    sample is unique (the likelihood grows without end towards α = 1).

    References: Pitman (1996); Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk
    assessment; Favaro et al. (2009) for the expectation given a sample.

    >>> sizes = np.array([1] * 30 + [2] * 8 + [3] * 3 + [5] * 2)
    >>> estimate = pitman(sizes, 1000, np.random.default_rng(1))
    >>> round(estimate.uniques), estimate.low < estimate.uniques < estimate.high
    (52, True)
    """
    tally = Sizes.of(sizes, population)
    early = _trivial_estimate(tally, "pitman")
    if early is not None:
        return early
    if tally.uniques == tally.n:
        return _none(tally, "pitman", "every record of the sample is unique")
    likely = Likelihood(lambda x: _pitman_loss(x, tally), ((0.0, 1.0), (-8.0, 30.0)), closed=(0, 0))
    best = likely.maximum()
    if best is None:
        return _none(tally, "pitman", "the likelihood has no maximum inside its range")
    draws = None if rng is None else _pitman_draws(likely.draws(DRAWS, rng), tally, rng)
    stay, new = _pitman_parts(*_pitman_parameters(best), tally)
    return _estimate(tally, "pitman", float(tally.uniques * stay + new), draws, float(stay))


def zayatz(sizes: NDArray[np.int64], population: int, rng: np.random.Generator | None) -> Estimate:
    r"""Zayatz' estimator: the population's class sizes are taken to be distributed as the sample's.

    .. math:: \hat P(F = 1 \mid f = 1) = \frac{s_1 h(1)}{\sum_j s_j h(j)}, \qquad
              h(j) = P(\text{one of } j \text{ is sampled}), \qquad \hat S_1 = s_1 \hat P\, / \pi

    with hypergeometric h. The assumption is only near the truth for large sampling fractions; for small ones the
    estimate is far too high.

    References: Zayatz (1991), Estimation of the number of unique population elements using a sample.

    >>> round(zayatz(np.array([1] * 30 + [2] * 8), 92, np.random.default_rng(1)).uniques, 2)
    47.26
    """
    tally = Sizes.of(sizes, population)
    early = _trivial_estimate(tally, "zayatz")
    if early is not None:
        return early
    pi = tally.fraction
    h = _one_sampled(tally)
    stays = tally.uniques * h[0] / (tally.count * h).sum()
    draws = None if rng is None else _zayatz_draws(tally, h, rng)
    return _estimate(tally, "zayatz", float(tally.uniques * stays / pi), draws, float(stays))


def negative_binomial(sizes: NDArray[np.int64], population: int, rng: np.random.Generator | None) -> Estimate:
    r"""Return the slide negative binomial model (SNB): a population class has 1 + X records, X negative binomial.

    A Bernoulli sample of a class then has :math:`f = B + X'` records with B Bernoulli of π and X' again negative
    binomial, :math:`\beta' = \beta / (\beta + \pi (1-\beta))`:

    .. math:: P(f) = (1-\pi)\,\mathrm{NB}(f; \alpha, \beta') + \pi\,\mathrm{NB}(f-1; \alpha, \beta'), \qquad
              \hat S_1 = \hat K \beta^\alpha, \qquad \hat K = u / (1 - P(0))

    α and β maximise the likelihood of the observed (non-empty) classes. Chen and McNulty match the numbers of
    classes of one and two records instead, with K by Shlosser's estimator; that system often has no solution.
    There is no estimate when the likelihood has no maximum inside.

    References: Chen & Keller-McNulty (1998), Estimation of identification disclosure risk in microdata.

    >>> rng = np.random.default_rng(1)
    >>> F = 1 + rng.negative_binomial(0.5, 0.1, 2000)
    >>> f = rng.binomial(F, 0.2)
    >>> estimate = negative_binomial(f[f > 0], int(F.sum()), rng)
    >>> estimate.low < (F == 1).sum() < estimate.high
    np.True_
    """
    tally = Sizes.of(sizes, population)
    early = _trivial_estimate(tally, "snb")
    if early is not None:
        return early
    rare = math.log(tally.fraction)
    likely = Likelihood(lambda x: _snb_loss(x, tally), ((-15.0, 15.0 - rare), (rare - 15.0, 15.0)))
    best = likely.maximum()
    if best is None:
        return _none(tally, "snb", "the likelihood has no maximum inside its range")
    draws = None if rng is None else _snb_draws(likely.draws(DRAWS, rng), tally, rng)
    (log_p0, log_p1), log_alone = _snb(best, np.array([0.0, 1.0]), tally.fraction)
    classes = tally.classes / -math.expm1(log_p0)
    stays = math.exp(min(math.log(tally.fraction) + log_alone - log_p1, 0.0))
    return _estimate(tally, "snb", classes * math.exp(log_alone), draws, stays)


def dankar(sizes: NDArray[np.int64], population: int, rng: np.random.Generator | None) -> Estimate:
    """Dankar's rule: Pitman up to a sampling fraction of 10 %, above it the smaller of Zayatz and SNB.

    Where the chosen model has no estimate Zayatz' stands in; the estimate names the model used.

    References: Dankar, El Emam, Neisa & Roffey (2012), Estimating the re-identification risk of clinical data sets.

    >>> dankar(np.array([1] * 30 + [2] * 8), 1000, np.random.default_rng(1)).model
    'pitman'
    """
    tally = Sizes.of(sizes, population)
    if tally.fraction <= 0.1:
        first = pitman(sizes, population, rng)
        return first if first.available else zayatz(sizes, population, rng)
    simple = zayatz(sizes, population, rng)
    snb = negative_binomial(sizes, population, rng)
    return snb if snb.available and snb.uniques <= simple.uniques else simple


ESTIMATORS: dict[str, Callable[[NDArray[np.int64], int, np.random.Generator | None], Estimate]] = {
    "dankar": dankar,
    "pitman": pitman,
    "zayatz": zayatz,
    "snb": negative_binomial,
}


def _trivial_estimate(tally: Sizes, model: str) -> Estimate | None:
    """Return the estimate where no model is needed: the sample is the population, or no record is unique in the
    sample.
    """
    N = tally.population
    if tally.n == N:
        return Estimate(tally.uniques, tally.uniques, tally.uniques, model, N, stays=1.0)
    if tally.uniques == 0:
        # S_1 population uniques leave no trace in the sample with probability (1 - pi)^S_1, which is 5 % at:
        unseen = math.log(0.05) / math.log1p(-tally.fraction)
        return Estimate(0.0, 0.0, min(unseen, float(N - tally.n)), model, N, stays=0.0)
    return None


def _none(tally: Sizes, model: str, reason: str) -> Estimate:
    return Estimate(math.nan, math.nan, math.nan, model, tally.population, reason=reason)


def _estimate(tally: Sizes, model: str, value: float, draws: Floats | None, stays: float) -> Estimate:
    """Point estimate with the central 95 % of the predictive draws, kept within what is possible."""
    if not math.isfinite(value):
        return _none(tally, model, "the estimate is not finite")
    N = float(tally.population)
    value = min(value, N)
    if draws is None:
        return Estimate(value, math.nan, math.nan, model, tally.population, stays)
    low, high = np.quantile(draws[np.isfinite(draws)], [0.025, 0.975])
    return Estimate(value, float(min(low, value)), float(min(max(high, value), N)), model, tally.population, stays)


def _pitman_parameters(x: Floats) -> tuple[Floats, Floats]:
    """From the searched scale, alpha and log(theta + alpha): alpha in (0, 1), theta above -alpha."""
    alpha = np.minimum(np.maximum(x[..., 0], 1e-9), 1 - 1e-9)
    return alpha, np.exp(x[..., 1]) - alpha


def _pitman_loss(x: Floats, tally: Sizes) -> Floats:
    from scipy.special import gammaln

    alpha, theta = _pitman_parameters(x)
    n, u = tally.n, tally.classes
    like = (u - 1) * np.log(alpha) + _log_rising(theta / alpha + 1, u - 1) - _log_rising(theta + 1, n - 1)
    if alpha.ndim == 0:
        return np.asarray(-(like + (gammaln(tally.size - alpha) - gammaln(1 - alpha)) @ tally.count), dtype=np.float64)
    # the factor of the class sizes depends on alpha only, which is the first axis of the grid
    each = alpha[:, 0]
    sizes = (gammaln(tally.size - each[:, None]) - gammaln(1 - each)[:, None]) @ tally.count
    return np.asarray(-(like + sizes[:, None]), dtype=np.float64)


def _log_rising(x: Floats, m: Floats | float) -> Floats:
    """Return the logarithm of x (x + 1) … (x + m - 1), also where x is huge and lnΓ(x + m) - lnΓ(x) would cancel."""
    from scipy.special import gammaln

    x = np.asarray(x, dtype=np.float64)
    # Stirling: the difference of the leading terms, the 1/(12x) terms are below 1e-8
    large = m * np.log(x) + (x + m - 0.5) * np.log1p(m / x) - m
    return np.asarray(np.where(x > 1e7, large, gammaln(x + m) - gammaln(x)), dtype=np.float64)


def _pitman_parts(alpha: Floats, theta: Floats, tally: Sizes) -> tuple[Floats, Floats]:
    """Chance that a sample unique stays unique, and the expected number of new uniques."""
    n, u = tally.n, tally.classes
    M = tally.population - n
    stay = np.exp(_log_rising(theta + n - 1 + alpha, M) - _log_rising(theta + n, M))
    grow = np.exp(_log_rising(theta + n + alpha, M - 1) - _log_rising(theta + n + 1, M - 1))
    return np.minimum(stay, 1.0), M * (theta + u * alpha) / (theta + n) * grow


def _pitman_draws(x: Floats, tally: Sizes, rng: np.random.Generator) -> Floats:
    r"""Draws of S_1 given the sample, one for each draw of the parameters.

    The number of new classes K satisfies :math:`E[(r + K)_2] = (r)_2 (\theta+n+2\alpha)_M / (\theta+n)_M` with
    :math:`r = \theta/\alpha + u`; the new uniques share its relative spread and add their own Poisson noise.
    """
    alpha, theta = _pitman_parameters(x)
    stay, new = _pitman_parts(alpha, theta, tally)
    n, M = tally.n, tally.population - tally.n
    r = theta / alpha + tally.classes
    base = _log_rising(theta + n, M)
    first = r * np.exp(_log_rising(theta + n + alpha, M) - base)
    second = r * (r + 1) * np.exp(_log_rising(theta + n + 2 * alpha, M) - base)
    mean = np.maximum(first - r, 1e-12)
    variance = second - first - first**2
    spread = np.maximum((variance - mean) / mean**2, 1e-9)  # beyond Poisson
    rate = rng.gamma(1 / spread, new * spread)
    return rng.binomial(tally.uniques, stay) + _poisson(rate, rng)


def _poisson(rate: Floats, rng: np.random.Generator) -> Floats:
    """Poisson numbers; normal ones where the rate is beyond what a Poisson generator takes."""
    huge = rate > 1e9
    normal = rate + np.sqrt(rate) * rng.standard_normal(rate.shape)
    return np.asarray(np.where(huge, normal, rng.poisson(np.where(huge, 0.0, rate))), dtype=np.float64)


def _zayatz_draws(tally: Sizes, h: Floats, rng: np.random.Generator) -> Floats:
    """Draws of S_1: the classes resampled, and the population uniques that the sample missed."""
    classes = rng.multinomial(tally.classes, tally.count / tally.classes, DRAWS).astype(float)
    shares = classes[:, 0] * h[0] / (classes @ h)
    inside = rng.binomial(classes[:, 0].astype(np.int64), shares)
    draws: Floats = (inside + rng.negative_binomial(np.maximum(inside, 1), tally.fraction) * (inside > 0)).astype(
        np.float64
    )
    return draws


def _one_sampled(tally: Sizes) -> Floats:
    """Hypergeometric chance that exactly one record of a class of each size is in the sample."""
    N, n, j = float(tally.population), float(tally.n), tally.size
    possible = N - j >= n - 1
    h = np.zeros(len(j))
    j = j[possible]
    # j n/N times the chances that the other j - 1 are not sampled: (N - n) … (N - n - j + 2) over (N - 1) … (N - j + 1)
    others = _log_rising(N - n - j + 2, j - 1) - _log_rising(N - j + 1, j - 1)
    h[possible] = j * n / N * np.exp(others)
    return h


def _snb(x: Floats, f: Floats, pi: float) -> tuple[Floats, Floats]:
    """Return the log-probabilities of sample sizes f under the slide negative binomial, and of a population unique.

    The parameters are log(α/π) and the logarithm of the mean α(1 - β')/β' of X': those are what a sample tells about,
    whatever the size of the population (α itself falls with π), and the Poisson limit, α without end, is one rim. One
    row of probabilities for each row of parameters.
    """
    from scipy.special import gammaln

    log_alpha = x[..., :1] + math.log(pi)
    alpha = np.exp(log_alpha)
    odds = log_alpha - x[..., 1:]  # log β' / (1 - β')
    log_thin, log_rest = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)

    def nb(k: Floats) -> Floats:
        count = gammaln(k + alpha) - gammaln(alpha) - gammaln(k + 1)
        return np.asarray(count + alpha * log_thin + k * log_rest, dtype=np.float64)

    before = np.where(f > 0, nb(np.maximum(f - 1, 0.0)), -np.inf)
    log_p = np.logaddexp(math.log1p(-pi) + nb(f), math.log(pi) + before)
    # beta = pi beta' / (1 - beta' + pi beta')
    log_beta = math.log(pi) + log_thin - np.logaddexp(log_rest, math.log(pi) + log_thin)
    return np.asarray(log_p, dtype=np.float64), np.asarray((alpha * log_beta)[..., 0], dtype=np.float64)


def _snb_loss(x: Floats, tally: Sizes) -> Floats:
    log_p, _ = _snb(x, np.concatenate(([0.0], tally.size)), tally.fraction)
    seen = np.maximum(-np.expm1(np.minimum(log_p[..., 0], 0.0)), 1e-300)
    return np.asarray(-(log_p[..., 1:] @ tally.count) + tally.classes * np.log(seen), dtype=np.float64)


def _snb_draws(x: Floats, tally: Sizes, rng: np.random.Generator) -> Floats:
    """Draws of S_1: sample uniques that are population uniques, and unseen classes that are."""
    pi = tally.fraction
    log_p, log_alone = _snb(x, np.array([0.0, 1.0]), pi)
    seen_share = np.maximum(-np.expm1(np.minimum(log_p[:, 0], 0.0)), 1e-300)
    stays = np.exp(np.minimum(math.log(pi) + log_alone - log_p[:, 1], 0.0))
    unseen = tally.classes * (1 - seen_share) / seen_share
    unseen += np.sqrt(unseen / seen_share) * rng.standard_normal(len(x))  # normal form of a negative binomial count
    alone_unseen = np.exp(np.minimum(math.log1p(-pi) + log_alone - log_p[:, 0], 0.0))
    return rng.binomial(tally.uniques, stays) + _poisson(np.maximum(unseen, 0.0) * alone_unseen, rng)
