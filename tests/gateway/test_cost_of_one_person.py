"""Neither the rows of a join, nor the work for a row, nor a time in the history depends on one person beyond a bound."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest

from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger, NoLedger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.web import create

testclient = pytest.importorskip("fastapi.testclient")

WHOLE, TEXT = {"type": "integer"}, {"type": "text"}


def clinic(place, database, visits=90, rows=3):
    """Forty patients, one of whom has many visits, and a public table with many rows of each region."""
    path = place / f"{database}-{visits}.db"
    if database == "sqlite":
        connection = sqlite3.connect(path)
    else:
        import duckdb

        connection = duckdb.connect(str(path))
    with closing(connection):
        for table in ("patient (id INTEGER, income INTEGER, region TEXT, note TEXT)", "visit (patient INTEGER)"):
            connection.execute(f"CREATE TABLE {table}")
        connection.execute("CREATE TABLE street (region TEXT, name TEXT)")
        for i in range(40):
            connection.execute(f"INSERT INTO patient VALUES ({i}, {1000 * i}, 'R{i % 2}', 'note {i}')")
            for _ in range(visits if i == 17 else 1):
                connection.execute(f"INSERT INTO visit VALUES ({i})")
            connection.execute(f"INSERT INTO street VALUES ('R{i % 2}', 'S{i}')")
        connection.commit()
    income = {"type": "integer", "bounds": [0, 100_000]}
    tables = {
        "patient": {"person": "id", "unique": True, "columns": {"id": WHOLE, "income": income, "region": TEXT}},
        "visit": {"person": "patient", "rows": rows, "columns": {"patient": WHOLE}},
        "street": {"public": True, "keys": ["name"], "columns": {"region": TEXT, "name": TEXT}},
    }
    tables["patient"]["columns"] |= {"note": TEXT}
    joins = [("patient.region", "street.region"), ("patient.id", "visit.patient"), ("visit.patient", "visit.patient")]
    declared = {"name": "d", "epsilon": 10.0, "database": f"{database}:///{path}", "tables": tables}
    return DatasetFacts.of(declared | {"joins": [{"left": left, "right": right} for left, right in joins]})


@pytest.fixture(params=["sqlite", "duckdb"])
def gateway(request, tmp_path):
    with closing(Gateway(clinic(tmp_path, request.param), Ledger.create(tmp_path / "l.db"), grid=0)) as opened:
        yield opened


def joined_rows(gateway, sql):
    """Rows of the join behind a query, before any condition."""
    first, *others = gateway.plan(sql).sources
    tables = "".join(f" {s.join} {s.name} AS {s.alias} ON {s.on}" for s in others)
    return gateway._database.rows(f"SELECT COUNT(*) FROM {first.name} AS {first.alias}{tables}")[0][0]


def test_rows_of_a_person_are_cut_before_tables_are_joined_or_a_condition_is_applied(gateway):
    twice = "SELECT COUNT(*) FROM visit a JOIN visit b ON a.patient = b.patient"
    assert joined_rows(gateway, twice) == 39 + 3 * 3
    assert gateway.explain(twice, epsilon=0.1).rows_per_person == 3
    assert joined_rows(gateway, "SELECT COUNT(*) FROM visit WHERE patient = 17") == 39 + 3


SEVERAL_ROWS = {
    "table": "SELECT COUNT(*) FROM visit WHERE patient {}",
    "key": "SELECT patient, COUNT(*) FROM visit WHERE patient {} GROUP BY 1",
    "join": "SELECT COUNT(*) FROM visit a JOIN visit b ON a.patient = b.patient WHERE a.patient {}",
}


@pytest.mark.parametrize("form", SEVERAL_ROWS)
def test_a_condition_on_a_person_with_many_rows_takes_as_long_when_it_holds(form, tmp_path):
    """SQLite counts its instructions: a condition that holds for 3 000 rows of one person, or for none."""
    ticks = []
    facts = clinic(tmp_path, "sqlite", visits=3000, rows=10)
    with closing(Gateway(facts, NoLedger(), grid=0)) as gateway:
        connection = gateway._database._connection()
        for condition in ("= 17", "= 99"):
            (sql,) = gateway._queries(gateway.plan(SEVERAL_ROWS[form].format(condition)))
            count = []
            connection.set_progress_handler(lambda count=count: count.append(1), 1)
            connection.execute(sql).fetchall()
            ticks.append(len(count))
    assert abs(ticks[0] - ticks[1]) < 1000, ticks  # at most 10 rows of the person meet the condition


def test_values_are_computed_for_rows_that_do_not_meet_the_condition(tmp_path):
    """SQLite counts its instructions: a longer value costs as much when no row meets the condition as when all do."""
    more = {}
    with closing(Gateway(clinic(tmp_path, "sqlite"), NoLedger(), grid=0)) as gateway:
        connection = gateway._database._connection()
        for limit in (0, 99_999):
            ticks = []
            for value in ("income", "ABS(ABS(ABS(income - 5) - 6) - 7)"):
                sql = gateway.explain(f"SELECT SUM({value}) FROM patient WHERE income >= {limit}", epsilon=0.1).sql[0]
                count = []
                connection.set_progress_handler(lambda count=count: count.append(1), 1)
                connection.execute(sql).fetchall()
                ticks.append(len(count))
            more[limit] = ticks[1] - ticks[0]
    assert more[99_999] >= 40 * 3
    assert abs(more[99_999] - more[0]) < 40


def test_history_shows_no_time_finer_than_a_minute(gateway, tmp_path):
    keys = Keys.create(tmp_path / "keys.json")
    client = testclient.TestClient(create(gateway, keys))
    client.headers["Authorization"] = f"Bearer {keys.add('eve')}"
    for _ in range(3):
        asked = {"sql": "SELECT COUNT(*) FROM patient", "epsilon": 0.1, "fresh": True}
        assert client.post("/api/query", json=asked).status_code == 200
    lines = client.get("/api/history").json()
    assert [line["kind"] for line in lines] == ["answer", "charge"] * 3
    assert all(len(line["at"]) == len("2026-01-01T00:00Z") for line in lines)
    assert all(answer["at"] == charge["at"] for answer, charge in zip(lines[::2], lines[1::2], strict=True))
    assert len(client.get("/api/history", params={"limit": 1}).json()) == 0  # an answer without its charge has no time


def test_interval_contains_the_number(gateway):
    for _ in range(40):
        cell = gateway.ask("SELECT COUNT(*) AS n FROM patient WHERE id = 99", epsilon=0.2, fresh=True).rows[0]["n"]
        assert cell["low"] <= cell["value"] <= cell["high"]


JOINED = (
    "patient p JOIN visit v ON p.id = v.patient",
    "visit v JOIN patient p ON p.id = v.patient",
    "patient p LEFT JOIN visit v ON p.id = v.patient",
    "visit v LEFT JOIN patient p ON p.id = v.patient",
    "visit a LEFT JOIN visit b ON a.patient = b.patient LEFT JOIN visit c ON b.patient = c.patient",
    "visit a LEFT JOIN visit b ON a.patient = b.patient JOIN patient p ON p.id = a.patient",
    "patient p JOIN street s ON p.region = s.name LEFT JOIN visit v ON p.id = v.patient",
    "street s JOIN patient p ON p.region = s.name",
)


@pytest.mark.parametrize("statistics", ["none", "of one row", "of all rows"])
def test_sqlite_finds_the_rows_of_each_join_by_an_index(statistics, tmp_path):
    """Only the first table is scanned: by its statistics SQLite compared all pairs of rows, or not, as one row had it."""
    facts = clinic(tmp_path, "sqlite", visits=1)
    with closing(sqlite3.connect(tmp_path / "sqlite-1.db")) as connection:
        if statistics == "of one row":
            for table in ("patient", "visit", "street"):
                connection.execute(f"CREATE TABLE saved AS SELECT * FROM {table}")
                connection.execute(f"DELETE FROM {table} WHERE rowid > 1")
                connection.execute("ANALYZE main." + table)
                connection.execute(f"DELETE FROM {table}")
                connection.execute(f"INSERT INTO {table} SELECT * FROM saved")
                connection.execute("DROP TABLE saved")
        elif statistics == "of all rows":
            connection.execute("ANALYZE")
        connection.commit()
    joins = [{"left": "patient.region", "right": "street.name"}]
    facts = DatasetFacts.of(facts.model_dump() | {"joins": [*(join.model_dump() for join in facts.joins), *joins]})
    with closing(Gateway(facts, NoLedger(), grid=0)) as gateway:
        for tables in JOINED:
            (sql,) = gateway._queries(gateway.plan(f"SELECT COUNT(*) FROM {tables}"))
            steps = [row[3] for row in gateway._database.rows(f"EXPLAIN QUERY PLAN {sql}")]
            assert [step for step in steps if re.match(r"SCAN t\d", step)] == ["SCAN t0"], tables
            assert sum(step.startswith("SEARCH t") for step in steps) == tables.count("JOIN"), tables


def test_the_time_limit_is_drawn_for_each_statement(gateway, monkeypatch):
    """A limit at one point would show on which side of it a query was; its density is as wide as steps of the grid."""
    limits, run = [], gateway._database._rows
    monkeypatch.setattr(gateway._database, "_rows", lambda sql, seconds: limits.append(seconds) or run(sql, seconds))
    monkeypatch.setattr(gateway, "_grid", 0.002)
    for _ in range(20):
        gateway.ask("SELECT COUNT(*) FROM patient", epsilon=0.01, fresh=True)
    assert all(
        0 <= limit - gateway.facts.seconds <= 2 * gateway._step(gateway.plan("SELECT COUNT(*) FROM patient"))
        for limit in limits
    )
    assert len(set(limits)) == 20
    monkeypatch.setattr(gateway, "_grid", 0.0)
    gateway.ask("SELECT COUNT(*) FROM patient", epsilon=0.01, fresh=True)
    assert limits[-1] == gateway.facts.seconds
