"""Tracked bounds hold for what DuckDB really computes, and intervals after the noise hold what goes into them."""

from __future__ import annotations

import math
from dataclasses import replace

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.gateway.metadata import ColumnFacts, DatasetFacts
from celosia.gateway.sql import after as a
from celosia.gateway.sql.build import build
from celosia.gateway.sql.emit import aggregate
from celosia.gateway.sql.parse import Refused
from celosia.gateway.sql.plan import quantile_of, square_of, sum_of
from celosia.gateway.sql.steps import select_lists
from celosia.gateway.sql.values import Value
from celosia.kernels.budget.neighbours import Sensitivity

COLUMNS = {
    "x": {"type": "integer", "bounds": [-7, 12]},
    "y": {"type": "number", "bounds": [-1.5, 2.25]},
    "z": {"type": "integer", "bounds": [1, 9]},
    "b": {"type": "boolean"},
}
FACTS = DatasetFacts.of({"name": "d", "epsilon": 1.0, "tables": {"t": {"columns": COLUMNS}}})
leaves = st.sampled_from(["x", "y", "z", "3", "0.5", "-2"])
numbers = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, leaves).map(lambda p: f"({p[0]} / GREATEST({p[1]}, 1))"),
        inner.map(lambda e: f"ABS({e})"),
        inner.map(lambda e: f"FLOOR({e})"),
        inner.map(lambda e: f"CEIL({e})"),
        inner.map(lambda e: f"ROUND({e})"),
        st.tuples(inner, inner).map(lambda p: f"LEAST({p[0]}, {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"CASE WHEN b THEN {p[0]} WHEN x > 3 THEN {p[1]} ELSE 0 END"),
        st.tuples(inner, inner).map(lambda p: f"COALESCE({p[0]}, {p[1]})"),
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def rows():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT CAST(a.i AS INTEGER) AS x, c.v AS y, CAST(d.k AS INTEGER) AS z, e.b AS b FROM "
        "(SELECT unnest([-100, -7, -1, 0, 3, 12, 500, NULL]) AS i) a CROSS JOIN "
        "(SELECT unnest([-9e99, -1.5, -1e-300, 0, 0.3, 2.25, 'NaN'::DOUBLE, 'inf'::DOUBLE, NULL]) AS v) c CROSS JOIN "
        "(SELECT unnest([0, 1, 5, 9, NULL]) AS k) d CROSS JOIN (SELECT unnest([true, false, NULL]) AS b) e"
    )
    return connection


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(expression=numbers)
def test_values_stay_inside_their_bounds(rows, expression):
    try:
        plan = build(f"SELECT SUM({expression}) FROM t", FACTS, "duckdb", {"t": "t"})
    except Refused as refusal:
        reason = str(refusal)
    else:
        reason = ""
    if reason:
        assert any(word in reason for word in ("products", "exceed", "nested", "too large"))
        return
    (number,) = plan.numbers
    reads = ", ".join(f"{sql} AS {inner}" for sql, inner in plan.reads)
    inner = f"SELECT {reads or '1 AS one'} FROM t AS t0"
    for listed in [*select_lists(plan.steps, [number.value.sql]), [f"{number.value.sql} AS v"]]:
        inner = f"SELECT {', '.join(listed)} FROM ({inner}) AS s"
    low, high = rows.execute(f"SELECT MIN(v), MAX(v) FROM ({inner})").fetchone()
    if low is not None:
        slack = 1e-9 * max(1, abs(number.value.low), abs(number.value.high))
        assert number.value.low - slack <= low
        assert high <= number.value.high + slack
        if number.value.whole:
            assert rows.execute(f"SELECT COUNT(*) FROM ({inner}) WHERE v <> FLOOR(v)").fetchone() == (0,)


