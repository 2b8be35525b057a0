"""What a question may cost the machine: patterns, size, depth and time, and what is said when it is too much."""

from __future__ import annotations

import json
import time
from contextlib import closing

import pytest

from celosia.gateway.answer import cell_text
from celosia.gateway.gateway import GRID, Gateway, NoAnswer
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.sql.build import build
from celosia.gateway.sql.emit import aggregate
from celosia.gateway.sql.parse import Refused, parse
from celosia.kernels.budget.cost import Cost

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


def test_a_question_of_ten_thousand_characters_is_read_and_no_longer_one():
    question = "SELECT COUNT(*) FROM t"
    assert parse(question.ljust(10_000)) == parse(question)
    with pytest.raises(Refused, match="10001 characters; at most 10000"):
        parse(question.ljust(10_001))


@pytest.mark.parametrize("asked", ["ROUND(COUNT(*), 1, 1)", "ROUND(COUNT(*), 1, 'x')"])
def test_an_argument_that_would_be_ignored_is_refused(asked):
    facts = DatasetFacts.of({"name": "t", "epsilon": 1, "tables": {"t": {"columns": PEOPLE}}})
    with pytest.raises(Refused):
        build(f"SELECT {asked} FROM t", facts, "duckdb", {"t": "t"})


@pytest.mark.parametrize("pattern", ["%e%e%", "%e%e%e%e%e%e%e%e%_~", "f_ver", "_", "f%r", "%%e%", "f\\%", "x" * 101])
def test_patterns_that_may_take_long_are_refused(pattern):
    """With several wildcards a text of one person can take seconds: how long an answer takes would tell about it."""
    facts = DatasetFacts.of({"name": "t", "epsilon": 1, "tables": {"t": {"columns": PEOPLE}}})
    for condition in (
        f"CASE WHEN who = 17 AND age = 37 THEN note LIKE '{pattern}' ELSE FALSE END",
        f"note NOT LIKE '{pattern}'",
    ):
        with pytest.raises(Refused, match="'word%', '%word' or '%word%'"):
            build(f"SELECT COUNT(*) FROM t WHERE {condition}", facts, "duckdb", {"t": "t"})


SLOW = {
    "duckdb": "CREATE VIEW t AS SELECT CAST(a.range % 7 AS BIGINT) AS age FROM range(100000) a, range(40000000) b",
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


FACTS = DatasetFacts.of(
    {
        "name": "t",
        "epsilon": 900_000.0,
        "tables": {
            "t": {
                "columns": {
                    **PEOPLE,
                    "ok": {"type": "boolean"},
                    "many": {"type": "integer", "bounds": [1, 1000]},
                    "date": {"type": "date"},
                }
            }
        },
    }
)
LARGE = {
    "sums": "SELECT SUM(" + " + ".join(["age"] * 400) + ") FROM t",
    "sums of sums": "SELECT " + " + ".join(["COUNT(*)"] * 200) + " FROM t",
    "constants": "SELECT ok, COUNT(*) + " + " + ".join(["1"] * 400) + " FROM t GROUP BY ok",
    "comparisons": "SELECT COUNT(*) FROM t WHERE " + " = ".join(["age"] * 700),
    "tests": "SELECT COUNT(*) FROM t WHERE age" + " IS NULL" * 600,
    "casts": "SELECT SUM(age" + "::INT" * 600 + ") FROM t",
    "numbers": "SELECT " + ", ".join(f"SUM(age + {i})" for i in range(100)) + " FROM t",
    "columns": "SELECT " + ", ".join(["COUNT(*)"] * 300) + " FROM t",
    "keys": "SELECT COUNT(*) FROM t GROUP BY " + ", ".join(["ok"] * 700),
    "groups": "SELECT COUNT(*) FROM t GROUP BY age, " + " OR ".join(f"age = {i}" for i in range(200)) + ", many",
    "order": "SELECT COUNT(*) AS n FROM t ORDER BY " + ", ".join(["n"] * 700),
    # each column has the steps of the one that it names, twice
    "aliases": "SELECT COUNT(*) AS c0" + "".join(f", c{i} + c{i} AS c{i + 1}" for i in range(40)) + " FROM t",
    # the parser tries each level of these in two ways, which doubles its work with each
    "arrays": "SELECT " + "ARRAY[" * 24 + "1" + "]" * 24 + " FROM t",
    "types": "SELECT " + "INT(" * 24 + "1" + ")" * 24 + " FROM t",
    "more types": "SELECT COUNT(*) FROM t WHERE " + "DATE(x, " * 24 + "1" + ")" * 24,
    "structures": "SELECT " + "{'a': " * 24 + "1" + "}" * 24 + " FROM t",
}


@pytest.mark.parametrize("name", LARGE)
def test_large_questions_are_refused_at_once(name):
    with pytest.raises(Refused):
        build(LARGE[name], FACTS, "duckdb", {"t": "t"})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age, who) FROM t",
        "SELECT PERCENTILE_CONT(0.5, 0.6) WITHIN GROUP (ORDER BY age) FROM t",
        "SELECT PERCENTILE_CONT() WITHIN GROUP (ORDER BY age) FROM t",
        "SELECT PERCENTILE_CONT('a') WITHIN GROUP (ORDER BY age) FROM t",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP () FROM t",
        "SELECT QUANTILE(age) FROM t",
        "SELECT QUANTILE(age, age) FROM t",
        "SELECT COUNT() FROM t",
        "SELECT SUM() FROM t",
        "SELECT MEDIAN() FROM t",
        "SELECT COUNT(DISTINCT) FROM t",
        "SELECT COUNT(*) FROM t WHERE",
        "SELECT COUNT(*) FROM t WHERE CASE END",
        "SELECT COUNT(*) FROM t GROUP BY",
        "SELECT COUNT(*) FROM t GROUP BY ()",
        "SELECT COUNT(*) FROM t HAVING",
        "SELECT COUNT(*) FROM t ORDER BY",
        "SELECT COUNT(*) FROM t LIMIT",
        "SELECT COUNT(*) FROM t LIMIT 1e999",
        "SELECT COUNT(*) FROM t LIMIT nan",
        "SELECT ROUND(COUNT(*), 1e999) FROM t",
        "SELECT COUNT(*) * 1e308 * 10 FROM t",
        "SELECT COUNT(*) + 1e999 FROM t",
        "SELECT COUNT(*) FROM t HAVING COUNT(*) IN (1e999)",
        "SELECT SUM(age) FROM t WHERE age IN ()",
        "SELECT COALESCE() FROM t",
        "SELECT GREATEST() FROM t",
        "SELECT ABS() FROM t",
        "SELECT COUNT(*) FROM t WHERE note LIKE NULL",
        "SELECT COUNT(*) FROM t WHERE note LIKE",
    ],
)
def test_odd_questions_are_refused_with_a_reason(sql):
    with pytest.raises(Refused):
        build(sql, FACTS, "duckdb", {"t": "t"})


