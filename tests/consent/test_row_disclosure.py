"""Queries whose rows show what data subjects block without a column of it, under another name, or for another person.

Each statement published every district, or the choices themselves, before.
"""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request, publish
from celosia.consent.rules.rules import read_toml
from celosia.errors import DataError, RequirementError

CATALOGUE = read_toml(
    '[[inference]]\nid = "residence"\ndescription = "Find out where I live"\nextra = 5\n'
    '[[inference.rule]]\ntables = {personal = ["district"], long = ["%s"], child = ["district"]}\n' % ("d" * 63)
)
OWNERS = [f"B{i:04d}" for i in range(300)]
ROWS = [(owner, "FM"[i % 2], f"D{i % 6}", 20 + i % 5) for i, owner in enumerate(OWNERS)]
STATEMENTS = (
    "CREATE TABLE personal(card text, sex text, district text, age int)",
    "CREATE TABLE people(card text, sex text)",
    "CREATE TABLE lookup(d text, label text)",
    "CREATE TABLE pair(card text, partner text)",
    "CREATE VIEW v_contact AS SELECT * FROM personal",
)
OTHERS = {
    "sqlite": (
        "CREATE VIRTUAL TABLE ft USING fts5(card, district)",
        "INSERT INTO ft SELECT card, district FROM personal",
        "CREATE TABLE child(card text, sex text, district text, dup text GENERATED ALWAYS AS (district || ''))",
    ),
    "duckdb": (
        "CREATE TABLE child(card text, sex text, district text, dup text GENERATED ALWAYS AS (district || ''))",
        "CREATE SCHEMA other",
        "CREATE VIEW other.people AS SELECT card, sex, district AS place FROM main.personal",
    ),
    "postgresql": (
        "CREATE FUNCTION home(c text, x text) RETURNS text LANGUAGE sql AS 'SELECT district FROM personal'",
        "CREATE OPERATOR ##> (LEFTARG = text, RIGHTARG = text, FUNCTION = home)",
        "CREATE OPERATOR - (LEFTARG = text, RIGHTARG = text, FUNCTION = home)",
        "CREATE TYPE dd AS (v text)",
        "CREATE FUNCTION home(c text) RETURNS dd LANGUAGE sql AS 'SELECT ROW(district)::dd FROM personal WHERE card = c'",
        "CREATE CAST (text AS dd) WITH FUNCTION home(text)",
        f"CREATE TABLE long(card text, sex text, {'d' * 63} text)",
        "CREATE TABLE parent(card text, sex text, district text)",
        "CREATE TABLE child() INHERITS (parent)",
        "CREATE TABLE computed(card text, sex text, district text, dup text GENERATED ALWAYS AS (district || '') STORED)",
        "ANALYZE",
    ),
}


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgresql"])
def url(request, tmp_path_factory):
    kind, sign = request.param, "?"
    if kind == "postgresql":
        import psycopg

        made = request.getfixturevalue("databases")()
        connection, sign = psycopg.connect(made, autocommit=True), "%s"
    elif kind == "duckdb":
        import duckdb

        path = tmp_path_factory.mktemp("people") / "people.duckdb"
        made, connection = f"duckdb:///{path}", duckdb.connect(str(path))
    else:
        path = tmp_path_factory.mktemp("people") / "people.db"
        made, connection = f"sqlite:///{path}", sqlite3.connect(path, isolation_level=None)
    cursor = connection.cursor()
    for statement in STATEMENTS:
        cursor.execute(statement)
    pairs = list(zip(OWNERS, OWNERS[1:] + OWNERS[:1], strict=True))
    labels = [(f"D{i}", f"L{i}") for i in range(6)]
    cursor.executemany(f"INSERT INTO personal VALUES ({sign}, {sign}, {sign}, {sign})", ROWS)
    for table, rows in {"people": [row[:2] for row in ROWS], "pair": pairs, "lookup": labels}.items():
        cursor.executemany(f"INSERT INTO {table} VALUES ({sign}, {sign})", rows)
    for statement in OTHERS[kind]:
        cursor.execute(statement)
    connection.close()
    return made


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """Every fourth person blocks the inference."""
    store = Preferences.create(tmp_path_factory.mktemp("store") / "choices.db")
    store.add_owners(OWNERS)
    store.load(pl.DataFrame({"owner": OWNERS[::4], "inference": "residence", "block": True}), CATALOGUE.ids())
    yield store
    store.close()


