"""Delta of sampling and removing small classes, against the maximum written out."""

from __future__ import annotations

import math

import pytest

from celosia.errors import ParameterError
from celosia.methods.private.sampling_bounds import delta_of, share, smallest_k


def tail(n: int, beta: float, gamma: float) -> float:
    """Pr[Bin(n, β) > γ n], by adding up."""
    return math.fsum(math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1) if j > gamma * n)


@pytest.mark.parametrize(("epsilon", "part"), [(0.3, 1.0), (1.0, 1.0), (1.0, 0.5), (2.5, 1.0), (2.5, 0.2)])
@pytest.mark.parametrize("k", [2, 5, 13])
def test_delta_is_the_largest_tail_of_all_class_sizes(epsilon, part, k):
    beta = part * share(epsilon)
    gamma = (math.exp(epsilon) - 1 + beta) / math.exp(epsilon)
    first = max(1, math.ceil(k / gamma - 1))
    assert delta_of(k, beta, epsilon) == pytest.approx(max(tail(n, beta, gamma) for n in range(first, first + 150)))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-5), (2.0, 0.01)])
def test_no_smaller_class_size_is_enough(epsilon, delta):
    k = smallest_k(epsilon, delta)
    assert delta_of(k, share(epsilon), epsilon) <= delta < delta_of(k - 1, share(epsilon), epsilon)


def test_refusals():
    for delta in (0.0, 1.0, 1.5, -0.1):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            smallest_k(1.0, delta)
    for beta in (0.0, share(1.0) + 0.01):
        with pytest.raises(ParameterError, match="not covered"):
            delta_of(5, beta, 1.0)
