"""Rules on a data value: a query that depends on the value without showing it is refused, whoever blocks."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.protection.marks import find_values
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request, analyse, publish
from celosia.consent.rules.rules import read_toml
from celosia.errors import DataError

CATALOGUE = read_toml(
    '[[inference]]\nid = "hiv"\ndescription = "Deduce whether I have HIV"\nextra = 10\n'
    '[[inference.rule]]\ntables = {}\nvalues = [{field = "hiv", literal = "positive", scope = "data"}]\n'
)
OWNERS = [f"B{i:05d}" for i in range(200)]
TABLE = "CREATE TABLE person(card text, age int, hiv text)"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def url(request, tmp_path_factory):
    people = [(owner, 20 + i % 4, "positive" if i % 5 == 0 else "negative") for i, owner in enumerate(OWNERS)]
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("people") / "people.db"
        with sqlite3.connect(path) as connection:
            connection.execute(TABLE)
            connection.executemany("INSERT INTO person VALUES (?, ?, ?)", people)
        connection.close()
        return f"sqlite:///{path}"
    import psycopg

    made = request.getfixturevalue("databases")()
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute(TABLE)
        connection.cursor().executemany("INSERT INTO person VALUES (%s, %s, %s)", people)
    return made


def attempt(sql, source, tmp_path, blocking):
    store = Preferences.create(tmp_path / f"choices{len(blocking)}.db")
    store.add_owners(OWNERS)
    store.load(pl.DataFrame({"owner": blocking, "inference": "hiv", "block": True}), CATALOGUE.ids())
    design = Design(k=5, rule="class", strengthen=("exclude",))
    try:
        return publish(
            Request(sql=sql, owner="card", quasi=("age",), design=design, measure=False), source, CATALOGUE, store
        )
    finally:
        store.close()


EVASIONS = {
    "function": "SELECT card, age, upper(hiv) AS h FROM person",
    "cast": "SELECT card, age, CAST(hiv AS varchar(3)) AS h FROM person",
    "case": "SELECT card, age, CASE WHEN hiv = 'positive' THEN 1 ELSE 0 END AS h FROM person",
    "where": "SELECT card, age FROM person WHERE hiv = 'positive'",
    "where not": "SELECT card, age FROM person WHERE hiv <> 'negative'",
    "where beside the column": "SELECT card, age, hiv FROM person WHERE hiv <> 'positive'",
    "like": "SELECT card, age FROM person WHERE hiv LIKE 'pos%'",
    "sub-select": "SELECT card, age FROM (SELECT card, age, hiv AS h FROM person) s WHERE h = 'positive'",
    "with": "WITH w AS (SELECT card, age, hiv AS h FROM person) SELECT card, age, lower(h) AS x FROM w",
    "join": "SELECT p.card, p.age FROM person p JOIN (SELECT 'positive' AS v) x ON x.v = p.hiv",
    "using": "SELECT card, age FROM person JOIN (SELECT 'positive' AS hiv) x USING (hiv)",
    "natural": "SELECT card, age FROM person NATURAL JOIN (SELECT 'positive' AS hiv) x",
    "exists": "SELECT card, age FROM person p WHERE EXISTS "
    "(SELECT 1 FROM person q WHERE q.card = p.card AND q.hiv = 'positive')",
    "in": "SELECT card, age FROM person WHERE card IN (SELECT card FROM person WHERE hiv = 'positive')",
    "scalar": "SELECT p.card, p.age FROM person p WHERE (SELECT q.hiv FROM person q WHERE q.card = p.card) = 'positive'",
    "having": "SELECT card, max(age) AS age FROM person GROUP BY card HAVING max(hiv) = 'positive'",
    "order": "SELECT card, age FROM person ORDER BY hiv DESC LIMIT 40",
    "order by place": "SELECT card, age, hiv FROM person ORDER BY 3 DESC LIMIT 40",
    "order by place in brackets": "SELECT card, age, hiv FROM person ORDER BY (3) DESC LIMIT 40",
    "group by place": "SELECT card, age, max(hiv) AS h FROM person GROUP BY 1, 2",
    "window": "SELECT card, age, rank() OVER (ORDER BY hiv) AS r FROM person",
    "intersect": "SELECT card, age FROM (SELECT card, age, hiv FROM person INTERSECT "
    "SELECT card, age, 'positive' FROM person) s",
    "except": "SELECT card, age FROM (SELECT card, age, hiv FROM person EXCEPT SELECT card, age, 'positive' FROM person) s",
    "quoted": 'SELECT "card", "age", upper("hiv") AS h FROM "person"',
    "offset": "SELECT card, age FROM (SELECT card, age, hiv FROM person ORDER BY 3 OFFSET 160) s",
}


@pytest.mark.parametrize("sql", EVASIONS.values(), ids=EVASIONS)
@pytest.mark.parametrize("blocking", [[], OWNERS[:50]], ids=["nobody", "fifty"])
def test_a_value_that_cannot_be_checked_is_refused(url, tmp_path, sql, blocking):
    if "OFFSET" in sql and url.startswith("sqlite"):
        sql = sql.replace("OFFSET", "LIMIT 40 OFFSET")
    with pytest.raises(DataError, match="a rule of 'hiv' looks for a value in the result"):
        attempt(sql, url, tmp_path, blocking)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT card, age, hiv FROM person",
        "SELECT * FROM person",
        "WITH w AS (SELECT card, age, hiv AS h FROM person) SELECT card, age, h FROM w WHERE age > 1",
        "SELECT card, age, hiv AS x FROM person WHERE age < 22 UNION ALL SELECT card, age, hiv FROM person WHERE age > 21",
    ],
)
def test_a_plain_output_column_is_checked(url, tmp_path, sql):
    made = attempt(sql, url, tmp_path, OWNERS[:50])
    assert made.marks.owners("hiv") == 50
    assert len(made.table) == 150


def test_columns_whose_names_differ_only_in_case_are_refused(url, tmp_path):
    with pytest.raises(DataError, match="2 columns of the query are named 'x'"):
        attempt('SELECT card, age, hiv AS "X", age AS x FROM person', url, tmp_path, OWNERS[:50])


def test_a_query_without_the_column_is_allowed(url, tmp_path):
    assert len(attempt("SELECT card, age FROM person", url, tmp_path, OWNERS[:50]).table) == 200


@pytest.mark.parametrize("literal", ["true", '"true"', '"t"', "1"])
def test_a_truth_value_fires(literal):
    catalogue = read_toml(
        '[[inference]]\nid = "hiv"\ndescription = "Deduce whether I have HIV"\nextra = 10\n'
        f'[[inference.rule]]\ntables = {{}}\nvalues = [{{field = "hiv", literal = {literal}, scope = "data"}}]\n'
    )
    query, matches = analyse("SELECT card, hiv FROM person", catalogue)
    assert find_values(pl.DataFrame({"card": ["a"], "hiv": [True]}), query, matches, catalogue) == {("hiv", 0, 0): True}
    assert find_values(pl.DataFrame({"card": ["a"], "hiv": [False]}), query, matches, catalogue) == {
        ("hiv", 0, 0): False
    }
