"""Values that do not fit the declaration: they count as missing or as the nearest bound, and no question fails on them."""

from __future__ import annotations

import pytest

from celosia.errors import InputError, PolicyError
from celosia.gateway.metadata import DatasetFacts

COLUMNS = {
    "who": {"type": "integer"},
    "smoker": {"type": "boolean"},
    "seen": {"type": "date"},
    "note": {"type": "text"},
    "sex": {"type": "text", "categories": ["F", "M"]},
    "level": {"type": "integer", "categories": [1, 2]},
    "age": {"type": "integer", "bounds": [0, 120]},
    "weight": {"type": "number", "bounds": [0, 300]},
    "debt": {"type": "number"},
}
NAMES = ", ".join(COLUMNS)
CLEAN = [
    f"({i}, {'TRUE' if i % 2 else 'FALSE'}, '2026-01-0{1 + i % 3}', 'note {i % 2}', 'F', 1, {20 + i}, 70.5, {i}.5)"
    for i in range(1, 13)
]
TYPES = {
    "duckdb": "who HUGEINT, smoker BOOLEAN, seen TIMESTAMP, note VARCHAR COLLATE NOCASE, sex VARCHAR, level UHUGEINT, "
    "age UHUGEINT, weight DECIMAL(38,30), debt DOUBLE",
    "sqlite": "who, smoker BOOLEAN, seen, note TEXT COLLATE NOCASE, sex TEXT COLLATE NOCASE, level, age, weight, debt",
    "postgresql": "who NUMERIC, smoker BOOLEAN, seen TIMESTAMPTZ, note TEXT COLLATE nocase, sex CHAR(3), level NUMERIC, "
    "age DOUBLE PRECISION, weight NUMERIC, debt NUMERIC",
}
DIRTY = {
    "duckdb": [
        "(170141183460469231731687303715884105727, NULL, 'infinity', 'NOTE 1', 'f', 3, 340282366920938463463374607431768211455, 99999999, 'NaN')",
        "(-170141183460469231731687303715884105727, NULL, '-infinity', '', ' F', 340282366920938463463374607431768211455, 0, -1, 'inf')",
        "(NULL, NULL, '4713-01-01 (BC)', chr(0), NULL, 0, 1000, 0, '-inf')",
        "(1, TRUE, '9999-12-31', 'note 1', 'F', 1, 30, 1, 1e308)",
        "(2, TRUE, '12345-01-01', repeat('x', 3000000), 'F', 1, 30, 1, 1e-300)",
    ],
    "sqlite": [
        "(9e99, 2, 'infinity', 'NOTE 1', 'f', 1.5, 9e999, 'heavy', 9e999)",
        "('nobody', 'maybe', 'now', X'FF00FE', X'46', 'one', 'old', X'FF', -9e999)",
        "(NULL, -1, 20260101, CAST(X'80C3' AS TEXT), CAST(X'46FF' AS TEXT), X'31', -9223372036854775808, '1e999', 'much')",
        "(X'00', 'TRUE', '2026-02-31', CAST(X'EDA080' AS TEXT), NULL, 3, 1e-300, 1e-300, 1e-300)",
        "(1, 0.5, '20260-01-01', printf('%.3000000c', 'x'), 'F', 1, 30, 1, 1)",
    ],
    "postgresql": [
        "('NaN', NULL, 'infinity', 'NOTE 1', 'f', 'NaN', 'NaN', 'NaN', 'NaN')",
        "('Infinity', NULL, '-infinity', '', 'X', 'Infinity', 'Infinity', 'Infinity', 'Infinity')",
        "(9223372036854775806.9, NULL, '4713-01-02 BC', 'Note 1', NULL, 1.5, '-Infinity', 1e400, 1e400)",
        "(-1e400, NULL, '294276-12-31 23:59:59+00', E'\\x01', 'F', 1e400, 9223372036854775808, 1e-400, 1e-400)",
        "(1, TRUE, '9999-12-31 23:59:59.9999+00', repeat('x', 3000000), 'F', 1, 30, 1, -1e400)",
    ],
}
QUESTIONS = [
    *(f"SELECT {key}, COUNT(*) AS n FROM t GROUP BY {key}" for key in COLUMNS if key not in ("weight", "debt")),
    *(f"SELECT {key}, MEDIAN(age) FROM t GROUP BY {key}" for key in ("smoker", "sex", "level")),
    *(f"SELECT COUNT(DISTINCT {key}), COUNT({key}) FROM t" for key in COLUMNS),
    *(f"SELECT {what}(age), {what}(weight) FROM t" for what in ("SUM", "AVG", "VARIANCE", "MAX")),
    *(f"SELECT COUNT(*) FROM t WHERE {key} > 0.5 OR {key} <= 1" for key in ("who", "age", "weight", "debt")),
    *(f"SELECT COUNT(*) FROM t WHERE {key} > -1" for key in ("who", "age", "debt")),
    "SELECT COUNT(*) FROM t WHERE smoker OR NOT smoker OR smoker IS NULL",
    "SELECT COUNT(*) FROM t WHERE seen > '2026-01-01' OR seen <= '9999-12-31'",
    "SELECT COUNT(*) FROM t WHERE note LIKE '%e%' OR LOWER(note) = 'note 1' OR UPPER(note) LIKE '%1' OR note = sex",
    "SELECT SUM(1 / GREATEST(weight, 1)), SUM(age * weight) FROM t",
    "SELECT LOWER(note) AS k, COUNT(*) FROM t GROUP BY k",
    "SELECT note AS k, COUNT(CASE WHEN who > 5 THEN note ELSE 'few' END) FROM t GROUP BY k",
    "SELECT FLOOR(age / 2) AS k, seen, COUNT(COALESCE(age, 1)) FROM t GROUP BY k, seen",
]


