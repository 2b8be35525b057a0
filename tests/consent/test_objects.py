"""Forty statements through every kind of object of two databases: each honours the blocks, or is refused."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request, publish
from celosia.consent.rules.rules import read_toml
from celosia.errors import CelosiaError

CATALOGUE = read_toml(
    '[[inference]]\nid = "residence"\ndescription = "Find out where I live"\nextra = 10\n'
    '[[inference.rule]]\ntables = {address = ["district"]}\n'
    '[[inference]]\nid = "hiv"\ndescription = "Deduce whether I have HIV"\nextra = 10\n'
    '[[inference.rule]]\ntables = {}\nvalues = [{field = "hiv", literal = "positive", scope = "data"}]\n'
)
OWNERS = [f"B{i:05d}" for i in range(200)]
BLOCKING = OWNERS[:50]
BOTH = (
    "CREATE TABLE address(card text PRIMARY KEY, district text, canton text)",
    "CREATE TABLE person(card text PRIMARY KEY, age int, hiv text)",
    "CREATE VIEW v_address AS SELECT card, district, canton FROM address",
    "CREATE VIEW v_again AS SELECT card, district AS place FROM v_address",
    "CREATE VIEW v_join AS SELECT p.card, p.age, a.district FROM person p JOIN address a ON a.card = p.card",
    "CREATE VIEW v_with AS WITH w AS (SELECT card, district FROM address) SELECT card, district FROM w",
    "CREATE VIEW v_names(c, d) AS SELECT card, district FROM address",
    "CREATE VIEW v_hiv AS SELECT card, age, hiv AS result FROM person",
    "CREATE VIEW v_upper AS SELECT card, upper(hiv) AS result FROM person",
    "CREATE VIEW v_some AS SELECT card, age FROM person WHERE hiv = 'positive'",
    "CREATE VIEW v_canton AS SELECT card, canton FROM address",
)
ONLY = {
    "postgresql": (
        "CREATE MATERIALIZED VIEW m_address AS SELECT * FROM address",
        "CREATE VIEW v_over_m AS SELECT card, district FROM m_address",
        "CREATE FUNCTION f_address() RETURNS SETOF address LANGUAGE sql AS 'SELECT * FROM address'",
        "CREATE FUNCTION home(c text) RETURNS text LANGUAGE sql AS 'SELECT district FROM address WHERE card = c'",
        "CREATE VIEW v_function AS SELECT card, home(card) AS x FROM person",
        "CREATE TABLE whole(card text, district text) PARTITION BY LIST (district)",
        "CREATE TABLE part PARTITION OF whole DEFAULT",
        "INSERT INTO whole SELECT card, district FROM address",
        "CREATE TABLE parent(card text, district text)",
        "CREATE TABLE child() INHERITS (parent)",
        "CREATE SCHEMA other",
        "CREATE VIEW other.address AS SELECT card, district FROM public.address",
        "CREATE VIEW v_star AS SELECT * FROM address",
    ),
    "sqlite": (
        "CREATE VIRTUAL TABLE words USING fts5(card, district)",
        "INSERT INTO words SELECT card, district FROM address",
        "CREATE VIEW v_star AS SELECT * FROM address",
    ),
}
# statement, column of the owner, inference, and whether it is published
ON_BOTH = [
    ("SELECT card, district FROM address", "residence", True),
    ("SELECT card, district FROM v_address", "residence", True),
    ('SELECT card, district FROM "v_address"', "residence", True),
    ("SELECT x.card, x.district FROM V_ADDRESS x", "residence", True),
    ("SELECT card, place AS district FROM v_again", "residence", True),
    ("SELECT card, age, district FROM v_join", "residence", True),
    ("SELECT card, district FROM v_with", "residence", True),
    ("SELECT c AS card, d AS district FROM v_names", "residence", True),
    ("SELECT card, district FROM v_star", "residence", True),
    ("SELECT * FROM v_star", "residence", True),
    ("WITH w AS (SELECT * FROM address) SELECT card, district FROM w", "residence", True),
    ("WITH w AS (SELECT * FROM v_star) SELECT card, district FROM w", "residence", True),
    (
        "WITH a AS (SELECT * FROM v_again), b AS (SELECT * FROM a) SELECT card, place AS district FROM b",
        "residence",
        True,
    ),
    ("SELECT s.card, s.district FROM (SELECT * FROM v_address) s", "residence", True),
    ("SELECT p.card, p.age, v.district FROM person p JOIN v_address v ON v.card = p.card", "residence", True),
    (
        (
            "SELECT p.card, p.age, v.district FROM person p LEFT JOIN v_again w ON w.card = p.card "
            "JOIN address v ON v.card = p.card"
        ),
        "residence",
        False,
    ),
    (
        (
            "SELECT card, district FROM v_address WHERE canton = 'C1' UNION ALL "
            "SELECT card, district FROM v_address WHERE canton = 'C0'"
        ),
        "residence",
        True,
    ),
    ("SELECT card, upper(district) AS district FROM v_address", "residence", True),
    ("SELECT card, canton AS district FROM v_address WHERE district = 'D1'", "residence", True),
    ("SELECT card, count(*) AS district FROM v_address GROUP BY card, district", "residence", True),
    ("SELECT card, district FROM v_address ORDER BY district LIMIT 20", "residence", True),
    (
        "SELECT p.card, p.age, (SELECT v.district FROM v_address v WHERE v.card = p.card) AS district FROM person p",
        "residence",
        False,
    ),
    (
        "SELECT card, age AS district FROM person WHERE card IN (SELECT card FROM v_address WHERE district = 'D1')",
        "residence",
        False,
    ),
    (
        (
            "SELECT p.card, p.age AS district FROM person p WHERE EXISTS "
            "(SELECT 1 FROM v_again v WHERE v.card = p.card AND v.place = 'secret')"
        ),
        "residence",
        False,
    ),
    ("SELECT card, result AS district FROM v_hiv", "hiv", True),
    ("SELECT card, age, result AS district FROM v_hiv WHERE age > 1", "hiv", True),
    ("SELECT card, result AS district FROM v_upper", "hiv", False),
    ("SELECT card, age AS district FROM v_some", "hiv", False),
    ("SELECT card, age AS district FROM v_hiv WHERE result <> 'negative'", "hiv", False),
    (
        "SELECT v_address.card, v_address.district FROM v_address, person WHERE person.card = v_address.card",
        "residence",
        True,
    ),
    ("WITH v_address AS (SELECT * FROM address) SELECT card, district FROM v_address", "residence", False),
    ("SELECT card, district FROM consent_choices", "residence", False),
]
OF_ONE = {
    "postgresql": [
        ("SELECT card, district FROM m_address", "residence", False),
        ("SELECT card, district FROM v_over_m", "residence", False),
        ("SELECT card, district FROM f_address()", "residence", False),
        ("SELECT card, home(card) AS district FROM person", "residence", False),
        ("SELECT card, x AS district FROM v_function", "residence", False),
        ("SELECT card, district FROM part", "residence", False),
        ("SELECT card, district FROM child", "residence", False),
        ("SELECT card, district FROM other.address", "residence", True),
    ],
    "sqlite": [
        ("SELECT card, district FROM words", "residence", False),
        ("SELECT w.card, w.district FROM words w JOIN v_address v ON v.card = w.card", "residence", False),
        ("SELECT card, district FROM main.v_address", "residence", True),
        ("SELECT card, district FROM [v_address]", "residence", True),
        ("SELECT card, district FROM `v_address`", "residence", True),
        ("SELECT card, name AS district FROM v_address, pragma_table_info('address')", "residence", False),
        ("SELECT card, rowid AS district FROM v_address", "residence", False),
        ("SELECT card, district FROM v_address NATURAL JOIN person", "residence", True),
    ],
}


def fill(url):
    """The tables and every further object."""
    kind, _, path = url.partition(":///")
    if kind == "sqlite":
        connection, sign = sqlite3.connect(path, isolation_level=None), "?"
    else:
        import psycopg

        kind, connection, sign = "postgresql", psycopg.connect(url, autocommit=True), "%s"
    for statement in BOTH:
        connection.execute(statement)
    homes = [(o, "secret" if o in BLOCKING else f"D{i % 4}", f"C{i % 2}") for i, o in enumerate(OWNERS)]
    people = [(o, 20 + i % 4, "positive" if i % 5 == 0 else "negative") for i, o in enumerate(OWNERS)]
    cursor = connection.cursor()
    cursor.executemany(f"INSERT INTO address VALUES ({sign}, {sign}, {sign})", homes)
    cursor.executemany(f"INSERT INTO person VALUES ({sign}, {sign}, {sign})", people)
    for statement in ONLY[kind]:
        connection.execute(statement)
    connection.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def url(request, tmp_path_factory):
    if request.param == "postgresql":
        made = request.getfixturevalue("databases")()
    else:
        made = f"sqlite:///{tmp_path_factory.mktemp('objects')}/people.db"
    fill(made)
    return made


def test_no_block_is_missed(url, tmp_path):
    """Without the rows of those who block: no cell of theirs is in the result, whatever the statement reads."""
    statements = ON_BOTH + OF_ONE["sqlite" if url.startswith("sqlite") else "postgresql"]
    assert len(statements) == 40
    outcomes = {}
    for number, (sql, inference, _) in enumerate(statements):
        store = Preferences.create(tmp_path / f"choices{number}.db")
        store.add_owners(OWNERS)
        store.load(pl.DataFrame({"owner": BLOCKING, "inference": inference, "block": True}), CATALOGUE.ids())
        design = Design(k=1, rule="class", strengthen=("exclude",))
        names = {name: "a test" for name in ("district", "age") if name in sql.partition(" FROM ")[0]}
        try:
            made = publish(
                Request(sql, "card", design, ("district",), measure=False, acknowledge=names), url, CATALOGUE, store
            )
        except CelosiaError as refusal:
            outcomes[sql] = str(refusal)
            continue
        finally:
            store.close()
        outcomes[sql] = ""
        marked = made.marks.rows[inference]
        assert [o in BLOCKING for o in made.marks.owner] == marked.tolist(), sql
        assert len(made.table) == len(marked) - marked.sum(), sql
        assert not made.table.polars().cast(pl.String)["district"].str.to_lowercase().eq("secret").any(), sql
    wrong = [(sql[:90], outcomes[sql][:200]) for sql, _, published in statements if published == bool(outcomes[sql])]
    assert not wrong, "\n".join(map(str, wrong))
