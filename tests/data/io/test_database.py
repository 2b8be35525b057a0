"""Databases by URL: SQLite, DuckDB, PostgreSQL."""

from __future__ import annotations

import datetime as dt
import importlib.util
import sqlite3
from pathlib import Path

import duckdb
import polars as pl
import pytest

from celosia.data import io as cio
from celosia.data.io import database
from celosia.errors import DataError, OutputError, ParameterError

FRAME = pl.DataFrame(
    {
        "id": [1, 2, None],
        "x": [1.5, None, 2.0],
        "name": ["a", "é", None],
        "born": [dt.date(2020, 1, 2), None, dt.date(1950, 3, 4)],
        "seen": [dt.datetime(2020, 1, 2, 3, 4, 5), None, dt.datetime(1950, 3, 4, 1, 1, 1)],
    }
)


@pytest.fixture
def sqlite(tmp_path):
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE people (id INTEGER, age REAL, name TEXT)")
        base.executemany("INSERT INTO people VALUES (?, ?, ?)", [(i, i / 2, f"n{i}") for i in range(10)])
    return f"sqlite:///{path}"


def test_query_and_table(sqlite):
    assert cio.scan(sqlite, query="SELECT id, age FROM people WHERE id < 2").frame.collect().rows() == [
        (0, 0),
        (1, 0.5),
    ]
    assert cio.scan(sqlite, table="people").frame.collect().height == 10


def test_sqlite_mixed_types(tmp_path, monkeypatch):
    monkeypatch.setattr("celosia.data.io.database.BATCH", 2)
    path = tmp_path / "mixed.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE t (a, b, c)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, 1, None), (2.5, 2, None), (3, "x", None), (None, 4, 5)])
    frame = cio.scan(f"sqlite:///{path}", table="t").frame.collect()
    assert frame.rows() == [(1.0, "1", None), (2.5, "2", None), (3.0, "x", None), (None, "4", 5)]


def test_refusals(sqlite, tmp_path):
    with pytest.raises(DataError, match=r"no table 'peple'. Did you mean 'people'"):
        cio.scan(sqlite, table="peple")
    with pytest.raises(DataError, match="no such column") as caught:
        cio.scan(sqlite, query="SELECT absent FROM people WHERE name = 'secret'")
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match=r"\(syntax error\)"):
        cio.scan(sqlite, query="SELECT * FROM people WHERE name = secret smith")
    with pytest.raises(DataError, match="no records"):
        cio.scan(sqlite, query="SELECT * FROM people WHERE id < 0")
    with pytest.raises(DataError, match="only a SELECT"):
        cio.scan(sqlite, query="DELETE FROM people")
    assert cio.scan(sqlite, table="people").frame.collect().height == 10
    with pytest.raises(DataError, match="several columns named id"):
        cio.scan(sqlite, query="SELECT id, id FROM people")
    with pytest.raises(ParameterError, match="a query or a table"):
        cio.scan(sqlite)
    with pytest.raises(DataError, match="no file"):
        cio.scan(f"sqlite:///{tmp_path}/none.db", table="t")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(DataError, match="not a database URL"):
        cio.scan("klingon://qonos/people", table="t")


def test_passwords_are_not_shown():
    with pytest.raises(DataError) as caught:
        cio.scan("postgresql://ana:hunter2@127.0.0.1:1/base", table="t")
    assert "hunter2" not in str(caught.value)


def test_write_sqlite(tmp_path):
    url = f"sqlite:///{tmp_path}/new.db"
    sqlite3.connect(tmp_path / "new.db").close()
    cio.write(FRAME, url, table="safe")
    back = cio.scan(url, query="SELECT id, x, name FROM safe").frame.collect()
    assert back.equals(FRAME.select("id", "x", "name"))
    with pytest.raises(OutputError, match="has a table 'safe' already"):
        cio.write(FRAME, url, table="safe")


