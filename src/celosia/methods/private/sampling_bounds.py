r"""Differential privacy by sampling and k-anonymity: how a sampling share and a class size follow from epsilon
and delta.

Draw each record with probability :math:`\beta`, generalise by a scheme that does not depend on the data, and
remove classes of
fewer than :math:`k` records. The result is :math:`(\varepsilon, \delta)`-differentially private under add-remove
neighbours for

.. math:: \varepsilon \ge -\ln(1 - \beta), \qquad
          \delta(k, \beta, \varepsilon) = \max_{n \ge \lceil k/\gamma - 1 \rceil} \Pr[\mathrm{Bin}(n, \beta) >
          \gamma n],
          \qquad \gamma = \frac{e^\varepsilon - 1 + \beta}{e^\varepsilon}.

References: Li, Qardaji & Su (2012), theorem 5; Bild, Kuhn & Prasser (2018), *SafePub*.
"""

from __future__ import annotations

import math

from celosia.errors import ParameterError


def share(epsilon: float) -> float:
    r"""Compute the largest sampling probability that epsilon allows: :math:`\beta = 1 - e^{-\varepsilon}`.

    >>> round(share(1.0), 4)
    0.6321
    """
    return -math.expm1(-epsilon)


def delta_of(k: int, beta: float, epsilon: float) -> float:
    """Delta of sampling with probability ``beta`` and removing classes of fewer than ``k`` records.

    >>> delta_of(20, share(1.0), 1.0) > delta_of(40, share(1.0), 1.0)
    True
    """
    from scipy.stats import binom

    if not 0 < beta <= share(epsilon) * (1 + 1e-12):
        raise ParameterError(f"sampling with {beta} is not covered by epsilon {epsilon}; at most {share(epsilon)} is.")
    rest = (1 - beta) * math.exp(-epsilon)  # 1 - gamma, which would be lost in rounding next to 1
    gamma = 1 - rest
    # Chernoff: the tail at n is at most exp(-n KL(gamma || beta)), so the search for the maximum ends
    rate = gamma * math.log(gamma / beta) - rest * epsilon
    n, worst = max(1, math.ceil(k / gamma - 1)), 0.0
    while math.exp(-n * rate) > worst:
        worst = max(worst, float(binom.sf(n - math.ceil(rest * n), n, beta)))
        n += 1
    return worst


def smallest_k(epsilon: float, delta: float, beta: float | None = None) -> int:
    """Compute the smallest class size that gives ``delta`` at ``epsilon``.

    >>> smallest_k(1.0, 1e-5)
    61
    """
    if not 0 < delta < 1:
        raise ParameterError(f"delta must lie strictly between 0 and 1, got {delta}.")
    beta = share(epsilon) if beta is None else beta
    high = 2
    while delta_of(high, beta, epsilon) > delta:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if delta_of(middle, beta, epsilon) <= delta else (middle, high)
    return high
