r"""The noise: drawn by OpenDP from the operating system's generator, with its exact distribution.

Floating-point Laplace samples drawn by inversion betray the true answer in their low bits (Mironov 2012). OpenDP
samples integer or fixed-grid noise with exact rational arithmetic, and its privacy map rounds against us. No seed can
be given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from celosia.errors import DataError, MissingExtra, ParameterError

if TYPE_CHECKING:
    from opendp.mod import Measurement

LARGEST_INTEGER = 2**62


@dataclass(frozen=True)
class _Noise:
    """Shared by both kinds of noise."""

    scale: float
    discrete: bool = True
    shape: ClassVar[str]

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ParameterError(f"the scale of noise must be a positive number, got {self.scale}.")

    def add(self, values: Sequence[float]) -> list[Any]:
        """Draw one independent noise per value and add it."""
        return _draw(self.shape, self.scale, self.discrete, values)


@dataclass(frozen=True)
class LaplaceNoise(_Noise):
    r"""Laplace noise of scale ``b``, on the integers or (``discrete=False``) on a fine grid of the reals.

    .. math:: \Pr[Z = z] = \frac{1 - p}{1 + p}\, p^{|z|}, \quad p = e^{-1/b}, \qquad\text{or}\qquad f(z) =
              \frac{1}{2b} e^{-|z|/b}

    >>> LaplaceNoise(10.0, discrete=False).variance
    200.0
    >>> LaplaceNoise(10.0).half_width(0.95)
    30
    """

    shape: ClassVar[str] = "laplace"

    @property
    def variance(self) -> float:
        r"""Variance: :math:`2b^2`, or :math:`2p/(1-p)^2` on the integers."""
        if not self.discrete:
            return 2 * self.scale**2
        p = math.exp(-1 / self.scale)
        return 2 * p / math.expm1(-1 / self.scale) ** 2

    @property
    def mean_absolute(self) -> float:
        r"""Expected absolute error: :math:`b`, or :math:`2p/(1-p^2)` on the integers."""
        if not self.discrete:
            return self.scale
        return 2 * math.exp(-1 / self.scale) / -math.expm1(-2 / self.scale)

    def probability_within(self, t: float) -> float:
        r"""Return the probability that the error is at most ``t``: :math:`1 - e^{-t/b}`, or :math:`1 - 2p^{\lfloor t
        \rfloor + 1}/(1+p)`.

        >>> round(LaplaceNoise(10.0, discrete=False).probability_within(1), 3)
        0.095
        """
        if t < 0:
            return 0.0
        if not self.discrete:
            return -math.expm1(-t / self.scale)
        p = math.exp(-1 / self.scale)
        return 1 - 2 * math.exp(-(math.floor(t) + 1) / self.scale) / (1 + p)

    def half_width(self, level: float) -> float:
        """Return the smallest ``t`` with ``probability_within(t) >= level``."""
        check_level(level)
        if not self.discrete:
            return -self.scale * math.log1p(-level)
        p = math.exp(-1 / self.scale)
        t = max(0, math.ceil(-self.scale * math.log((1 - level) * (1 + p) / 2) - 1 - 1e-12))
        return t if self.probability_within(t) >= level else t + 1

    def spent(self, sensitivity: float) -> float:
        """Epsilon of adding this noise to answers of that sensitivity, by OpenDP's own map (rounded up)."""
        return float(_measurement(self.shape, self.scale, self.discrete).map(_distance(sensitivity, self.discrete)))


@dataclass(frozen=True)
class GaussianNoise(_Noise):
    r"""Gaussian noise of standard deviation ``scale``, on the integers or (``discrete=False``) on a fine grid of
    the reals.

    .. math:: \Pr[Z = z] \propto e^{-z^2 / 2\sigma^2}

    >>> round(GaussianNoise(10.0).half_width(0.95), 1)
    20
    """

    shape: ClassVar[str] = "gaussian"

    @property
    def variance(self) -> float:
        r"""Variance :math:`\sigma^2` (the discrete Gaussian's is never larger)."""
        return self.scale**2

    @property
    def mean_absolute(self) -> float:
        r"""Expected absolute error :math:`\sigma\sqrt{2/\pi}`."""
        return self.scale * math.sqrt(2 / math.pi)

    def probability_within(self, t: float) -> float:
        r"""Return the probability that the error is at most ``t``: :math:`2\Phi(t/\sigma) - 1`."""
        if t < 0:
            return 0.0
        if self.discrete and self.scale < 40:
            return _discrete_gaussian_within(self.scale, math.floor(t))
        half = 0.5 if self.discrete else 0.0
        return math.erf((math.floor(t) + half if self.discrete else t) / (self.scale * math.sqrt(2)))

    def half_width(self, level: float) -> float:
        """Return the smallest ``t`` with ``probability_within(t) >= level``."""
        check_level(level)
        from scipy.special import ndtri

        t = float(ndtri((1 + level) / 2)) * self.scale
        if not self.discrete:
            return t
        t = max(0, math.floor(t) - 1)
        while self.probability_within(t) < level:
            t += 1
        return t

    def spent(self, sensitivity: float) -> float:
        """Rho (zCDP) of adding this noise to answers of that sensitivity, by OpenDP's own map (rounded up)."""
        return float(_measurement(self.shape, self.scale, self.discrete).map(float(sensitivity)))


Noise = LaplaceNoise | GaussianNoise
N = TypeVar("N", LaplaceNoise, GaussianNoise)


