"""Fuzzy sets: shapes by hand, operations by their laws, messages word for word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.errors import ParameterError
from celosia.fuzzy import FuzzySet, Members, Sampled, Trapezoid

LINE = np.linspace(-5, 15, 401)


@pytest.mark.parametrize(
    ("literal", "x", "degrees"),
    [
        ("(0;1;2)", [-1, 0, 0.5, 1, 1.5, 2, 3], [0, 0, 0.5, 1, 0.5, 0, 0]),
        ("(-inf;1;2)", [-9, 1, 1.25, 2, 9], [1, 1, 0.75, 0, 0]),
        ("(1;2;inf)", [-9, 1, 1.25, 2, 9], [0, 0, 0.25, 1, 1]),
        ("(0;1;2;3)", [-1, 0.5, 1, 1.5, 2, 2.5, 4], [0, 0.5, 1, 1, 1, 0.5, 0]),
        ("(0;0;2)", [0, 1, 2], [1, 0.5, 0]),  # equal points: a vertical edge
        ("(-inf;1;1)", [1, 1.01], [1, 0]),
        ("(-inf;-inf;1;2)", [-9, 1.5, 3], [1, 0.5, 0]),
    ],
)
def test_shapes_by_hand(literal, x, degrees):
    assert FuzzySet.parse(literal)(x).tolist() == degrees


@pytest.mark.parametrize(
    "literal", ["(0;1;2)", "(-inf;30;42)", "(54;66;inf)", "(30;36;54;60)", "{a, b}", "(0.5;1;2.25)"]
)
def test_a_literal_survives_the_round_trip(literal):
    assert str(FuzzySet.parse(literal)) == literal
    assert FuzzySet.parse(str(FuzzySet.parse(literal))) == FuzzySet.parse(literal)


def test_decreasing_points_are_refused():
    with pytest.raises(ParameterError) as error:
        FuzzySet.parse("(0;42;30)")
    assert str(error.value) == (
        "fuzzy set '(0;42;30)': the points must not decrease, got 30 after 42. "
        "Write them from left to right, for example '(0;30;42)'."
    )


@pytest.mark.parametrize(
    "text", ["", "0;1;2", "(0;1)", "(0;1;2;3;4)", "(0,1,2)", "(a;b;c)", "(nan;1;2)", "(-inf;1;2;3)", "(inf;inf;inf)"]
)
def test_an_unreadable_literal_says_what_to_write(text):
    with pytest.raises(ParameterError, match=r"cannot be read. Write '\(a;b;c\)'"):
        FuzzySet.parse(text)


sets = st.tuples(*[st.integers(-4, 14)] * 4).map(lambda p: Trapezoid(*map(float, sorted(p))))


@given(sets, sets, st.floats(-0.99, 50))
def test_the_laws_of_the_operations(a, b, lam):
    assert (a | b).equals(b | a, LINE)
    assert (~(a | b)).equals(~a & ~b, LINE)  # De Morgan
    assert (~(a + b)).equals(~a * ~b, LINE)  # and its algebraic twin
    assert (a | b).includes(a, LINE)
    assert a.includes(a & b, LINE)
    assert (a & b).includes(a * b, LINE)
    assert (a + b).includes(a | b, LINE)
    assert a.complement(0).equals(~a, LINE)
    assert a.complement(lam).includes(a.complement(lam + 1), LINE)  # larger λ, smaller set
    assert a.is_convex(LINE)
    for alpha in (0.25, 0.5, 1.0):
        assert (a.cut(LINE, alpha) >= a.cut(LINE, alpha, strict=True)).all()
    assert (a.support(LINE) >= a.core(LINE)).all()


def test_the_limits_of_the_lambda_complement():
    a = Trapezoid(0, 1, 1, 2)
    inside = np.array([0.25, 0.5, 1.75])  # 0 < μ < 1
    assert np.allclose(a.complement(-1 + 1e-12)(inside), 1)
    assert np.allclose(a.complement(1e12)(inside), 0, atol=1e-9)
    for lam in (-0.9, 0.0, 7.0):
        assert a.complement(lam)([1, 0]).tolist() == [0, 1]
    with pytest.raises(ParameterError, match="lam must be greater than -1, got -1"):
        a.complement(-1)


def test_cuts_core_and_support_by_hand():
    a = FuzzySet.parse("(0;1;2)")
    x = [0, 0.5, 1, 1.5, 2]
    assert a.cut(x, 0.5).tolist() == [False, True, True, True, False]
    assert a.cut(x, 0.5, strict=True).tolist() == [False, False, True, False, False]
    assert a.cut(x, 0.0).all()  # the 0-cut with ≥ is the universe
    assert a.core(x).tolist() == [False, False, True, False, False]
    assert a.support(x).tolist() == [False, True, True, True, False]
    assert a.is_normal(x)
    assert not a.is_normal([0.5, 1.5])
    assert not (a | FuzzySet.parse("(3;4;5)")).is_convex(LINE)


def test_sampled_and_crisp_sets():
    assert Sampled((0, 2), (1, 0))([-1, 0, 1, 2]).tolist() == [0, 1, 0.5, 0]
    assert Members([47677, 47602])([47677, 1]).tolist() == [1, 0]
    with pytest.raises(ParameterError, match="one degree per point, got 2 points and 1 degrees"):
        Sampled((0, 1), (1,))
    with pytest.raises(ParameterError, match="points must increase"):
        Sampled((1, 1), (0, 1))
    with pytest.raises(ParameterError, match="degrees must be from 0 to 1, got 0 to 2"):
        Sampled((0, 1), (0, 2))


@pytest.mark.parametrize(
    ("literal", "values", "degrees"),
    [
        ("{1:0.1, 2:0.35}", [1.0, 2.0, 3.0], [0.1, 0.35, 0.0]),
        ("{a: 1, b:0}", ["a", "b"], [1.0, 0.0]),
        ("{x:.5, y}", ["x", "y", "z"], [0.5, 1.0, 0.0]),
    ],
)
def test_values_may_have_degrees(literal, values, degrees):
    fuzzy = FuzzySet.parse(literal)
    assert fuzzy(values).tolist() == degrees
    assert FuzzySet.parse(str(fuzzy))(values).tolist() == degrees


def test_members_may_hold_a_colon():
    assert FuzzySet.parse("{08:00, 09:30}")(["08:00", "10:00"]).tolist() == [1, 0]