def made(kind, more=()):
    first = ["CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"]
    first = first if kind == "postgresql" else []
    rows = [f"INSERT INTO t VALUES {row}" for row in (*CLEAN, *more)]
    return [*first, f"CREATE TABLE t ({TYPES[kind]})", *rows]


def exact(gateway, sql):
    """The answer as good as without noise: keys with the number that follows them."""
    answer = gateway.ask(sql, epsilon=2000.0, **({} if gateway.plan(sql).public_keys else {"delta": 0.05}))
    rows = [[cell["value"] if isinstance(cell, dict) else cell for cell in row.values()] for row in answer.rows]
    return {tuple(row[:-1]): row[-1] for row in rows}


def test_no_question_fails_on_a_dirty_row(empty_database, ask_over):
    kind = empty_database.partition(":")[0]
    gateway = ask_over(empty_database, COLUMNS, *made(kind, DIRTY[kind]), delta=0.9)
    for sql in QUESTIONS:
        answer = gateway.ask(sql, epsilon=2000.0, **({} if gateway.plan(sql).public_keys else {"delta": 1e-9}))
        assert answer.columns, sql


def test_dirty_rows_do_not_move_the_others(empty_database, ask_over):
    """The group of a value is counted alike whatever the dirty rows hold: no key of theirs is taken for another."""
    kind = empty_database.partition(":")[0]
    gateway = ask_over(empty_database, COLUMNS, *made(kind, DIRTY[kind]), delta=0.9)

    def count(key):
        return exact(gateway, f"SELECT {key}, COUNT(*) AS n FROM t GROUP BY {key}")

    own = {"duckdb": (6, 8), "sqlite": (6, 7), "postgresql": (6, 7)}[kind]  # TRUE of the dirty rows is as good as any
    assert tuple(round(n) for _, n in sorted(count("smoker").items())) == own
    assert round(count("sex")[("F",)]) == {"duckdb": 14, "sqlite": 13, "postgresql": 14}[kind]
    notes = count("note")
    assert {("note 0",), ("note 1",)} <= set(notes)
    assert round(notes[("note 1",)]) == {"duckdb": 7}.get(kind, 6)
    days = {key[0]: round(n) for key, n in count("seen").items()}
    assert {day: n for day, n in days.items() if day.startswith("2026-01")} == dict.fromkeys(
        ["2026-01-01", "2026-01-02", "2026-01-03"], 4
    )
    assert days.get("9999-12-31", 1) == 1
    assert all(isinstance(key, str) and len(key) == 10 for key in days)
    assert all(isinstance(key[0], int) for key in count("who"))


