"""Constraints between columns: reading them, and the nearest point that meets them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from celosia.errors import ParameterError, RequirementError, UnknownName
from celosia.methods.synthetic.linear_constraints import broken, nearest_feasible, parse_constraint, system

FINE = 2.0**-30


@pytest.mark.parametrize(
    ("text", "factors", "constant", "equation"),
    [
        ("total = a + b", {"total": 1, "a": -1, "b": -1}, 0, True),
        ("a >= 0", {"a": -1}, 0, False),
        ("2.5 * a - b <= 3", {"a": 2.5, "b": -1}, -3, False),
        ("capital-gain <= total - 1e3", {"capital-gain": 1, "total": -1}, 1000, False),
        ("a + a = 2 * b", {"a": 2, "b": -2}, 0, True),
        ("-a ≥ -b", {"a": 1, "b": -1}, 0, False),
    ],
)
def test_constraints_are_read(text, factors, constant, equation):
    found = parse_constraint(text, ["a", "b", "total", "capital-gain", "capital"])
    assert (dict(found.coefficients), found.constant, found.equation) == (factors, constant, equation)


def test_wrong_constraints_are_answered():
    with pytest.raises(UnknownName, match=r"no column named 'totl'\. Did you mean 'total'"):
        parse_constraint("totl = a", ["a", "total"])
    with pytest.raises(ParameterError, match="needs one of ="):
        parse_constraint("a + b", ["a", "b"])
    with pytest.raises(ParameterError, match="empty side"):
        parse_constraint("a = ", ["a"])
    with pytest.raises(ParameterError, match="names no column"):
        parse_constraint("a - a = 0", ["a"])


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_the_nearest_point_is_that_of_a_solver(seed):
    rng = np.random.default_rng(seed)
    names = ["t", "a", "b", "c"]
    texts = ["t = a + b + fixed", "a >= 0", "b >= 0", "c <= t"]
    fixed = rng.uniform(0, 3, 3)
    y = rng.normal(size=(3, 4)) * 3
    scale = rng.uniform(0.5, 2, 4)
    limits = system([parse_constraint(s, [*names, "fixed"]) for s in texts], names, {"fixed": fixed})
    made = nearest_feasible(y, limits, scale, np.full(4, FINE))
    assert not broken(made, limits, scale).any()
    for k in range(3):
        best = minimize(
            lambda z, k=k: (((z - y[k]) / scale) ** 2).sum(),
            np.array([fixed[k] + 2.0, 1.0, 1.0, 0.0]),
            constraints=[
                {"type": "eq", "fun": lambda z, k=k: z[0] - z[1] - z[2] - fixed[k]},
                {"type": "ineq", "fun": lambda z: z[1]},
                {"type": "ineq", "fun": lambda z: z[2]},
                {"type": "ineq", "fun": lambda z: z[0] - z[3]},
            ],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        ours = (((made[k] - y[k]) / scale) ** 2).sum()
        assert ours <= best.fun + 1e-5


def test_equations_of_whole_numbers_hold_to_the_last_digit():
    rng = np.random.default_rng(1)
    fixed = rng.integers(0, 10**5, 500).astype(float)
    y = rng.normal(size=(500, 2)) * 1e4
    limits = system([parse_constraint("fixed = a + b", ["a", "b", "fixed"])], ["a", "b"], {"fixed": fixed})
    made = nearest_feasible(y, limits, y.std(axis=0), np.full(2, 2.0**-25))
    assert (made[:, 0] + made[:, 1] == fixed).all()


def test_impossible_constraints_are_said():
    free = [parse_constraint(s, ["a"]) for s in ("a >= 5", "a <= 4")]
    limits = system(free, ["a"], {"a": np.zeros(3)})
    with pytest.raises(RequirementError, match="cannot be met in 3 of 3 records"):
        nearest_feasible(np.zeros((3, 1)), limits, np.ones(1), np.full(1, FINE))
    with pytest.raises(RequirementError, match="no column that may change, and 2 records break it"):
        system([parse_constraint("x = 1", ["x"])], ["a"], {"x": np.array([1.0, 2.0, 3.0])})
    with pytest.raises(RequirementError, match="contradict"):
        system([parse_constraint(s, ["a"]) for s in ("a = 1", "a = 2")], ["a"], {"a": np.zeros(2)})