@pytest.fixture
def attempt(blocks):
    """Publish a query; ``place`` stays as it is."""

    def run(sql, source, **options):
        options = {"sensitive": ("place",), "quasi": ("sex",), "design": Design(k=5, rule="standard")} | options
        return publish(Request(sql=sql, owner="card", measure=False, **options), source, CATALOGUE, blocks)

    return run


P = "SELECT p.card, p.sex, "
VALUES = "(VALUES ('D0', 'a'), ('D1', 'b')) m(d, l)"
LOOKUP = P + "m.label AS place FROM personal p JOIN lookup m ON "
CONDITIONS = {
    "outer join": "SELECT p.card, p.sex, CASE WHEN q.card IS NULL THEN 'no' ELSE 'D1' END AS place FROM people p "
    "LEFT JOIN personal q ON q.card = p.card AND q.district = 'D1'",
    "union of constants": "SELECT card, sex, 'D1' AS place FROM personal WHERE district = 'D1' "
    "UNION ALL SELECT card, sex, 'no' FROM personal WHERE district <> 'D1'",
    "constants joined": P + f"m.l AS place FROM personal p JOIN {VALUES} ON p.district = m.d",
    "like": LOOKUP + "p.district LIKE m.d",
    "range": LOOKUP + "p.district >= m.d AND p.district <= m.d",
    "between": LOOKUP + "p.district BETWEEN m.d AND m.d",
    "in": LOOKUP + "p.district IN (m.d)",
    "not different": LOOKUP + "NOT (p.district <> m.d)",
    "changed": LOOKUP + "p.district || '' = m.d",
    "function": LOOKUP + "upper(p.district) = upper(m.d)",
    "or": LOOKUP + "(p.district = m.d OR 1 = 0)",
    "comma": P + "m.label AS place FROM personal p, lookup m WHERE p.district LIKE m.d",
    "chain": P
    + "b.label AS place FROM personal p JOIN lookup a ON p.district = a.d JOIN lookup b ON b.label = a.label",
    "chain of equal keys": P + "b.label AS place FROM personal p JOIN lookup a ON p.district = a.d "
    "JOIN lookup b ON b.d = a.d",
    "exists": P + "m.label AS place FROM people p, lookup m WHERE EXISTS "
    "(SELECT 1 FROM personal q WHERE q.card = p.card AND q.district = m.d)",
    "member of rows": P + "m.label AS place FROM people p, lookup m WHERE (p.card, m.d) IN "
    "(SELECT card, district FROM personal)",
    "derived table": P + "q.card IS NULL AS place FROM people p LEFT JOIN "
    "(SELECT card FROM personal WHERE district = 'D1') q ON q.card = p.card",
    "with": "WITH q AS (SELECT card FROM personal WHERE district = 'D1') "
    "SELECT p.card, p.sex, q.card IS NULL AS place FROM people p LEFT JOIN q ON q.card = p.card",
    "except": "SELECT card, sex, 'D1' AS place FROM personal EXCEPT "
    "SELECT card, sex, 'D1' FROM personal WHERE district <> 'D1'",
    "intersect": "SELECT card, sex, 'D1' AS place FROM personal INTERSECT SELECT card, sex, district FROM personal",
    "having": "SELECT card, sex, 'D1' AS place FROM personal GROUP BY card, sex HAVING max(district) = 'D1'",
    "group": "SELECT card, sex, count(*) AS place FROM personal GROUP BY card, sex, district",
    "order of a sub-select": "SELECT card, sex, row_number() OVER () / 50 AS place FROM "
    "(SELECT card, sex FROM personal ORDER BY district) q",
    "order and limit": "SELECT card, sex, 'D0' AS place FROM personal ORDER BY district LIMIT 50",
    "limit": "SELECT card, sex, 'D1' AS place FROM people LIMIT (SELECT count(*) FROM personal WHERE district = 'D1')",
    "natural join": "SELECT card, sex, a AS place FROM personal NATURAL JOIN (SELECT 'D1' AS district, 'z' AS a) q",
    "recursion": "WITH RECURSIVE r AS (SELECT card, sex, 0 AS n FROM personal UNION ALL SELECT r.card, r.sex, n + 1 "
    "FROM r JOIN personal p ON p.card = r.card WHERE n < 6 AND 'D' || n < p.district) "
    "SELECT card, sex, max(n) AS place FROM r GROUP BY card, sex",
    "plain": "SELECT card, sex, 'D1' AS place FROM personal WHERE district = 'D1'",
}