def test_duckdb_stays_lazy(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE TABLE people AS SELECT range AS id, range % 3 AS g FROM range(1000)")
    opened = cio.scan(f"duckdb:///{path}", query="SELECT g, count(*) AS n FROM people GROUP BY g ORDER BY g")
    assert isinstance(opened.frame, duckdb.DuckDBPyRelation)
    assert opened.frame.fetchall() == [(0, 334), (1, 333), (2, 333)]
    cio.write(opened.frame, tmp_path / "g.csv")
    assert cio.scan(tmp_path / "g.csv").frame.collect().height == 3
    with pytest.raises(DataError, match="refused"):
        cio.scan(f"duckdb:///{path}", table="pets")
    with pytest.raises(DataError, match="no file"):
        cio.scan(f"duckdb:///{path}x", table="pets")


def test_duckdb_write(tmp_path):
    url = f"duckdb:///{tmp_path}/new.duckdb"
    duckdb.connect(str(tmp_path / "new.duckdb")).close()
    cio.write(FRAME, url, table="safe")
    assert cio.scan(url, table="safe").frame.pl().equals(FRAME)
    with pytest.raises(OutputError, match="'safe' could not be written"):
        cio.write(FRAME, url, table="safe")


@pytest.fixture(scope="module")
def postgresql():
    spec = importlib.util.spec_from_file_location("celosia_tests_postgres", Path(__file__).parents[2] / "postgres.py")
    server = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(server)
    if server.binaries() is None:
        pytest.skip("needs the PostgreSQL server binaries (initdb, pg_ctl), which are not installed")
    with server.cluster() as url:
        yield url


def test_postgresql(postgresql):
    import sqlalchemy as sa

    cio.write(FRAME, postgresql, table="safe")
    back = cio.scan(postgresql, table="safe").frame.collect()
    assert back.equals(FRAME)
    amounts = cio.scan(postgresql, query="SELECT CAST(x AS numeric(10, 2)) AS x, id > 1 AS more FROM safe ORDER BY id")
    assert amounts.frame.collect().rows() == [(1.5, False), (None, True), (2.0, None)]
    with pytest.raises(DataError, match="does not exist"):
        cio.scan(postgresql, query="SELECT absent FROM safe")
    # The message of the server would quote the cell.
    with pytest.raises(DataError) as caught:
        cio.scan(postgresql, query="SELECT CAST(name AS integer) AS n FROM safe WHERE name = 'a'")
    assert '"a"' not in str(caught.value)
    engine = database.create_engine(postgresql)
    with engine.begin() as connection:
        connection.execute(
            sa.text("CREATE FUNCTION empty_it() RETURNS integer AS 'DELETE FROM safe; SELECT 1' LANGUAGE sql")
        )
    engine.dispose()
    with pytest.raises(DataError, match="the query calls empty_it"):
        cio.scan(postgresql, query="SELECT empty_it() AS n")
    assert cio.scan(postgresql, table="safe").frame.collect().height == 3
    nested = "SELECT ARRAY[1, 2] AS a"
    with pytest.raises(DataError, match="columns a of the query hold no plain values"):
        cio.scan(postgresql, query=nested)


def test_columns_are_described_without_reading_rows(tmp_path):
    """Tables and views, by any spelling; what is not there lacks."""
    path = tmp_path / "described.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE People (Card TEXT, Age INT)")
        connection.execute("CREATE VIEW old AS SELECT Card FROM People WHERE Age > 60")
    asked = ["people", "OLD", "main.People", "absent", "other.people"]
    found = database.table_columns(f"sqlite:///{path}", asked)
    assert found == {"people": ["Card", "Age"], "OLD": ["Card"], "main.People": ["Card", "Age"]}
    path = tmp_path / "described.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE People (Card TEXT, Age INT)")
        connection.execute("CREATE VIEW old AS SELECT Card FROM People WHERE Age > 60")
    assert database.table_columns(f"duckdb:///{path}", asked) == found


def test_columns_are_described_in_postgresql(postgresql):
    import sqlalchemy as sa

    engine = database.create_engine(postgresql)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE SCHEMA IF NOT EXISTS desk"))
        connection.execute(sa.text('CREATE TABLE desk.described ("Card" text, age int)'))
        connection.execute(sa.text('CREATE VIEW desk.seen AS SELECT "Card" FROM desk.described'))
    engine.dispose()
    found = database.table_columns(postgresql, ["desk.described", "DESK.SEEN", "described"])
    assert found == {"desk.described": ["Card", "age"], "DESK.SEEN": ["Card"]}
    with pytest.raises(DataError, match="cannot be reached"):
        database.table_columns("postgresql://nobody:x@127.0.0.1:1/none", ["a"])


def test_an_address_is_opened_as_it_is_checked(tmp_path):
    from celosia.parts import database_file

    file = tmp_path / "a?b%20c.db"
    sqlite3.connect(file).executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1)").close()
    address = f"sqlite:///{file}".replace("%", "%25").replace("?", "%3F")
    assert database_file(address) == str(file)
    assert len(cio.scan(address, table="t").frame.collect()) == 1
    assert len(cio.scan(address + "?x=1", table="t").frame.collect()) == 1  # without a warning
    with pytest.raises(DataError, match="not a database URL that is known"):
        cio.scan("duckdb://x/../people.duckdb", table="t")
