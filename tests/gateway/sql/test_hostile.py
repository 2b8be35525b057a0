"""More than 200 hostile questions on three engines: no row, no exact value, no error that depends on the data.

Each is asked about two neighbouring data sets, one with the target and one without. Whether it is answered, and the words of a refusal, must
be the same for both; nothing of the target may occur in an answer or in an error; an answer has noise and was charged.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from celosia.errors import CelosiaError
from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import Ledger
from celosia.kernels.budget.cost import Cost

SECRETS = ("Zuleika", "Canary", "7731", "secret", "9001", "773.1", "61.77")
WORDS = ("Zuleika", "Canary", "secret")
EXACT = {61.7731, 7731.7731, 773.1}
WHERE = "SELECT COUNT(*) FROM patient WHERE "


def deep(text: str, levels: int) -> str:
    return "(" * levels + text + ")" * levels


SUBSELECTS = [
    "SELECT COUNT(*) FROM (SELECT * FROM patient) x",
    "SELECT COUNT(*) FROM (SELECT * FROM patient WHERE name = 'Zuleika Canary-7731' LIMIT 1) x",
    WHERE + "id IN (SELECT id FROM patient WHERE age > 40)",
    WHERE + "EXISTS (SELECT 1 FROM visit)",
    WHERE + "age = (SELECT MAX(age) FROM patient)",
    WHERE + "age > ALL (SELECT age FROM patient)",
    WHERE + "age = ANY (ARRAY[1, 2])",
    "SELECT (SELECT name FROM patient LIMIT 1)",
    "SELECT (SELECT MAX(debt) FROM patient), COUNT(*) FROM patient",
    "WITH x AS (SELECT * FROM patient) SELECT COUNT(*) FROM x",
    "WITH RECURSIVE x AS (SELECT 1 UNION ALL SELECT 1 FROM x) SELECT COUNT(*) FROM x",
    "SELECT COUNT(*) FROM patient, LATERAL (SELECT 1) y",
    "SELECT COUNT(*) FROM patient WHERE (SELECT 1/0) = 1",
    "SELECT SUM((SELECT age FROM patient p2 WHERE p2.id = patient.id)) FROM patient",
    "SELECT COUNT(*) FROM (VALUES (1), (2)) v",
    "SELECT COUNT(*) FROM patient ORDER BY (SELECT name FROM patient LIMIT 1)",
    "SELECT sex, COUNT(*) FROM patient GROUP BY sex HAVING EXISTS (SELECT 1)",
    "SELECT COUNT(*) FROM patient LIMIT (SELECT MAX(age) FROM patient)",
    "TABLE patient",
    "VALUES (1)",
]
ROWS = [
    "SELECT * FROM patient",
    "SELECT name FROM patient",
    "SELECT name, COUNT(*) FROM patient",
    "SELECT patient.* FROM patient",
    "SELECT DISTINCT name FROM patient",
    "SELECT DISTINCT COUNT(*) FROM patient",
    "SELECT DISTINCT ON (sex) COUNT(*) FROM patient",
    "SELECT name FROM patient WHERE name = 'Zuleika Canary-7731'",
    "SELECT name, COUNT(*) FROM patient GROUP BY name",
    "SELECT id, COUNT(*) FROM patient GROUP BY id",
    "SELECT debt, COUNT(*) FROM patient GROUP BY debt",
    "SELECT region, COUNT(*) FROM patient GROUP BY region",
    "SELECT weight, COUNT(*) FROM patient GROUP BY weight",
    "SELECT STRING_AGG(name, ',') FROM patient",
    "SELECT GROUP_CONCAT(name) FROM patient",
    "SELECT ARRAY_AGG(name) FROM patient",
    "SELECT LIST(name) FROM patient",
    "SELECT JSON_AGG(patient) FROM patient",
    "SELECT ANY_VALUE(name) FROM patient",
    "SELECT FIRST(name) FROM patient",
    "SELECT MAX(name) FROM patient",
    "SELECT MIN(name) FROM patient",
    "SELECT MODE() WITHIN GROUP (ORDER BY name) FROM patient",
    "SELECT BIT_OR(id) FROM patient",
    "SELECT SUM(DISTINCT age) FROM patient",
    "SELECT COUNT(*) OVER () FROM patient",
    "SELECT ROW_NUMBER() OVER (ORDER BY id), COUNT(*) FROM patient",
    "SELECT LAG(age) OVER (ORDER BY id) FROM patient",
    "SELECT SUM(COUNT(*)) OVER () FROM patient",
    "SELECT SUM(SUM(age)) FROM patient",
    "SELECT COUNT(*) FILTER (WHERE name = 'Zuleika Canary-7731') FROM patient",
    "SELECT sex, COUNT(*) FROM patient GROUP BY ROLLUP (sex)",
    "SELECT sex, COUNT(*) FROM patient GROUP BY CUBE (sex, smoker)",
    "SELECT sex, COUNT(*) FROM patient GROUP BY GROUPING SETS ((sex), ())",
    "SELECT sex, COUNT(*) FROM patient GROUP BY ALL",
    "SELECT COUNT(*) FROM patient QUALIFY ROW_NUMBER() OVER () = 1",
    "SELECT COUNT(*) FROM patient TABLESAMPLE (10)",
    "SELECT COUNT(*) FROM patient FOR UPDATE",
    "SELECT COUNT(*) INTO stolen FROM patient",
    "SELECT COUNT(*) FROM patient OFFSET 1",
    "SELECT MIN(debt) FROM patient",
    "SELECT MAX(debt) FROM patient",
    "SELECT SUM(debt) FROM patient",
    "SELECT AVG(debt) FROM patient",
    "SELECT SUM(id) FROM patient",
    "SELECT VARIANCE(id) FROM patient",
    "SELECT MEDIAN(debt) FROM patient",
    "SELECT COUNT(DISTINCT (id, age)) FROM patient",
    "SELECT COUNT(DISTINCT id, age) FROM patient",
]
UNIONS = [
    "SELECT COUNT(*) FROM patient UNION SELECT name FROM patient",
    "SELECT COUNT(*) FROM patient UNION ALL SELECT age FROM patient",
    "SELECT COUNT(*) FROM patient INTERSECT SELECT 401",
    "SELECT COUNT(*) FROM patient EXCEPT SELECT 400",
    "(SELECT COUNT(*) FROM patient) UNION (SELECT 1)",
    "SELECT COUNT(*) FROM patient; SELECT name FROM patient",
    "SELECT COUNT(*) FROM patient; DROP TABLE patient",
    "SELECT COUNT(*) FROM patient;;",
    "DROP TABLE patient",
    "DELETE FROM patient",
    "UPDATE patient SET age = 0",
    "INSERT INTO patient VALUES (1)",
    "CREATE TABLE x AS SELECT * FROM patient",
    "COPY patient TO '/tmp/stolen.csv'",
    "ATTACH '/etc/passwd' AS x",
    "PRAGMA table_info(patient)",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM patient",
    "CALL pg_sleep(10)",
    "SET enable_external_access = true",
    "LOAD httpfs",
    "SHOW TABLES",
    "BEGIN",
    "GRANT ALL ON patient TO public",
    "VACUUM",
    "",
    "   ",
    ";",
    "--",
    "/* */",
    "SELECT",
    "SELECT COUNT(*)",
    "SELECT 1",
    "SELECT 'Zuleika'",
    "NULL",
]
COMMENTS = [
    "SELECT COUNT(*) FROM patient -- WHERE age > 3",
    "SELECT COUNT(*) /* hidden */ FROM patient",
    "SELECT COUNT(*) FROM patient /*! UNION SELECT name FROM patient */",
    "SELECT COUNT(*) FROM patient WHERE age > 3 --' OR '1'='1",
    "SELECT COUNT(*) FROM patient /* unclosed",
    "SELECT COUNT(*) FROM patient WHERE name = 'unclosed",
    WHERE + "name = '' OR ''=''",
    WHERE + "name = 'x' OR 1=1 --'",
    WHERE + "name = 'x''; DROP TABLE patient; --'",
    WHERE + "name = 'x\\'; DROP TABLE patient; --'",
    WHERE + "name = $$x$$",
    WHERE + "name = E'\\x5a'",
    WHERE + "name = U&'\\005A'",
    WHERE + "name = ?",
    WHERE + "name = $1",
    WHERE + "name = :name",
    WHERE + "name = '%s'",
    WHERE + "name = '{0}'",
    WHERE + "name LIKE '%'",
    WHERE + "name LIKE '_______ ___________'",
    WHERE + "name LIKE 'Zul%' ESCAPE '%'",
    WHERE + "name LIKE 'Zul\\'",
    WHERE + "name SIMILAR TO 'Z%'",
    WHERE + "name ~ '^Z'",
    WHERE + "name ILIKE 'z%'",
    WHERE + "REGEXP_MATCHES(name, '(a+)+$')",
    WHERE + "name GLOB 'Z*'",
    WHERE + "name > 'Y'",
    WHERE + "name COLLATE \"C\" = 'x'",
]
RAISING = [
    WHERE + "1 / 0 = 1",
    WHERE + "age / 0 = 1",
    WHERE + "1 / (age - 41) > 0",
    WHERE + "1 / age > 0",
    WHERE + "age % 0 = 1",
    WHERE + "age % (id - id) = 1",
    WHERE + "MOD(age, smoker) = 1",
    WHERE + "SQRT(-age) > 0",
    WHERE + "LN(age - 41) > 0",
    WHERE + "LOG(0) > 0",
    WHERE + "POWER(age, 1000) > 0",
    WHERE + "EXP(age * 1000) > 0",
    WHERE + "ACOS(age) > 0",
    WHERE + "FACTORIAL(age) > 0",
    WHERE + "CAST(name AS INTEGER) = 1",
    WHERE + "name::integer = 1",
    WHERE + "CAST(age AS SMALLINT) > 0",
    WHERE + "TRY_CAST(name AS INTEGER) = 1",
    WHERE + "CAST(debt AS INTEGER) > 0",
    WHERE + "CAST(age * 9999999999 AS INTEGER) > 0",
    WHERE + "CAST('x' AS DATE) = seen",
    WHERE + "seen = 'not a day'",
    WHERE + "seen > '2026-13-45'",
    WHERE + "TO_DATE(name, 'YYYY') = seen",
    WHERE + "ERROR(name) = 1",
    WHERE + "RAISE(name)",
    WHERE + "pg_sleep(age) IS NULL",
    WHERE + "pg_read_file('/etc/passwd') IS NOT NULL",
    WHERE + "current_setting('x') = 'y'",
    WHERE + "query_to_xml('select 1', true, true, '') IS NULL",
    WHERE + "load_extension('x') IS NULL",
    WHERE + "READ_CSV('/etc/passwd') IS NULL",
    WHERE + "getenv('HOME') = 'x'",
    WHERE + "RANDOM() < 0.5",
    WHERE + "GENERATE_SERIES(1, 1000000000) > 1",
    WHERE + "REPEAT(name, 1000000000) = 'x'",
    WHERE + "SUBSTR(name, 1, 1) = 'Z'",
    WHERE + "LENGTH(name) = 19",
    WHERE + "POSITION('Z' IN name) = 1",
    WHERE + "ASCII(name) = 90",
    WHERE + "MD5(name) = 'x'",
    WHERE + "name || 'x' = 'y'",
    WHERE + "CONCAT(name, 'x') = 'y'",
    WHERE + "EXTRACT(YEAR FROM seen) = 2026",
    WHERE + "seen + INTERVAL '1 day' > seen",
    WHERE + "NOW() > seen",
    WHERE + "CASE WHEN name = 'Zuleika Canary-7731' THEN 1 / 0 ELSE 1 END = 1",
    WHERE + "CASE WHEN name = 'Zuleika Canary-7731' THEN CAST('x' AS INTEGER) ELSE 1 END = 1",
    WHERE + "CASE WHEN age = 41 THEN age * 1e300 * 1e300 ELSE 1 END > 0",
    WHERE + "COALESCE(1 / NULLIF(age, 41), 0) > 0",
    WHERE + "NULLIF(name, 'x') IS NULL",
    "SELECT SUM(age * 1e14) FROM patient",
    "SELECT SUM(age * age * age * age * age * age * age * age) FROM patient",
    "SELECT SUM(weight * weight * weight * weight * weight * weight * weight) FROM patient",
    "SELECT SUM(1e400) FROM patient",
    "SELECT SUM(weight * 1e-300) FROM patient",
    "SELECT AVG(weight / (age - 41)) FROM patient",
    "SELECT SUM(0x7fffffffffffffff) FROM patient",
    "SELECT SUM(CASE WHEN name = 'Zuleika Canary-7731' THEN debt ELSE 0 END) FROM patient",
    "SELECT SUM(CASE WHEN name = 'Zuleika Canary-7731' THEN 1e15 ELSE 0 END * 10) FROM patient",
    "SELECT COUNT(*) / 0 FROM patient",
    "SELECT COUNT(*) / (COUNT(*) - COUNT(*)) FROM patient",
    "SELECT SQRT(COUNT(*)) FROM patient",
    "SELECT POWER(COUNT(*), 99999) FROM patient",
    "SELECT ROUND(COUNT(*), 99999) FROM patient",
    "SELECT name || COUNT(*) FROM patient",
]
SELECTIVE = [
    WHERE + "name = 'Zuleika Canary-7731'",
    WHERE + "name <> 'Zuleika Canary-7731'",
    WHERE + "id = 9001",
    WHERE + "id <> 9001 AND id <> 9002",
    WHERE + "region = 'R-secret-7731'",
    WHERE + "name = 'Zuleika Canary-7731' AND smoker",
    WHERE + "debt > 7731 AND debt < 7732",
    WHERE + "weight = 61.7731",
    WHERE + "seen = '2026-07-07' AND age = 41",
    WHERE + "TRUE",
    WHERE + "FALSE",
    WHERE + "NULL",
    WHERE + "1 = 1",
    "SELECT SUM(age) FROM patient WHERE name = 'Zuleika Canary-7731'",
    "SELECT SUM(weight) FROM patient WHERE name <> 'Zuleika Canary-7731'",
    "SELECT AVG(age) FROM patient WHERE name = 'Zuleika Canary-7731'",
    "SELECT VARIANCE(age) FROM patient WHERE name = 'Zuleika Canary-7731'",
    "SELECT MIN(age), MAX(age) FROM patient WHERE name = 'Zuleika Canary-7731'",
    "SELECT MEDIAN(weight) FROM patient WHERE id = 9001",
    "SELECT sex, COUNT(*) FROM patient WHERE id = 9001 GROUP BY sex",
    "SELECT COUNT(*) FROM visit WHERE patient = 9001",
    "SELECT SUM(cost) FROM visit WHERE patient = 9001",
    "SELECT COUNT(DISTINCT region) FROM visit WHERE patient = 9001",
    "SELECT COUNT(DISTINCT name) FROM patient WHERE id = 9001",
    "SELECT COUNT(name) FROM patient WHERE id = 9001",
    "SELECT SUM(CASE WHEN name = 'Zuleika Canary-7731' THEN 1000000 ELSE 0 END) FROM patient",
    "SELECT SUM(age) - SUM(CASE WHEN id <> 9001 THEN age ELSE 0 END) FROM patient",
    "SELECT COUNT(*) FROM patient HAVING COUNT(*) > 400",
    "SELECT sex, COUNT(*) FROM patient GROUP BY sex HAVING SUM(age) > 9731",
]
JOINS = [
    "SELECT COUNT(*) FROM patient, visit",
    "SELECT COUNT(*) FROM patient CROSS JOIN visit",
    "SELECT COUNT(*) FROM patient NATURAL JOIN visit",
    "SELECT COUNT(*) FROM patient a JOIN patient b ON a.id = b.id",
    "SELECT COUNT(*) FROM patient a JOIN patient b ON a.region = b.region",
    "SELECT COUNT(*) FROM patient JOIN visit ON patient.region = visit.region",
    "SELECT COUNT(*) FROM patient JOIN visit ON patient.id = visit.patient AND 1 = 1",
    "SELECT COUNT(*) FROM patient JOIN visit ON patient.id = visit.patient OR TRUE",
    "SELECT COUNT(*) FROM patient JOIN visit ON patient.id < visit.patient",
    "SELECT COUNT(*) FROM patient JOIN visit ON TRUE",
    "SELECT COUNT(*) FROM patient RIGHT JOIN visit ON patient.id = visit.patient",
    "SELECT COUNT(*) FROM patient FULL JOIN visit ON patient.id = visit.patient",
    "SELECT COUNT(*) FROM patient SEMI JOIN visit ON patient.id = visit.patient",
    "SELECT COUNT(*) FROM area LEFT JOIN patient ON area.code = patient.region",
    "SELECT COUNT(*) FROM area",
    "SELECT COUNT(*) FROM patient JOIN area ON patient.region = area.code JOIN visit ON area.code = visit.region",
    "SELECT COUNT(*) FROM area JOIN patient ON area.code = patient.region JOIN visit ON area.code = visit.region",
    "SELECT SUM(v.cost) FROM patient p JOIN area a ON p.region = a.code LEFT JOIN visit v ON v.region = a.code",
    "SELECT COUNT(*) FROM information_schema.tables",
    "SELECT COUNT(*) FROM pg_catalog.pg_tables",
    "SELECT COUNT(*) FROM sqlite_master",
    "SELECT COUNT(*) FROM main.patient",
    "SELECT COUNT(*) FROM other.patient",
    "SELECT COUNT(*) FROM 'patient.csv'",
    "SELECT COUNT(*) FROM '/etc/passwd'",
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) FROM read_text('/etc/passwd')",
    "SELECT COUNT(*) FROM generate_series(1, 1000000000)",
    "SELECT COUNT(*) FROM celosia_entries",
    "SELECT COUNT(*) FROM patient AS patient(a, b)",
    "SELECT COUNT(*) FROM patient p JOIN visit p ON p.id = p.patient",
    "SELECT COUNT(*) FROM patient JOIN visit USING (region)",
    "SELECT COUNT(*) FROM patient a" + "".join(f" JOIN visit v{i} ON a.id = v{i}.patient" for i in range(6)),
]
UNICODE = [
    "SELECT COUNT(*) FROM pаtient",  # a Cyrillic a
    "SELECT COUNT(*) FROM patient WHERE nаme = 'x'",
    "ＳＥＬＥＣＴ COUNT(*) FROM patient",
    "SELECT COUNT(*) FROM patient WHERE name = 'ʼ OR 1=1'",
    "SELECT COUNT(*) FROM patient WHERE name = '\u2019 OR 1=1 --'",
    "SELECT COUNT(*) FROM patient WHERE name = '\u202ereversed'",
    "SELECT COUNT(*) FROM patient WHERE name = '\x00'",
    "SELECT COUNT(*)\x00 FROM patient",
    "SELECT COUNT(*) FROM patient WHERE name = '\ud800'",
    "SELECT COUNT(*) FROM patient WHERE name = '\U0001f600'",
    'SELECT COUNT(*) AS "a""b; DROP TABLE patient" FROM patient',
    'SELECT COUNT(*) AS "Zuleika" FROM patient',
    'SELECT COUNT(*) FROM "patient"; --"',
    'SELECT COUNT(*) FROM patient WHERE "na""me" = 1',
    "SELECT COUNT(*) FROM patient WHERE name = N'x'",
    "SELECT\u00a0COUNT(*) FROM patient",
    "SELECT COUNT(*) FROM patient WHERE name = B'101'",
    "SELECT COUNT(*) FROM patient WHERE age = ٤١",
    "SELECT COUNT(*) FROM patient WHERE age = 1_000",
    "SELECT COUNT(*) FROM patient WHERE age = 4e1",
]
HUGE = [
    WHERE + " OR ".join(f"age = {i}" for i in range(500)),
    WHERE + " OR ".join(f"age = {i}" for i in range(5000)),
    WHERE + deep("age > 1", 30),
    WHERE + deep("age > 1", 5000),
    WHERE + "NOT " * 39 + "smoker",
    WHERE + "NOT " * 5000 + "smoker",
    WHERE + "age > " + "-" * 999 + "1",
    WHERE + "age > " + "- " * 30 + "1",
    WHERE + "age IN (" + ",".join(map(str, range(400))) + ")",
    WHERE + "age IN (" + ",".join(map(str, range(3000))) + ")",
    "SELECT SUM(CASE " + " ".join(f"WHEN age = {i} THEN {i}" for i in range(100)) + " ELSE 0 END) FROM patient",
    "SELECT SUM(CASE " + " ".join(f"WHEN age = {i} THEN {i}" for i in range(2000)) + " ELSE 0 END) FROM patient",
    "SELECT SUM(" + "CASE WHEN smoker THEN " * 35 + "1" + " ELSE 0 END" * 35 + ") FROM patient",
    "SELECT SUM(" + "CASE WHEN smoker THEN " * 500 + "1" + " ELSE 0 END" * 500 + ") FROM patient",
    "SELECT SUM(" + "GREATEST(age, LEAST(age, " * 7 + "age" + "))" * 7 + ") FROM patient",
    "SELECT SUM(" + "GREATEST(age, LEAST(age, " * 19 + "age" + "))" * 19 + ") FROM patient",
    "SELECT " + ", ".join(f"SUM(age + {i})" for i in range(20)) + " FROM patient",
    "SELECT " + ", ".join(f"SUM(age + {i})" for i in range(40)) + " FROM patient",
    "SELECT age, FLOOR(weight), COUNT(*) FROM patient GROUP BY age, FLOOR(weight)",
    "SELECT age, COUNT(*) FROM patient GROUP BY age, sex, smoker",
    "SELECT COUNT(*) FROM patient GROUP BY age, CASE WHEN age > 1 THEN 2 ELSE 3 END, sex, smoker",
    "SELECT COUNT(*) FROM patient WHERE name = '" + "x" * 9000 + "'",
    "SELECT COUNT(*) FROM patient WHERE name = '" + "x" * 90000 + "'",
    WHERE + "name LIKE '" + "%a" * 49 + "%'",
    WHERE + "name LIKE '" + "%a" * 400 + "'",
    "SELECT " + "(" * 2000,
    "SELECT COUNT(*) FROM patient" + " " * 9000,
    "SELECT SUM(" + "+".join(["age"] * 300) + ") FROM patient",
    "SELECT SUM(" + "*".join(["weight"] * 300) + ") FROM patient",
    "SELECT COUNT(*) FROM patient LIMIT 99999999999999999999",
]
HOSTILE = SUBSELECTS + ROWS + UNIONS + COMMENTS + RAISING + SELECTIVE + JOINS + UNICODE + HUGE


def conftest():
    return next(
        m for m in list(sys.modules.values()) if getattr(m, "clinic_frames", None) and hasattr(m, "DECLARATION")
    )


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def pair(request: pytest.FixtureRequest, tmp_path: Path):
    """Gateways over two neighbouring data sets."""
    shared, made = conftest(), []
    for name, target in (("with", True), ("without", False)):
        where = tmp_path / name
        where.mkdir()
        url = ""
        if request.param == "postgresql":
            url = request.getfixturevalue("fresh_postgres" if target else "other_postgres")
        facts = shared.clinic(request.param, where, shared.clinic_frames(target), url)
        made.append(Gateway(facts, Ledger.create(where / "ledger.db"), grid=0))
    yield made
    for gateway in made:
        gateway.close()


def outcome(gateway: Gateway, sql: str) -> tuple[str, str]:
    """Whether a question is answered, and the words of its refusal; any other exception is a failure of the test."""
    try:
        answer = gateway.ask(sql, epsilon=0.001, fresh=True)
    except CelosiaError as refusal:
        return "refused", str(refusal)
    except UnicodeEncodeError:
        raise AssertionError(f"not refused properly: {sql[:80]!r}") from None
    return "answered", json.dumps(answer.data())


def numbers(text: str) -> list[float]:
    rows = json.loads(text)["rows"]
    return [cell["value"] for row in rows for cell in row.values() if isinstance(cell, dict) and "error" in cell]


def test_there_are_enough_of_them():
    assert len(set(HOSTILE)) >= 200


def test_hostile_questions(pair, caplog):
    caplog.set_level(logging.DEBUG)
    present, absent = pair
    answered = 0
    for sql in HOSTILE:
        before = present.balance().lifetime.spent
        caplog.clear()
        kind, text = outcome(present, sql)
        other, other_text = outcome(absent, sql)
        assert kind == other, sql[:100]
        assert "gave no answer" not in text, sql[:100]  # an error inside the database, even a hidden one, is a channel
        spent = present.balance().lifetime.spent
        if kind == "refused":
            assert text == other_text, sql[:100]
            assert spent == before, sql[:100]
            assert len(text) < 700, sql[:100]
        else:
            answered += 1
            assert spent == before + Cost.pure(0.001), sql[:100]
            again, third = outcome(present, sql)[1], outcome(present, sql)[1]
            # noise that drives a variance beyond its bounds is clamped to them, so a few answers may agree
            draws = [numbers(again), numbers(third)]
            while numbers(text) and all(draw == numbers(text) for draw in draws) and len(draws) < 40:
                draws.append(numbers(outcome(present, sql)[1]))
            assert not numbers(text) or any(draw != numbers(text) for draw in draws), sql[:100]
        # digits of noise can spell anything: in an answer words and exact numbers count, in a refusal every trace does
        for secret in WORDS if kind == "answered" else SECRETS:
            assert secret in sql or secret not in text, sql[:100]
        if kind == "answered":
            assert not EXACT & set(numbers(text)), sql[:100]
        assert all(secret not in record.getMessage() for record in caplog.records for secret in SECRETS), sql[:100]
    assert answered > 40  # the harmless ones among them are answered
    assert present.ledger.verify("clinic").holds


def test_persons_are_not_paired_through_a_public_table(pair):
    """A join of two personal tables by region would let one person's rows move another person's."""
    for sql in JOINS:
        if "visit.region" in sql or "v.region" in sql:
            kind, text = outcome(pair[0], sql)
            assert kind == "refused", sql
            assert "person columns only" in text or "not declared" in text, sql


def test_unanswerable_is_not_zero(pair):
    """A column that is not declared, or a category that does not exist, is refused; it is not counted as 0."""
    gateway = pair[0]
    for sql, words in [
        (WHERE + "surname = 'Ford'", "unanswerable: no column 'surname'"),
        (WHERE + "sex = 'Female'", "unanswerable: 'Female' is not among the declared categories"),
        ("SELECT COUNT(*) FROM patients", "Did you mean 'patient'"),
    ]:
        kind, text = outcome(gateway, sql)
        assert kind == "refused"
        assert words in text
    answer = gateway.ask("SELECT AVG(age) FROM patient WHERE age > 200", epsilon=0.5)
    cell = answer.rows[0]["avg"]
    assert cell.get("status") == "unanswerable" or (cell["low"], cell["high"]) == (0, 120)