def test_a_column_may_be_called_like_a_type():
    plan = build(
        "SELECT COUNT(*) FROM t WHERE date >= DATE '2026-01-01' OR date IN ('2026-01-01')", FACTS, "duckdb", {"t": "t"}
    )
    assert len(plan.numbers) == 1
    assert sum(sql.count("2026-01-01") for layer in plan.steps for sql, _ in layer) == 2


HUGE = "COUNT(*)" + " * 1e15" * 22


@pytest.mark.parametrize(
    "asked",
    [
        HUGE,
        f"-({HUGE})",
        f"{HUGE} / 1e-9",
        f"{HUGE} - {HUGE}",
        f"({HUGE}) * ({HUGE})",
        f"FLOOR({HUGE}) * FLOOR({HUGE})",
        f"ROUND({HUGE}, 3) + CEIL({HUGE})",
        f"ABS({HUGE}) * FLOOR(COUNT(*) * 1e15)",
        f"GREATEST({HUGE}, 1, AVG(age))",
        "COUNT(*)" + " / 1e15" * 22,
        f"1 / ({'COUNT(*)' + ' / 1e15' * 22})",
        f"AVG(age) * ({HUGE})",
        f"COALESCE({HUGE}, SUM(age) * 0)",
        f"STDDEV(age) * ({HUGE}) * MEDIAN(age)",
    ],
)
def test_numbers_beyond_all_bounds_are_no_failure(tmp_path, ask_over, asked):
    """The arithmetic after the noise may leave the doubles; the question was paid, so it gets an answer that is JSON."""
    gateway = ask_over(f"sqlite:///{tmp_path / 'data.db'}", PEOPLE, *ROWS)
    answer = gateway.ask(f"SELECT {asked} AS x FROM t HAVING {asked} > 0 OR TRUE ORDER BY {asked}", epsilon=1.0)
    json.dumps(answer.data(), allow_nan=False)
    assert len(answer.rows) == 1
    assert cell_text(answer.rows[0]["x"])


def test_groups_times_columns_are_bounded(tmp_path, ask_over):
    columns = {"a": {"type": "integer", "bounds": [1, 9999]}, "w": {"type": "number", "bounds": [0, 300]}}
    made = ["CREATE TABLE t (a, w)", "INSERT INTO t VALUES (1, 2)"]
    gateway = ask_over(f"sqlite:///{tmp_path / 'data.db'}", columns, *made)
    assert gateway.explain("SELECT a, COUNT(*), AVG(w) FROM t GROUP BY a", epsilon=1.0).cells == 9999
    assert gateway.explain("SELECT FLOOR(a / 100), MEDIAN(w) FROM t GROUP BY 1", epsilon=1.0).cells == 100
    for asked in ("MEDIAN(w)", ", ".join(f"COUNT(*) + {i}" for i in range(40)), "COUNT(*)" + " + SUM(w) + AVG(w)" * 20):
        with pytest.raises(Refused, match="too large for 9999 groups"):
            gateway.explain(f"SELECT a, {asked} FROM t GROUP BY a", epsilon=1.0)


def test_answers_leave_every_fifty_milliseconds_unless_told_otherwise(tmp_path):
    assert GRID == 0.05
    (tmp_path / "t.csv").write_text("age\n30\n")
    columns = {"age": {"type": "integer", "bounds": [0, 100]}}
    declared = {"name": "t", "epsilon": 1.0, "tables": {"t": {"source": str(tmp_path / "t.csv"), "columns": columns}}}
    with closing(Gateway(DatasetFacts.of(declared), Ledger.create(tmp_path / "ledger.db"))) as gateway:
        start = time.monotonic()
        gateway.ask("SELECT COUNT(*) FROM t", epsilon=0.1)
        assert time.monotonic() - start >= 0.05


def test_whole_numbers_of_postgresql_are_read_as_far_as_they_are_converted():
    """Its numeric columns hold larger ones, at which a conversion fails: that would tell that there is such a row."""
    facts = DatasetFacts.of({"name": "d", "epsilon": 1, "tables": {"t": {"columns": {"n": {"type": "integer"}}}}})
    sql = aggregate(build("SELECT COUNT(DISTINCT n) AS c FROM t", facts, "postgres", {"t": "t"}), "postgres")
    assert " > -9223372036854775807 AND " in sql
    assert " < 9223372036854775807 THEN " in sql
