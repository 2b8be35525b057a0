"""No accepted question can fail in the database: every literal and every intermediate value has a type that holds it."""

from __future__ import annotations

import pytest

from celosia.gateway.sql.parse import Refused

PEOPLE = {
    "who": {"type": "integer"},
    "income": {"type": "number", "bounds": [0, 10_000]},
    "share": {"type": "number", "bounds": [1e-12, 1]},
    "big": {"type": "integer", "bounds": [-1e15, 1e15]},
}
ROWS = (
    "CREATE TABLE t (who INTEGER, income DOUBLE PRECISION, share DOUBLE PRECISION, big BIGINT)",
    "INSERT INTO t VALUES (17, 5432.1, 1e-10, 999999999999999), (18, 100.0, 0.5, -5), (19, NULL, NULL, NULL)",
)


@pytest.mark.parametrize(
    "asked",
    [
        # 10^10 does not fit 32 bits, in which a database computes with plain whole literals
        "SUM(CASE WHEN who = 17 AND income > 5000 THEN 100000 ELSE 0 END * 100000)",
        "SUM(CASE WHEN income > 5000 THEN 2000000000 ELSE 0 END + 2000000000)",
        "SUM(ABS(CASE WHEN income > 5000 THEN -2147483647 ELSE 0 END - 2000000000))",
        "SUM(CASE WHEN income > 5000 THEN 46341 ELSE 1 END * CASE WHEN income > 5000 THEN 46341 ELSE 1 END)",
        "SUM(GREATEST(2147483647, 1) + FLOOR(income))",
        "SUM(COALESCE(2147483647, 1) * 2)",
        "COUNT(CASE WHEN 2147483647 + 1 > who THEN 1 END)",
        "MAX(CASE WHEN income > 5000 THEN 65536 ELSE 0 END * 65536)",
        "VARIANCE(CASE WHEN income > 5000 THEN 65536 ELSE 0 END * 65536)",
        "SUM(big)",
        "VARIANCE(big)",
        "MEDIAN(big)",
        "SUM(CASE WHEN who = 17 THEN 1.5 ELSE big END)",
        "SUM(COALESCE(income, big, 1))",
        "SUM(LEAST(income, big))",
        "COUNT(CASE WHEN who IN (1, 17.5, 4000000000) THEN 1 END)",
    ],
)
def test_whole_numbers_have_room(empty_database, ask_over, asked):
    gateway = ask_over(empty_database, PEOPLE, *ROWS)
    assert len(gateway.ask(f"SELECT {asked} FROM t", epsilon=1.0).rows) == 1


def test_a_divisor_that_is_read_as_zero_is_refused(empty_database, ask_over):
    """Values nearer to 0 than 1e-9 are read as 0, so bounds that begin below keep nothing away from it."""
    gateway = ask_over(empty_database, PEOPLE, *ROWS)
    with pytest.raises(Refused, match="divisor may be zero"):
        gateway.ask("SELECT SUM(1 / share) FROM t", epsilon=1.0)
    gateway.ask("SELECT SUM(1 / GREATEST(share, 1e-9)) FROM t", epsilon=1.0)


def small(divisions: int) -> str:
    """The smallest number that so many divisions can make: each loses 15 digits, each difference 16 more."""
    found = "(1.1e-9 - 1.0999999999999998e-9)"
    for _ in range(divisions):
        found = f"({found} / 1e15 - {found} / 999999999999999)"
    return found


@pytest.mark.parametrize("most", ["1", "1e15"])
def test_small_numbers_do_not_underflow(empty_database, ask_over, most):
    """PostgreSQL fails when a product of two numbers other than 0 is 0, so products are few enough for any double."""
    gateway = ask_over(empty_database, PEOPLE, *ROWS)
    for divisions in range(1, 5):
        row = f"CASE WHEN who = 17 AND income > 5000 THEN {small(divisions)} WHEN who = 17 THEN {most} ELSE -{most} END"
        gateway.ask(f"SELECT VARIANCE({row}) FROM t", epsilon=1.0)
    with pytest.raises(Refused, match="more than 4 products"):
        gateway.ask(f"SELECT VARIANCE({small(5)}) FROM t", epsilon=1.0)