def test_texts_of_a_question_are_never_code(fresh_postgres, ask_over):
    """Whatever the server is set to, a backslash in a literal is a backslash."""
    off = f"ALTER DATABASE {fresh_postgres.rpartition('/')[2].partition('?')[0]} SET standard_conforming_strings = off"
    columns = {"name": {"type": "text"}}
    made = ["CREATE TABLE t (name TEXT)", "INSERT INTO t SELECT 'x' FROM generate_series(1, 50)", off]
    gateway = ask_over(fresh_postgres, columns, *made)
    asked = "SELECT COUNT(*) AS n FROM t WHERE name = '\\'' OR 1 = 1 --'"
    assert "'\\'' OR 1 = 1 --'" in gateway.explain(asked, epsilon=1.0).sql[0]
    assert gateway.ask(asked, epsilon=2000.0).value("n") == 0


def test_what_the_database_could_fail_to_compare_is_not_joined(empty_database, ask_over):
    tables = {
        "t": {"person": "a", "rows": 2, "columns": {"a": {"type": "integer"}, "k": {"type": "text"}}},
        "area": {"public": True, "keys": ["k"], "columns": {"k": {"type": "text"}, "n": {"type": "integer"}}},
    }
    with pytest.raises(PolicyError, match=r"'t.k' is text and 'area.n' is integer"):
        DatasetFacts.of({"name": "t", "epsilon": 1, "tables": tables, "joins": [{"left": "t.k", "right": "area.n"}]})
    made = ["CREATE TABLE t (a BIGINT, k VARCHAR(5))", "CREATE TABLE area (k CHAR(5), n NUMERIC(5))"]
    made += ["INSERT INTO t VALUES (1, 'x')", "INSERT INTO area VALUES ('x', 1)"]
    joins = [{"left": "t.k", "right": "area.k"}, {"left": "t.a", "right": "area.n"}]
    joined = {"tables": tables, "joins": joins[:1]}
    gateway = ask_over(empty_database, {}, *made, **joined)
    gateway.ask("SELECT COUNT(*) FROM t JOIN area ON t.k = area.k", epsilon=1.0)
    if not empty_database.startswith("sqlite"):
        gateway.close()
        with pytest.raises(InputError, match=r"t\.a and area\.n .* stored as"):
            ask_over(empty_database, {}, **joined | {"joins": joins})


@pytest.mark.parametrize("empty_database", ["duckdb", "postgresql"], indirect=True)  # SQLite has no types
@pytest.mark.parametrize(
    ("stored", "declared"), [("INTERVAL", "integer"), ("TEXT[]", "text"), ("INTEGER[]", "integer")]
)
def test_only_plain_types_are_read(empty_database, ask_over, stored, declared):
    with pytest.raises(InputError, match=f"is declared {declared} but stored as"):
        ask_over(empty_database, {"x": {"type": declared}}, f"CREATE TABLE t (x {stored})")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"type": "integer", "bounds": [0.2, 0.8]}, "no whole number"),
        ({"type": "integer", "categories": [10**30]}, "at most 1e.15"),
    ],
)
def test_declarations_that_no_value_meets_are_refused(column, words):
    with pytest.raises(PolicyError, match=words):
        DatasetFacts.of({"name": "t", "epsilon": 1, "tables": {"t": {"columns": {"x": column}}}})


def test_a_database_must_hold_unicode(postgres_url, ask_over):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "CREATE DATABASE plain_bytes ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
        try:
            with pytest.raises(InputError, match=r"SQL_ASCII.*UTF8"):
                ask_over(
                    postgres_url.replace("/postgres?", "/plain_bytes?"),
                    {"x": {"type": "text"}},
                    "CREATE TABLE t (x TEXT)",
                )
        finally:
            connection.execute("DROP DATABASE plain_bytes WITH (FORCE)")
