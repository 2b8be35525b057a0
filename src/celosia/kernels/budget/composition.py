"""Conversions between measures of privacy loss, and composition theorems beyond plain addition."""

from __future__ import annotations

import math

from celosia.errors import ParameterError


def epsilon_of_zcdp(rho: float, delta: float) -> float:
    r"""Return the smallest :math:`\varepsilon` that :math:`\rho`-zCDP implies together with ``delta``.

    .. math:: \delta = \inf_{\alpha > 1} \frac{e^{(\alpha - 1)(\alpha\rho - \varepsilon)}}{\alpha - 1} (1 -
              1/\alpha)^{\alpha}

    Tighter than the textbook :math:`\rho + 2\sqrt{\rho \ln(1/\delta)}`. References: Canonne, Kamath & Steinke
    (2020), corollary 13.

    >>> round(epsilon_of_zcdp(0.1, 1e-6), 3) < 0.1 + 2 * math.sqrt(0.1 * math.log(1e6))
    True
    """
    _check_delta(delta)
    if rho == 0:
        return 0.0
    from scipy.optimize import minimize_scalar

    def epsilon(log_a: float) -> float:  # alpha = 1 + exp(log_a): smooth and unimodal on a log scale
        a = 1 + math.exp(log_a)
        return a * rho + (a * math.log1p(-1 / a) - math.log(delta) - math.log(a - 1)) / (a - 1)

    centre = 0.5 * math.log(math.log(1 / delta) / rho)
    smallest = minimize_scalar(epsilon, bounds=(centre - 12, centre + 12), method="bounded", options={"xatol": 1e-10})
    return max(0.0, float(smallest.fun))


def zcdp_of_approximate(epsilon: float, delta: float) -> float:
    r"""Return the largest :math:`\rho` whose guarantee implies :math:`(\varepsilon, \delta)`.

    >>> rho = zcdp_of_approximate(1.0, 1e-6)
    >>> round(epsilon_of_zcdp(rho, 1e-6), 6)
    1.0
    """
    _check_delta(delta)
    low, high = 0.0, epsilon  # rho-zCDP implies no epsilon below rho itself
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of_zcdp(middle, delta) <= epsilon else (low, middle)
    return low


def advanced_composition(epsilon: float, delta: float, n: int, slack: float) -> tuple[float, float]:
    r"""Cost of ``n`` adaptive :math:`(\varepsilon, \delta)` releases, paying ``slack`` in delta for a smaller
    epsilon.

    .. math:: \varepsilon' = \varepsilon \sqrt{2 n \ln(1/\delta')} + n \varepsilon (e^{\varepsilon} - 1), \qquad
              \delta_{\text{total}} = n\delta + \delta'

    or plain addition when that is smaller. References: Dwork, Rothblum & Vadhan (2010).

    >>> advanced_composition(0.01, 0, 10_000, 1e-6)[0] < 100
    True
    """
    _check_delta(slack)
    if n < 1:
        raise ParameterError(f"compose at least one release, got n = {n}.")
    grown = epsilon * math.sqrt(2 * n * math.log(1 / slack)) + n * epsilon * math.expm1(epsilon)
    return (grown, n * delta + slack) if grown < n * epsilon else (n * epsilon, n * delta)


def group(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    r"""Guarantee for ``size`` people together: :math:`(k\varepsilon,\ \delta\,(e^{k\varepsilon} -
    1)/(e^{\varepsilon} - 1))`.

    >>> group(0.1, 0.0, 5)
    (0.5, 0.0)
    """
    if size < 1:
        raise ParameterError(f"a group has at least one person, got {size}.")
    if delta == 0:
        return size * epsilon, 0.0
    factor = size if epsilon == 0 else math.expm1(size * epsilon) / math.expm1(epsilon)
    return size * epsilon, min(1.0, delta * factor)


def posterior(prior: float, epsilon: float) -> float:
    r"""Return the largest probability that a belief can reach after one :math:`\varepsilon`-private answer.

    .. math:: \frac{e^\varepsilon p}{1 + (e^\varepsilon - 1) p}

    A way to read epsilon: with a prior of one half, 0.1 allows 0.525 and 1 allows 0.731.

    >>> round(posterior(0.5, 1.0), 3)
    0.731
    """
    return math.exp(epsilon) * prior / (1 + math.expm1(epsilon) * prior)


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ParameterError(f"delta must lie strictly between 0 and 1 here, got {delta}.")
