from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.errors import ParameterError
from celosia.kernels.budget import composition
from celosia.kernels.budget.cost import Cost, parallel, sequential

epsilons = st.floats(min_value=1e-6, max_value=100, allow_nan=False)


def test_ten_tenths_are_one_exactly():
    assert sequential([Cost.pure(0.1)] * 10) == Cost.pure(1.0)


def test_four_repeats_at_a_quarter_cost_the_whole():
    # E16: four runs under a total of 0.1 get 0.025 each, so b = 4 / 0.1 = 40.
    quarter = Cost.of("pure", 0.1, shares=4)
    assert quarter.loss == 0.025
    assert quarter.times(4) == Cost.pure(0.1)


def test_parallel_takes_the_largest_and_sequential_the_sum():
    costs = [Cost.pure(0.1), Cost.pure(0.3), Cost.pure(0.2)]
    assert parallel(costs) == Cost.pure(0.3)
    assert sequential(costs) == Cost.pure(0.6)
    assert sequential([Cost.pure(0.1)] * 32) == Cost.pure(3.2)  # what 32 overlapping counts would cost
    assert parallel([Cost.pure(0.1)] * 32) == Cost.pure(0.1)  # what 32 disjoint cells cost


def test_units_are_those_that_ledgers_hold():
    """A ledger keeps whole numbers: a unit of another size would change what was spent before."""
    cost = Cost.of("approximate", 0.25, 1e-6)
    assert (cost.loss_units, cost.delta_units) == (250_000_000_000, 1_000_000_000_000)


def test_delta_adds_up():
    total = sequential([Cost.of("approximate", 0.5, 1e-6), Cost.of("approximate", 0.25, 2e-6)])
    assert (total.loss, total.delta) == (0.75, pytest.approx(3e-6))
    assert total.minus(Cost.of("approximate", 0.5, 1e-6)) == Cost.of("approximate", 0.25, 2e-6)
    assert total.minus(total) == total.minus(total.times(2)) == Cost("approximate", 0, 0)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Cost.pure(-1),
        lambda: Cost.pure(math.nan),
        lambda: Cost.pure(math.inf),
        lambda: Cost.of("approximate", 1, 1.0),
        lambda: Cost.of("pure", 1, 1e-9),
        lambda: Cost.of("pure", 1, shares=0),
        lambda: Cost.of("renyi", 1),  # type: ignore[arg-type]
        lambda: Cost.pure(1) + Cost.of("zcdp", 1),
        lambda: sequential([]),
        lambda: parallel([]),
    ],
)
def test_nonsense_is_refused(bad):
    with pytest.raises(ParameterError):
        bad()


@given(epsilons, st.integers(1, 500))
def test_shares_never_exceed_the_whole(epsilon, n):
    assert Cost.of("pure", epsilon, shares=n).times(n).fits(Cost.pure(epsilon))


@given(epsilons, epsilons)
def test_what_is_left_plus_what_is_spent_is_the_budget(total, part):
    low, high = sorted([total, part])
    assert Cost.pure(high).minus(Cost.pure(low)) + Cost.pure(low) == Cost.pure(high)


def test_zcdp_conversion_is_tighter_than_the_textbook_and_valid():
    for rho in (0.001, 0.1, 1.0, 5.0):
        for delta in (1e-4, 1e-9):
            epsilon = composition.epsilon_of_zcdp(rho, delta)
            assert epsilon <= rho + 2 * math.sqrt(rho * math.log(1 / delta))
            # the exact curve of the Gaussian mechanism of that rho can only be better than the conversion
            from celosia.kernels.budget.scales import gaussian_delta

            assert gaussian_delta(1 / math.sqrt(2 * rho), epsilon) <= delta
            assert composition.zcdp_of_approximate(epsilon, delta) == pytest.approx(rho, rel=1e-6)


def test_zcdp_of_opendp_agrees():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    curve = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=2.0)).map(1.0)
    # OpenDP optimises the same bound numerically; both are upper bounds of one curve
    assert curve.epsilon(1e-6) == pytest.approx(composition.epsilon_of_zcdp(1 / 8, 1e-6), rel=2e-3)


def test_advanced_composition_by_hand():
    # 0.1 sqrt(2 * 100 * ln 1e5) + 100 * 0.1 * (e^0.1 - 1) = 4.7985 + 1.0517
    epsilon, delta = composition.advanced_composition(0.1, 0.0, 100, 1e-5)
    assert epsilon == pytest.approx(4.7985 + 1.0517, abs=1e-3)
    assert delta == 1e-5
    assert composition.advanced_composition(0.1, 0.0, 2, 1e-5) == (0.2, 0.0)  # plain addition wins for two


def test_posterior_reading_of_epsilon():
    assert composition.posterior(0.5, math.log(3)) == pytest.approx(0.75)
    assert composition.posterior(0.1, 0.0) == pytest.approx(0.1)
    assert composition.group(1.0, 1e-9, 3)[1] == pytest.approx(1e-9 * (1 + math.e + math.e**2))
