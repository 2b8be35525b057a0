"""Mechanisms that add noise to numbers: Laplace and Gaussian, on a fine grid of the reals or on whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

from pydantic import Field

from celosia.parts import Mechanism

if TYPE_CHECKING:
    from celosia.kernels.budget.cost import Cost
    from celosia.kernels.budget.noise import Noise


class _Additive(Mechanism):
    """Noise added to each number of an answer."""

    sensitivity: float = Field(
        default=1.0, gt=0, allow_inf_nan=False, description="the most one person moves the answer"
    )

    def noise(self) -> Noise:
        """Return the noise with its exact distribution."""
        raise NotImplementedError

    def global_sensitivity(self) -> float:
        """Return the global sensitivity of the answer: the most that one person changes all numbers together."""
        return self.sensitivity

    def scale(self) -> float:
        """Return the scale of the noise."""
        return self.noise().scale

    def variance(self) -> float:
        """Return the variance of each number."""
        return self.noise().variance

    def coverage(self, t: float) -> float:
        """Return the probability that a number is off by at most ``t``, before a query is asked."""
        return self.noise().probability_within(t)

    def half_width(self, level: float = 0.95) -> float:
        """Return the error that is not exceeded with probability ``level``."""
        return self.noise().half_width(level)

    def threshold(self, delta: float, touched: int = 1) -> int:
        """Return the smallest noisy count at which a group may be released whose name is not public.

        ``touched`` is the most groups that one person is in, each with a count of 1; a group that this person alone
        makes is shown with a probability of at most ``delta``.
        """
        from celosia.kernels.budget.scales import threshold

        noise = self.noise()
        return threshold(noise.scale, delta, touched, shape=noise.shape)

    def interval(self, answer: float, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that covers the true number with probability ``level``."""
        half = self.half_width(level)
        return answer - half, answer + half

    @overload
    def answer(self, value: float, /) -> float: ...
    @overload
    def answer(self, value: Sequence[float], /) -> list[float]: ...
    def answer(self, value: float | Sequence[float], /) -> float | list[float]:
        """Return the number, or several numbers, with fresh noise from the generator of the operating system."""
        noisy = self.noise().add(list(value) if isinstance(value, Iterable) else [value])
        return noisy if isinstance(value, Iterable) else noisy[0]


class _Pure(_Additive):
    """Noise that costs an epsilon and nothing else."""

    epsilon: float = Field(gt=0, le=1e6, description="privacy loss of one answer")

    def cost(self) -> Cost:
        """Return the privacy cost of one answer."""
        from celosia.kernels.budget.cost import Cost

        return Cost.pure(self.epsilon)


class Laplace(_Pure):
    r"""Add Laplace noise: the classical mechanism for pure differential privacy.

    .. math:: M(x) = f(x) + \mathrm{Lap}(\Delta_1 / \varepsilon)

    The noise lies on a fine grid of the reals and is drawn by OpenDP, so its low bits tell nothing about the
    answer (Mironov
    2012). A count has sensitivity 1; so has a histogram as a whole under add-remove neighbours, but 2 under
    change-one. It
    protects one person's contribution up to ``sensitivity``: a person who moves the answer by more is not protected.
    References: Dwork, McSherry, Nissim & Smith (2006).

    >>> mechanism = Laplace(epsilon=0.1)
    >>> mechanism.scale(), mechanism.variance(), round(mechanism.coverage(30), 2)
    (10.0, 200.0, 0.95)
    """

    def noise(self) -> Noise:
        """Laplace noise of scale sensitivity / epsilon."""
        from celosia.kernels.budget.noise import laplace_for

        return laplace_for(self.sensitivity, self.epsilon, discrete=False)


class Geometric(_Pure):
    r"""Add discrete Laplace (two-sided geometric) noise: whole numbers stay whole numbers.

    .. math:: \Pr[Z = z] = \frac{1 - p}{1 + p} p^{|z|}, \qquad p = e^{-\varepsilon / \Delta_1}

    The best choice for counts: exactly epsilon, and never a larger variance than Laplace. Answers must be whole
    numbers, and so
    must the sensitivity. References: Ghosh, Roughgarden & Sundararajan (2009).

    >>> Geometric(epsilon=0.1).interval(14237)
    (14207, 14267)
    """

    sensitivity: int = Field(default=1, ge=1, description="the most one person moves the answer")

    def noise(self) -> Noise:
        """Discrete Laplace noise of scale sensitivity / epsilon."""
        from celosia.kernels.budget.noise import laplace_for

        return laplace_for(self.sensitivity, self.epsilon)


class Gaussian(_Additive):
    r"""Add Gaussian noise with the smallest standard deviation that ε and δ allow.

    .. math:: \Phi\Big(\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}\Big)
              - e^{\varepsilon} \Phi\Big(-\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}\Big) \le \delta

    ``sensitivity`` is in the :math:`L_2` norm: many numbers that one person moves a little need less noise than
    with Laplace. The
    guarantee fails with probability delta; take delta far below one over the number of people.
    References: Balle & Wang (2018).

    >>> round(Gaussian(epsilon=1, delta=1e-5).scale(), 3)
    3.731
    """

    epsilon: float = Field(gt=0, le=1e6, description="privacy loss of one answer")
    delta: float = Field(gt=0, lt=1, description="probability with which the promise may fail")

    def noise(self) -> Noise:
        """Gaussian noise on a fine grid of the reals."""
        from celosia.kernels.budget.noise import GaussianNoise
        from celosia.kernels.budget.scales import gaussian

        return GaussianNoise(gaussian(self.sensitivity, self.epsilon, self.delta), discrete=False)

    def cost(self) -> Cost:
        """Return the privacy cost of one answer."""
        from celosia.kernels.budget.cost import Cost

        return Cost.of("approximate", self.epsilon, self.delta)


class DiscreteGaussian(_Additive):
    r"""Add discrete Gaussian noise, whose cost is counted in zero-concentrated differential privacy (zCDP).

    .. math:: \Pr[Z = z] \propto e^{-z^2 / 2\sigma^2}, \qquad \sigma = \Delta_2 / \sqrt{2\rho}

    Whole numbers stay whole numbers, and the costs :math:`\rho` of many answers add up to far less than their epsilons
    would. ``sensitivity`` is in the :math:`L_2` norm. Answers must be whole numbers. The promise holds for every delta
    above 0 with an epsilon that grows as delta falls (:func:`celosia.kernels.budget.composition.epsilon_of_zcdp`).
    References: Bun & Steinke (2016); Canonne, Kamath & Steinke (2020).

    >>> DiscreteGaussian(rho=0.5).scale(), DiscreteGaussian(rho=0.5).cost().measure
    (1.0, 'zcdp')
    """

    rho: float = Field(gt=0, le=1e6, description="privacy loss of one answer, in zCDP")

    def noise(self) -> Noise:
        """Gaussian noise on the whole numbers."""
        from celosia.kernels.budget.noise import gaussian_for_zcdp

        return gaussian_for_zcdp(self.sensitivity, self.rho)

    def cost(self) -> Cost:
        """Return the privacy cost of one answer."""
        from celosia.kernels.budget.cost import Cost

        return Cost.of("zcdp", self.rho)