@lru_cache(maxsize=512)
def laplace_for(sensitivity: float, epsilon: float, *, discrete: bool = True) -> LaplaceNoise:
    """Laplace noise whose cost by OpenDP's own map does not exceed ``epsilon``.

    >>> laplace_for(1, 0.1).scale
    10.0
    """
    from celosia.kernels.budget import scales

    noise = _affordable(LaplaceNoise(scales.laplace(sensitivity, epsilon), discrete), sensitivity, epsilon)
    if noise is None:
        raise ParameterError(f"no Laplace noise found for sensitivity {sensitivity} and epsilon {epsilon}.")
    return noise


@lru_cache(maxsize=512)
def gaussian_for_zcdp(sensitivity: float, rho: float, *, discrete: bool = True) -> GaussianNoise:
    """Gaussian noise whose zCDP cost by OpenDP's own map does not exceed ``rho``.

    >>> gaussian_for_zcdp(1, 0.5).spent(1) <= 0.5
    True
    """
    from celosia.kernels.budget import scales

    noise = _affordable(GaussianNoise(scales.gaussian_zcdp(sensitivity, rho), discrete), sensitivity, rho)
    if noise is None:
        raise ParameterError(f"no Gaussian noise found for sensitivity {sensitivity} and rho {rho}.")
    return noise


def choose(scores: Sequence[float], sensitivity: float, epsilon: float) -> int:
    r"""Index of a high score: permute-and-flip, never worse than the exponential mechanism.

    The exponential mechanism picks :math:`i` with probability proportional to
    :math:`e^{\varepsilon s_i / 2\Delta}`; permute-and-flip has the same guarantee and a smaller expected error.
    References: McKenna & Sheldon (2020).

    >>> choose([0.0, 1000.0], 1.0, 1.0)
    1
    """
    from celosia.kernels.budget import scales

    if any(math.isnan(s) for s in scores):
        raise DataError("a score is missing; give one for each option.")
    scale = 2 * scales.laplace(sensitivity, epsilon)
    return int(_selection(scale)([float(s) for s in scores]))


def respond(answer: bool, probability: float) -> bool:
    """Return ``answer`` with this probability and its contrary otherwise, by a fair secret coin."""
    return bool(_response(probability)(answer))


def _affordable(noise: N, sensitivity: float, budget: float) -> N | None:
    """Return the noise, a few last bits wider where OpenDP's map, which rounds up, would exceed the budget."""
    for _ in range(60):
        if noise.spent(sensitivity) <= budget:
            return noise
        noise = replace(noise, scale=noise.scale * (1 + 2**-50))
    return None


def _draw(shape: str, scale: float, discrete: bool, values: Sequence[float]) -> list[Any]:
    if not all(_is_number(v) for v in values):  # a missing answer would become 0 and noise
        raise DataError("noise is added to finite numbers only; an answer is missing, infinite or no number.")
    if discrete:
        if any(v != int(v) for v in values):
            raise DataError("noise of whole numbers is added to whole numbers only; round the answer, or use laplace.")
        whole = [int(v) for v in values]
        if any(abs(v) > LARGEST_INTEGER for v in whole):
            raise ParameterError("an answer is too large for integer noise; use a coarser unit.")
        return list(_measurement(shape, scale, True)(whole)) if whole else []
    return list(_measurement(shape, scale, False)([float(v) for v in values])) if len(values) else []


def _is_number(value: float) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):  # a whole number beyond all floats is refused as too large
        return isinstance(value, int)


def _distance(sensitivity: float, discrete: bool) -> float:
    return math.ceil(sensitivity) if discrete else float(sensitivity)


@lru_cache(maxsize=512)
def _measurement(shape: str, scale: float, discrete: bool) -> Measurement:
    dp, m = _opendp()
    # plain `int` would mean 32 bits there
    atom = dp.atom_domain(T="i64") if discrete else dp.atom_domain(T="f64", nan=False)
    number = "i64" if discrete else "f64"
    if shape == "laplace":
        return m.make_laplace(dp.vector_domain(atom), dp.l1_distance(T=number), scale=scale)
    return m.make_gaussian(dp.vector_domain(atom), dp.l2_distance(T="f64"), scale=scale)


@lru_cache(maxsize=128)
def _selection(scale: float) -> Measurement:
    dp, m = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return m.make_noisy_max(domain, dp.linf_distance(T=float), dp.max_divergence(), scale=scale)


@lru_cache(maxsize=128)
def _response(probability: float) -> Measurement:
    _, m = _opendp()
    return m.make_randomized_response_bool(probability)


@lru_cache(maxsize=128)
def _discrete_gaussian_within(sigma: float, t: int) -> float:
    reach = max(math.ceil(12 * sigma) + 2, t)
    weights = [math.exp(-z * z / (2 * sigma * sigma)) for z in range(reach + 1)]
    return (weights[0] + 2 * sum(weights[1 : t + 1])) / (weights[0] + 2 * sum(weights[1:]))


def _opendp() -> tuple[Any, Any]:
    try:
        import opendp.measurements as measurements
        import opendp.prelude as prelude
    except ImportError:  # pragma: no cover - the test environment has it
        raise MissingExtra.of("differential privacy", "dp") from None
    prelude.enable_features("contrib")
    return prelude, measurements


def check_level(level: float) -> None:
    """Refuse what is no confidence level."""
    if not 0 < level < 1:
        raise ParameterError(f"a confidence level lies strictly between 0 and 1, got {level}.")
