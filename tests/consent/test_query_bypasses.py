"""Queries that would show what data subjects block under another name, through a function or for another owner."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request, publish
from celosia.consent.rules.rules import read_toml
from celosia.errors import DataError

CATALOGUE = read_toml(
    '[[inference]]\nid = "residence"\ndescription = "Find out where I live"\nextra = 10\n'
    '[[inference.rule]]\ntables = {address = ["district"]}\n'
    '[[inference]]\nid = "hiv"\ndescription = "Deduce whether I have HIV"\nextra = 10\n'
    '[[inference.rule]]\ntables = {}\nvalues = [{field = "hiv", literal = "positive", scope = "data"}]\n'
)
OWNERS = [f"B{i:05d}" for i in range(200)]
BLOCKING = OWNERS[:50]
DISTRICTS = ["secret" if i < 50 else f"D{i % 4}" for i in range(200)]
STATEMENTS = (
    "CREATE TABLE address(card text, district text)",
    "CREATE TABLE person(card text, age int, hiv text)",
    "CREATE VIEW v_contact AS SELECT * FROM address",
)
FUNCTIONS = {
    "postgresql": (
        "CREATE FUNCTION home(p person) RETURNS text LANGUAGE sql AS 'SELECT district FROM address WHERE card = p.card'",
        "CREATE FUNCTION year(c text) RETURNS text LANGUAGE sql AS 'SELECT district FROM address WHERE card = c'",
    ),
    "duckdb": ("CREATE MACRO home(c) AS (SELECT any_value(district) FROM address a WHERE a.card = c)",),
}


def fill(url):
    """Two tables, a view and, where the database has them, functions that read a table."""
    people = [(owner, 20 + i % 4, "positive" if i % 5 == 0 else "negative") for i, owner in enumerate(OWNERS)]
    kind, _, path = url.partition(":///")
    sign = "?"
    if kind == "sqlite":
        connection = sqlite3.connect(path, isolation_level=None)
    elif kind == "duckdb":
        import duckdb

        connection = duckdb.connect(path)
    else:
        import psycopg

        kind, connection, sign = "postgresql", psycopg.connect(url, autocommit=True), "%s"
    for statement in STATEMENTS:
        connection.execute(statement)
    cursor = connection.cursor()
    cursor.executemany(f"INSERT INTO address VALUES ({sign}, {sign})", list(zip(OWNERS, DISTRICTS, strict=True)))
    cursor.executemany(f"INSERT INTO person VALUES ({sign}, {sign}, {sign})", people)
    for statement in FUNCTIONS.get(kind, ()):
        connection.execute(statement)
    connection.close()


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgresql"])
def url(request, tmp_path_factory):
    if request.param == "postgresql":
        made = request.getfixturevalue("databases")()
    else:
        made = f"{request.param}:///{tmp_path_factory.mktemp('people')}/people.db"
    fill(made)
    return made


@pytest.fixture
def attempt(tmp_path):
    """Publish a query without the rows of those who block an inference."""

    def run(sql, source, inference="residence", owner="card", quasi=("district",), identifiers=()):
        store = Preferences.create(tmp_path / "choices.db")
        store.add_owners(OWNERS)
        store.load(pl.DataFrame({"owner": BLOCKING, "inference": inference, "block": True}), CATALOGUE.ids())
        design = Design(k=5, rule="class", strengthen=("exclude",))
        asked = Request(sql=sql, owner=owner, quasi=quasi, identifiers=identifiers, design=design, measure=False)
        try:
            return publish(asked, source, CATALOGUE, store).table.polars()
        finally:
            store.close()

    return run


SHADOWING = {
    "view": "WITH v_contact AS (SELECT * FROM v_contact) SELECT card, district FROM v_contact",
    "view named later": "WITH a AS (SELECT * FROM v_contact), v_contact AS (SELECT 1 AS x) SELECT card, district FROM a",
    "base table": 'WITH "ADDRESS" AS (SELECT 1 AS card, 2 AS district) SELECT card, district FROM address',
    "base table in a sub-select": "SELECT s.card, s.district FROM (WITH address AS (SELECT card, district FROM address) "
    "SELECT * FROM address) s",
    "store": "WITH consent_choices AS (SELECT * FROM consent_choices) SELECT a.card, a.district, c.inference "
    "FROM address a LEFT JOIN consent_choices c ON c.owner = a.card",
    "store in upper case": 'WITH "CONSENT_CHOICES" AS (SELECT 1 AS x) SELECT a.card, a.district, c.inference '
    "FROM address a LEFT JOIN consent_choices c ON c.owner = a.card",
    "other WITH name": 'WITH q AS (SELECT * FROM address), "Q" AS (SELECT 1 AS card, 2 AS district) '
    "SELECT card, district FROM q",
    "file": 'WITH "a.csv" AS (SELECT * FROM "a.csv") SELECT card, district FROM "a.csv"',
    "cut off name": f"WITH {'v' * 64} AS (SELECT * FROM address) SELECT card, district FROM {'v' * 64}",
}


@pytest.mark.parametrize("sql", SHADOWING.values(), ids=SHADOWING)
def test_a_with_name_hides_nothing(attempt, url, sql):
    with pytest.raises(DataError, match=r"WITH query|more than 63 bytes"):
        attempt(sql, url)


def test_a_with_name_hides_no_table_of_the_rules(attempt):
    frame = pl.DataFrame({"card": OWNERS, "district": DISTRICTS})
    with pytest.raises(DataError, match="WITH query"):
        attempt(SHADOWING["base table"], frame)


def test_another_with_name_is_allowed(attempt, url):
    table = attempt("WITH w AS (SELECT * FROM address) SELECT card, district FROM w", url)
    assert len(table) == 150


CALLS = [("duckdb", "home(p.card)")]
CALLS += [("postgresql", call) for call in ("p.home", "(p).home", "home(p)", '"year"(p.card)', "year(p.card)")]


@pytest.mark.parametrize(("url", "call"), CALLS, indirect=["url"])
def test_functions_that_read_tables_are_refused(attempt, url, call):
    with pytest.raises(DataError, match=r"is a function of this database|the query calls home|\(Dot\) that is not"):
        attempt(f"SELECT p.card, {call} AS district FROM person p", url)
