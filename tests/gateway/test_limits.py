"""What a question may cost the machine: patterns, size, depth and time, and what is said when it is too much."""

from __future__ import annotations

import pytest

from celosia.budget.cost import Cost
from celosia.gateway.gateway import NoAnswer
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.sql.build import build
from celosia.gateway.sql.parse import Refused

PEOPLE = {
    "who": {"type": "integer"},
    "age": {"type": "integer", "bounds": [0, 120]},
    "note": {"type": "text"},
}
ROWS = ("CREATE TABLE t (who INTEGER, age INTEGER, note TEXT)", "INSERT INTO t VALUES (17, 37, 'fever'), (18, 5, '%_')")


def test_plain_patterns_are_answered(empty_database, ask_over):
    gateway = ask_over(empty_database, PEOPLE, *ROWS)
    patterns = {"fev%": 1, "%ver": 1, "%eve%": 1, "fever": 1, "eve%": 0, "%eve": 0, "Fev%": 0, "%": 2, "%%": 2, "": 0}
    for pattern, expected in patterns.items():
        answer = gateway.ask(f"SELECT COUNT(*) AS n FROM t WHERE note LIKE '{pattern}'", epsilon=2000.0)
        assert answer.value("n") == expected, pattern


@pytest.mark.parametrize("pattern", ["%e%e%", "%e%e%e%e%e%e%e%e%_~", "f_ver", "_", "f%r", "%%e%", "f\\%", "x" * 101])
def test_patterns_that_may_take_long_are_refused(pattern):
    """With many wildcards a text of one person can take seconds: how long an answer takes would tell about it."""
    facts = DatasetFacts.of({"name": "t", "epsilon": 1, "tables": {"t": {"columns": PEOPLE}}})
    for condition in (
        f"CASE WHEN who = 17 AND age = 37 THEN note LIKE '{pattern}' ELSE FALSE END",
        f"note NOT LIKE '{pattern}'",
    ):
        with pytest.raises(Refused, match="'word%', '%word' or '%word%'"):
            build(f"SELECT COUNT(*) FROM t WHERE {condition}", facts, "duckdb", {"t": "t"})


SLOW = {
    "duckdb": "CREATE VIEW t AS SELECT CAST(a.range % 7 AS BIGINT) AS age FROM range(100000) a, range(40000) b",
    "sqlite": "CREATE VIEW t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 60000000) "
    "SELECT x % 7 AS age FROM c",
    "postgresql": "CREATE VIEW t AS SELECT 1 AS age FROM pg_sleep(10)",
}


def test_a_statement_that_takes_too_long_gets_no_answer(empty_database, ask_over):
    age = {"age": PEOPLE["age"]}
    gateway = ask_over(empty_database, age, SLOW[empty_database.partition(":")[0]], seconds=0.5)
    with pytest.raises(NoAnswer) as slow:
        gateway.ask("SELECT COUNT(*) FROM t WHERE age < 3", epsilon=0.5)
    assert gateway.balance().lifetime.spent == Cost.pure(0.5)
    with pytest.raises(NoAnswer) as quantile:
        gateway.ask("SELECT MEDIAN(age) FROM t", epsilon=0.25)
    assert str(slow.value) == str(quantile.value)
    assert "time" not in str(slow.value)
    # the connection is still good for what is quick
    assert gateway._database.rows("SELECT 1") == [(1,)]
