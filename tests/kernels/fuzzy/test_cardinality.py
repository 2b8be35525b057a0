"""Cardinalities: worked examples, and the definitions in exact fractions as a second way."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.errors import ParameterError
from celosia.fuzzy import at_least, count, fuzzy_count, possibilities, sigma_count

EXAMPLE = [0.7, 0.6, 0.3, 0]  # Example 2.40


def test_the_worked_examples():
    assert np.allclose(fuzzy_count(EXAMPLE), [0.3, 0.4, 0.6, 0.3, 0], atol=1e-15)
    assert count(EXAMPLE) == 2
    assert sigma_count(EXAMPLE) == pytest.approx(1.6, abs=1e-15)
    assert np.allclose([at_least(EXAMPLE, k) for k in range(5)], [0.6, 0.6, 0.6, 0.3, 0])
    other = [0.1, 0.35, 0.4, 0, 0.3]  # Example 2.37
    assert sigma_count(other) == pytest.approx(1.15, abs=1e-15)
    assert count(other) == 0


def exact_count(mu: list[Fraction]) -> list[Fraction]:
    e = [Fraction(1), *sorted(mu, reverse=True), Fraction(0)]
    return [min(e[k], 1 - e[k + 1]) for k in range(len(mu) + 1)]


def exact_whole(mu: list[Fraction]) -> int:
    """|A|_nf by the index j of (2.10) and (2.12), not by the closed form."""
    if not any(mu):
        return 0
    e = [Fraction(1), *sorted(mu, reverse=True)]
    j = max(s for s in range(1, len(mu) + 1) if e[s - 1] + e[s] > 1)
    return j if e[j] >= Fraction(1, 2) else j - 1


degrees = st.lists(st.integers(0, 60).map(lambda i: Fraction(i, 60)), min_size=1, max_size=7)


@given(degrees)
def test_the_definitions_in_fractions_agree(mu):
    floats = [float(m) for m in mu]
    exact = exact_count(mu)
    assert np.allclose(fuzzy_count(floats), [float(p) for p in exact], atol=1e-14)
    assert np.allclose(possibilities(floats), [float(max(exact[k:])) for k in range(len(mu) + 1)], atol=1e-14)
    assert count(floats) == exact_whole(mu)


@given(degrees)
def test_the_closed_form_of_at_least(mu):
    """Poss(≥ k) is μ_(k) for k ≥ j, else max(1 - μ_(j), μ_(j)) (2.9)."""
    if not any(mu):
        return
    e = [Fraction(1), *sorted(mu, reverse=True)]
    j = max(s for s in range(1, len(mu) + 1) if e[s - 1] + e[s] > 1)
    for k in range(len(mu) + 1):
        want = e[k] if k >= j else max(1 - e[j], e[j])
        assert at_least([float(m) for m in mu], k) == pytest.approx(float(want), abs=1e-14)


@given(degrees)
def test_the_curve_falls_and_cells_are_independent(mu):
    floats = np.array([float(m) for m in mu])
    curve = possibilities(floats)
    assert (np.diff(curve) <= 0).all()
    both = np.column_stack([floats, 1 - floats])
    assert possibilities(both)[:, 0].tolist() == curve.tolist()
    assert count(both).tolist() == [count(floats), count(1 - floats)]
    assert sigma_count(both).sum() == pytest.approx(len(mu))


def test_crisp_sets_have_their_size():
    crisp = [1, 1, 0, 1]
    assert fuzzy_count(crisp).tolist() == [0, 0, 0, 1, 0]
    assert count(crisp) == 3 == sigma_count(crisp)


def test_ties_at_one_half_count_once_also_when_computed():
    assert count([0.5, 0.5, 0.5, 0.5]) == 1
    assert count([(5 - 3.5) / 3, 0.1 + 0.2 + 0.2, 0.9]) == 2  # halves with rounding errors
    assert count([0.5 + 1e-8]) == 1
    assert count([0.5 - 1e-8]) == 0


def test_extremes():
    assert possibilities([]).tolist() == [1.0]
    assert count([]) == 0
    assert at_least([1, 1], 99) == 0
    assert at_least(np.ones((3, 2)), [1, 3, 4]).tolist() == [[1, 1], [1, 1], [0, 0]]
    with pytest.raises(ParameterError, match="k must be at least 0, got -1"):
        at_least([1], -1)
    with pytest.raises(ParameterError, match=r"degrees must be from 0 to 1, got -0\.5 to 2"):
        sigma_count([-0.5, 2])
    with pytest.raises(ParameterError, match="needs a list of degrees"):
        count(0.5)