def test_units_of_sums():
    age = Value("age", "number", 17, 90, whole=True)
    plain, centred = sum_of(age, centred=False), sum_of(age, centred=True)
    assert (plain.low, plain.high, plain.unit) == (17, 90, 1)
    assert (centred.low, centred.high, centred.centre) == (-36, 37, 53)
    assert plain.sensitivity("add-remove", 1, 1).l1 == 90
    assert centred.sensitivity("add-remove", 1, 1).l1 == 37
    assert square_of(age, 53).high == 37**2
    weight = Value("w", "number", 0.0, 300.0)
    fine = sum_of(weight, centred=False)
    assert fine.unit * fine.high == pytest.approx(300, rel=1e-5)
    assert math.log2(fine.unit).is_integer()
    huge = sum_of(Value("h", "number", 0, 1e15, whole=True), centred=False)
    assert huge.high <= 2**31
    declared = Value("c", "number", 0.0, 10.0, facts=ColumnFacts(type="number", bounds=(0, 10), unit=0.01))
    assert sum_of(declared, centred=False).high == 1000
    assert len(quantile_of(age, 0.5).candidates()) == 74
    assert len(quantile_of(weight, 0.5).candidates()) == 1025
    assert quantile_of(age, 0.5).sensitivity("add-remove", 1, 1).l1 == 0.5
    assert quantile_of(age, 0.9).sensitivity("add-remove", 2, 4).l1 == 1.8
    assert quantile_of(age, 0.9).sensitivity("change-one", 1, 1).l1 == 1
    assert quantile_of(age, 0.9).sensitivity("change-one", 3, 4) == Sensitivity(pytest.approx(5.4), pytest.approx(5.4))


expressions = st.recursive(
    st.one_of(st.sampled_from([a.number(0), a.number(1)]), st.floats(-5, 5).map(a.constant)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner).map(lambda p: a.After(p[0], (p[1], p[2]))),
        st.tuples(st.sampled_from(["neg", "abs", "floor", "ceil"]), inner).map(lambda p: a.After(p[0], (p[1],))),
        st.tuples(st.sampled_from(["greatest", "least"]), inner, inner).map(lambda p: a.After(p[0], (p[1], p[2]))),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(expressions, st.floats(-1, 1), st.floats(-1, 1), st.floats(-20, 20), st.floats(-20, 20))
def test_intervals_hold_every_point_inside(expression, s, t, x, y):
    cell = a.Cell((), (x, y), (1.0, 1.0), (2.0, 3.0))
    interval = expression.interval(cell)
    inside = a.Cell((), (x + 2 * s, y + 3 * t), (1.0, 1.0), (2.0, 3.0))
    value = expression.value(inside)
    if interval is not None and value is not None:
        slack = 1e-6 * max(1.0, abs(value))
        assert interval[0] - slack <= value <= interval[1] + slack


def test_means_and_spreads_after_the_noise():
    # ten records, sum of (x - 50) is 20: mean 52; squares 540: variance 54 - 4 = 50
    cell = a.Cell((), (540.0, 20.0, 10.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    mean = a.After("mean", (a.number(1), a.number(2)), (50.0, 1.0, 0.0, 100.0))
    assert mean.value(cell) == 52
    assert mean.interval(cell) == pytest.approx((50 + 19 / 11, 50 + 21 / 9))
    spread = a.After("spread", tuple(map(a.number, range(3))), (1.0, 1.0, 2500.0, False))
    assert spread.value(cell) == 50
    low, high = spread.interval(cell)
    assert low < 50 < high
    empty = a.Cell((), (0.0, 0.0, -3.0), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    assert mean.value(empty) is None
    assert mean.interval(empty) == (0, 100)
    assert a.After("/", (a.number(0), a.constant(0))).value(cell) is None
    assert a.After("and", (a.constant(None), a.constant(False))).value(cell) is False
    assert a.After("or", (a.constant(None), a.constant(True))).value(cell) is True


def test_the_last_clamp_holds_whatever_came_before(rows):
    """The stated sensitivity rests on one clamp in the aggregate itself, even if the tracked bounds were wrong."""
    plan = build("SELECT SUM(z) FROM t WHERE z IS NOT NULL", FACTS, "duckdb", {"t": "t"})
    wrong = replace(plan, numbers=(replace(plan.numbers[0], low=2, high=3),))
    count = rows.execute("SELECT COUNT(*) FROM t WHERE z IS NOT NULL").fetchone()[0]
    (total,) = rows.execute(aggregate(wrong, "duckdb")).fetchone()
    assert 2 * count <= total <= 3 * count
    (honest,) = rows.execute(aggregate(plan, "duckdb")).fetchone()
    assert honest > 3 * count