@pytest.mark.parametrize("sql", CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition_shows_no_blocked_value(attempt, url, sql):
    with pytest.raises((DataError, RequirementError)):
        attempt(sql, url)


DUCKDB = {
    "asof": P + "q.a AS place FROM personal p ASOF JOIN (SELECT 'D3' AS d, 'x' AS a) q ON p.district >= q.d",
    "semi": P + "'D1' AS place FROM people p SEMI JOIN (SELECT card FROM personal WHERE district = 'D1') q "
    "ON p.card = q.card",
    "anti": P + "'D1' AS place FROM people p ANTI JOIN (SELECT card FROM personal WHERE district = 'D1') q "
    "ON p.card = q.card",
    "row": "SELECT card, sex, district AS place FROM (SELECT unnest(personal) FROM personal)",
    "star of a row": "SELECT card, sex, x.* FROM (SELECT card, sex, personal AS p FROM personal), "
    "(SELECT p.district AS place) x",
    "star of a row with rows": "SELECT card, sex, x.* FROM (SELECT card, sex, personal AS p FROM personal), "
    "(SELECT p.district AS place FROM (SELECT 1 AS one) y) x",
    "unpivot": "SELECT card, sex, n AS place FROM (SELECT card, sex, CASE WHEN district = 'D1' THEN 1 END AS a "
    "FROM personal) UNPIVOT (v FOR n IN (a))",
    "view of another schema": "SELECT card, sex, place FROM other.people",
    "setting": P + "current_setting('temp_directory') AS place FROM people p",
    "environment": P + "getenv('HOME') AS place FROM people p",
    "member of a table": P + "p.card IN personal AS place FROM people p",
    "generated column": "SELECT card, sex, dup AS place FROM child",
}
SQLITE = {
    "text as a table": "SELECT card, sex, 'p'.district AS place FROM personal p",
    "text as a schema": "SELECT card, sex, 'main'.'personal'.'district' AS place FROM personal",
    "member of a view": P + "CASE WHEN (p.card, p.sex, 'D1', 20) IN v_contact THEN 1 END AS place FROM people p",
    "member of a view by a text": P + "(p.card, p.sex, 'D1', 20) IN 'v_contact' AS place FROM people p",
    "shadow table": P + "f.c1 AS place FROM people p JOIN ft_content f ON f.c0 = p.card",
    "virtual table": P + "f.district AS place FROM people p JOIN ft f ON f.card = p.card",
    "row number": "SELECT card, sex, rowid / 100 AS place FROM personal",
    "generated column": "SELECT card, sex, dup AS place FROM child",
    "system table": P + "s.sql AS place FROM people p, sqlite_master s",
}
POSTGRESQL = {
    "escaped column": 'SELECT card, sex, U&"di\\0073trict" AS place FROM personal',
    "escaped function": P + "U&\"query_to_xm\\006c\"('select 1', true, false, '')::text AS place FROM people p",
    "table in a text": P + "table_to_xml_and_xmlschema('personal', true, false, '')::text AS place FROM people p",
    "schema in a text": P + "schema_to_xml_and_xmlschema('public', true, false, '')::text AS place FROM people p",
    "query in a text": P
    + "ts_rewrite(to_tsquery('simple', p.card), 'select to_tsquery(''a''), to_tsquery(''b'')')::text "
    "AS place FROM people p",
    "named operator": P + "p.card OPERATOR(public.##>) 'x' AS place FROM people p",
    "operator": P + "p.card - 'x'::text AS place FROM people p",
    "cast": P + "CAST(p.card AS dd)::text AS place FROM people p",
    "statistics": P + "s.stavalues1::text AS place FROM people p, pg_statistic s",
    "users": P + "r.rolname AS place FROM people p, pg_authid r",
    "rows from": P + "x.place FROM personal p, ROWS FROM (unnest(ARRAY[p.district])) AS x(place)",
    "array joined": P + "m.place FROM personal p JOIN unnest(ARRAY['D0', 'D1']) m(place) ON m.place = p.district",
    "function as a column": "SELECT card, sex, p.to_json::text AS place FROM personal p",
    "table of a row": P + "p.tableoid::text AS place FROM personal p",
    "lateral": P + "q.place FROM personal p, LATERAL (SELECT count(*) AS place FROM lookup WHERE d <= p.district) q",
    "long name": f"SELECT card, sex, {'d' * 65} AS place FROM long",
    "parent": "SELECT card, sex, district AS place FROM parent",
    "child": "SELECT card, sex, district AS place FROM child",
    "setting": P + "current_setting('data_directory') AS place FROM people p",
}
OWN = [("duckdb", sql) for sql in DUCKDB.values()] + [("sqlite", sql) for sql in SQLITE.values()]
OWN += [("postgresql", sql) for sql in POSTGRESQL.values()]


@pytest.mark.parametrize(("url", "sql"), OWN, indirect=["url"], ids=[*DUCKDB, *SQLITE, *POSTGRESQL])
def test_a_name_that_the_database_reads_in_its_own_way_is_refused(attempt, url, sql):
    with pytest.raises((DataError, RequirementError)):
        attempt(sql, url)


EXCLUDE = Design(k=5, rule="class", strengthen=("exclude",))
OTHER_OWNERS = {
    "neighbour": "SELECT lead(card, 1, 'B0000') OVER (ORDER BY card) AS card, sex, district AS place FROM personal",
    "case": "SELECT CASE WHEN card < 'B0290' THEN NULL ELSE card END AS card, sex, district AS place FROM personal",
    "constant in a branch": "SELECT card, sex, district AS place FROM "
    "(SELECT 'X' AS card, sex, district FROM personal UNION ALL SELECT card, sex, district FROM personal) q",
    "cut off": "SELECT CAST(substr(card, 1, 3) AS text) AS card, sex, district AS place FROM personal",
    "aggregate": "SELECT max(card) AS card, sex, max(district) AS place FROM personal GROUP BY sex, age",
    "partner": "SELECT a.card, a.sex, q.district AS place FROM personal a JOIN pair ON pair.card = a.card "
    "JOIN personal q ON q.card = pair.partner",
    "partner of another table": "SELECT a.card, a.sex, q.district AS place FROM people a "
    "JOIN pair ON pair.card = a.card JOIN personal q ON q.card = pair.partner",
    "cross join": "SELECT a.card, a.sex, q.district AS place FROM people a, personal q WHERE q.age = 20",
    "window": "SELECT card, sex, lag(district) OVER (ORDER BY card) AS place FROM personal",
    "missing owner": "SELECT a.card, q.sex, q.district AS place FROM personal q "
    "LEFT JOIN people a ON a.card = q.card AND a.sex = 'F'",
}


@pytest.mark.parametrize("sql", OTHER_OWNERS.values(), ids=OTHER_OWNERS)
def test_rows_have_one_owner_whose_blocks_are_honoured(attempt, url, sql):
    with pytest.raises((DataError, RequirementError)):
        attempt(sql, url, design=EXCLUDE)


SAFE = {
    "condition on another column": "SELECT card, sex, district FROM personal WHERE age > 21",
    "condition on a column that is changed": "SELECT card, sex, district FROM personal WHERE district <> 'D1'",
    "key join": "SELECT p.card, p.sex, q.district FROM people p JOIN personal q ON q.card = p.card",
    "with": "WITH w AS (SELECT card, sex, district FROM personal) SELECT card, sex, district FROM w",
    "order": "SELECT card, sex, district FROM personal ORDER BY district",
    "functions": "SELECT card, upper(sex) AS sex, coalesce(district, 'none') AS district FROM personal",
    "union": "SELECT card, sex, district FROM personal WHERE age < 22 "
    "UNION ALL SELECT card, sex, district FROM personal WHERE age > 21",
}


@pytest.mark.parametrize("sql", SAFE.values(), ids=SAFE)
def test_what_changes_every_column_of_a_rule_is_published(attempt, url, sql):
    found = attempt(sql, url, quasi=("sex", "district"), sensitive=(), design=Design(k=5, rule="class"))
    block = next(block for block in found.report["blocks"] if block["inference"] == "residence")
    assert block["columns"] == ["district"]


def test_a_lookup_by_a_key_is_traced(attempt, url):
    sql = LOOKUP + "p.district = m.d"
    with pytest.raises(RequirementError, match="would not change place"):
        attempt(sql, url)
    assert attempt(sql, url, quasi=("sex", "place"), sensitive=(), design=Design(k=5, rule="class")).holds


def test_the_choices_themselves_are_not_published(tmp_path, attempt):
    path = tmp_path / "own.db"
    store = Preferences.create(path)
    store.add_owners(OWNERS)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people(card text, sex text)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [row[:2] for row in ROWS])
        width = len(connection.execute("PRAGMA table_info(consent_choices)").fetchall())
    row = ", ".join(["card", "'residence'", "1", "''"][:width])
    with pytest.raises(DataError, match=r"After IN|after IN|In\)"):
        attempt(f"SELECT card, sex, (({row}) IN consent_choices) AS place FROM people", f"sqlite:///{path}")
