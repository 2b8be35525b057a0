"""A query reads: whatever it says, the database and the disk are afterwards as they were before."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import polars as pl
import pytest

import celosia
from celosia.cli.main import run
from celosia.data import io as cio
from celosia.data.io import database
from celosia.data.io.statement import check_reads
from celosia.errors import CelosiaError, DataError, OutputError

ROWS = [(i, f"name {i}") for i in range(10)]
CHANGES = [
    "DROP TABLE people",
    "DELETE FROM people",
    "UPDATE people SET id = 0",
    "INSERT INTO people VALUES (99, 'x')",
    "CREATE TABLE pets (id INTEGER)",
    "ALTER TABLE people ADD COLUMN x INTEGER",
    "SELECT id FROM people; DROP TABLE people",
    "SELECT 1 AS a; DELETE FROM people; SELECT 2 AS a",
    "EXPLAIN DELETE FROM people",
    "BEGIN",
    "VACUUM",
    "SELECT * INTO pets FROM people",
    "WITH gone AS (DELETE FROM people RETURNING id) SELECT id FROM gone",
    "/* SELECT */ DROP TABLE people",
    "DELETE FROM people RETURNING id",
]
READS = [
    "SELECT id, name FROM people",
    "select id, name from people -- ; DROP TABLE people",
    "WITH few AS (SELECT id, name FROM people) SELECT id, name FROM few;",
    "SELECT id, name FROM people WHERE name <> 'x; DROP TABLE people'",
    "SELECT id, name FROM people UNION ALL SELECT id, name FROM people WHERE id < 0",
    "SELECT p.id, p.name FROM (SELECT id, name FROM people) AS p JOIN people AS q ON p.id = q.id",
]


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    with sqlite3.connect(tmp_path / "h.db") as base:
        base.execute("CREATE TABLE people (id INTEGER, name TEXT)")
        base.executemany("INSERT INTO people VALUES (?, ?)", ROWS)
    return f"sqlite:///{tmp_path}/h.db"


@pytest.fixture
def duck(tmp_path: Path) -> str:
    with duckdb.connect(str(tmp_path / "h.duckdb")) as base:
        base.execute("CREATE TABLE people (id INTEGER, name TEXT)")
        base.executemany("INSERT INTO people VALUES (?, ?)", ROWS)
    return f"duckdb:///{tmp_path}/h.duckdb"


@pytest.fixture
def postgres(postgres_url: str) -> str:
    import sqlalchemy as sa

    engine = database.create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE IF EXISTS people"))
    engine.dispose()
    cio.write(pl.DataFrame(ROWS, schema=["id", "name"], orient="row"), postgres_url, table="people")
    return postgres_url


@pytest.fixture(params=["sqlite", "duck", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def rows(url: str, **source: str) -> list[tuple[object, ...]]:
    frame = cio.scan(url, **source).frame
    return sorted((frame.pl() if hasattr(frame, "pl") else frame.collect()).rows())


def test_nothing_is_changed(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    for query in CHANGES:
        with pytest.raises(DataError) as caught:
            rows(url, query=query)
        assert len(str(caught.value).splitlines()) == 1
        assert rows(url, table="people") == ROWS, query
    assert sorted(tmp_path.iterdir()) == before


def test_the_database_itself_refuses_what_would_slip_through(url, monkeypatch):
    """The parser is the first of two locks: without it the connection still only reads."""
    monkeypatch.setattr("celosia.data.io.database.check_reads", lambda *_: None)
    for query in CHANGES[:4]:
        with pytest.raises(DataError):
            rows(url, query=query)
    monkeypatch.undo()
    assert rows(url, table="people") == ROWS


def test_a_relation_that_was_read_cannot_write_either(duck):
    with pytest.raises(duckdb.Error, match="read-only"):
        cio.scan(duck, table="people").frame.create("pets")


def test_what_reads_is_read(url):
    for query in READS:
        assert rows(url, query=query) == ROWS, query
    assert rows(url, query="VALUES (1, 'a')") == [(1, "a")]


def test_duckdb_writes_no_file(duck, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    for query in [
        "COPY people TO 'out.csv'",
        "COPY (SELECT * FROM people) TO 'out.parquet'",
        "EXPORT DATABASE 'out'",
        "ATTACH 'other.duckdb'",
        "SELECT * FROM enable_logging('QueryLog', storage='file', storage_path='out')",
        "SELECT * FROM \"enable_logging\"('QueryLog', storage='file', storage_path='out')",
        "SELECT id FROM people WHERE id IN (SELECT 1 FROM enable_logging(storage='file', storage_path='out'))",
        "SELECT * FROM people, LATERAL enable_profiling()",
        "SELECT * FROM query('SELECT 1')",
        "PRAGMA enable_profiling",
        "SET threads = 1",
        "INSTALL httpfs",
    ]:
        with pytest.raises(DataError):
            rows(duck, query=query)
        with pytest.raises(DataError):
            rows("duckdb:///", query=query)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("source", ["read_csv('{}')", "'{}'", "read_text('{}')", "glob('{}')", "read_blob('{}')"])
def test_duckdb_query_reads_no_other_file(duck, tmp_path, source):
    pl.DataFrame({"a": [1, 2]}).write_csv(tmp_path / "two.csv")
    for url in (duck, "duckdb:///"):
        with pytest.raises(DataError):
            rows(url, query=f"SELECT * FROM {source.format(tmp_path / 'two.csv')}")


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_duckdb_view_reads_no_other_file(tmp_path, engine):
    (tmp_path / "secret.txt").write_text("a secret")
    path = tmp_path / "third_party.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS id")
        connection.execute(f"CREATE VIEW v AS SELECT * FROM read_text('{tmp_path}/secret.txt')")
        connection.execute("CREATE VIEW w AS SELECT id, content FROM people, v")
        connection.execute(f"CREATE MACRO m() AS TABLE SELECT * FROM read_text('{tmp_path}/secret.txt')")
    url = f"duckdb:///{path}"
    for options in ({"table": "v"}, {"table": "w"}, {"query": "SELECT * FROM w"}, {"query": "SELECT * FROM m()"}):
        with pytest.raises(DataError) as refused:
            celosia.read(url, engine=engine, **options)
        assert "secret" not in str(refused.value)
    assert len(celosia.read(url, table="people", engine=engine)) == 1


def test_command_line_reads_no_file_through_a_database(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.txt").write_text("a secret")
    with duckdb.connect("d.duckdb") as connection:
        connection.execute("CREATE VIEW v AS SELECT content AS age FROM read_text('secret.txt')")
    assert run(["assess", "duckdb:///d.duckdb", "--query", "SELECT age FROM v", "--quasi", "age"]) == 2
    assert run(["assess", "duckdb:///d.duckdb", "--query", "SELECT content FROM read_text('secret.txt')"]) == 2
    assert "a secret" not in capsys.readouterr().err


def test_duckdb_table_is_protected_on_its_locked_connection(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE p AS SELECT range % 50 AS age, 'c' || range % 3 AS city FROM range(300)")
    schema = celosia.Schema.of(quasi=["age", "city"], kinds={"age": "numeric"})
    step = "generalise(require=k-anonymity(k=5))"
    released = celosia.protect(celosia.read(f"duckdb:///{path}", schema, table="p"), step, seed=1)
    same = celosia.protect(celosia.read(f"duckdb:///{path}", schema, table="p", engine="polars"), step, seed=1)
    assert released.polars().sort("age", "city").equals(same.polars().sort("age", "city"))


def test_duckdb_generates_series(duck):
    assert rows(duck, query="SELECT range AS a FROM range(2)") == [(0,), (1,)]
    assert rows(duck, query="FROM people") == ROWS


def test_postgresql_calls_no_function_of_the_server(postgres):
    for call in [
        "lo_export(1, '/tmp/x')",
        "pg_catalog.pg_terminate_backend(1)",
        "\"pg_read_file\"('x')",
        "dblink_exec('', 'DROP TABLE people')",
    ]:
        with pytest.raises(DataError, match="acts outside of the query"):
            rows(postgres, query=f"SELECT {call} AS a FROM people")


HIDDEN = [
    "query_to_xml('select pg_read_file(''/etc/hostname'')', true, false, '')::text",
    "U&\"p\\0067_read_file\"('/etc/hostname')",
    "(SELECT string_agg(word, '') FROM ts_stat('select to_tsvector(pg_read_file(''/etc/hostname''))'))",
    "query_to_xml('select pg_sleep(1)', true, false, '')::text",
    "set_config('transaction_read_only', 'off', false)",
    "current_setting('data_directory')",
    "inet_server_port()::text",
    "'pg_authid'::regclass::text",
    "cursor_to_xml('x', 1, true, false, '')::text",
    "current_user",
]


@pytest.mark.parametrize("call", HIDDEN)
def test_postgresql_runs_no_query_in_a_text(postgres, call):
    with pytest.raises(DataError, match=r"acts outside of the query|escaped characters|is not read"):
        rows(postgres, query=f"SELECT {call} AS a FROM people")


def test_duckdb_shows_nothing_of_the_machine(duck):
    for call in ["getenv('HOME')", "current_setting('temp_directory')", "getvariable('x')", "write_log('x')"]:
        with pytest.raises(DataError, match="acts outside of the query"):
            rows(duck, query=f"SELECT {call} AS a FROM people")


PURE = {
    "sqlite": [
        "strftime('%Y', '2020-01-01')",
        "max(id, 1)",
        "instr(name, 'n')",
        "iif(id > 1, 1, 2)",
        "json_valid(name)",
    ],
    "duck": ["list_sum([id])", "date_diff('day', DATE '2020-01-01', DATE '2020-01-03')", "md5(name)", "epoch(now())"],
    "postgres": [
        "date_part('year', now())",
        "to_char(now(), 'YYYY')",
        "num_nulls(id)",
        "regexp_replace(name, 'n', '')",
    ],
}


@pytest.mark.parametrize("kind", PURE)
def test_pure_functions_are_called(request, kind):
    columns = [f"{call} AS c{i}" for i, call in enumerate(PURE[kind])]
    assert rows(request.getfixturevalue(kind), query=f"SELECT {', '.join(columns)} FROM people")


def test_a_message_does_not_repeat_the_query(capfd):
    for query in ["DELETE FROM people WHERE name = 'secret'", "VACUUM secret", "SELECT 'secret' 'secret"]:
        with pytest.raises(DataError) as caught:
            check_reads(query, "postgres")
        assert "secret" not in str(caught.value)
    with pytest.raises(DataError):
        check_reads("SELECT " + "(" * 5000 + "1" + ")" * 5000, "sqlite")
    assert capfd.readouterr() == ("", "")


def test_on_the_command_line(sqlite, tmp_path, capsys):
    assert run(["assess", sqlite, "--query", "DROP TABLE people"]) == 2
    assert run(["assess", sqlite, "--quasi", "id", "--sql", "--query", "people; DROP TABLE people"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 2
    assert "DROP" not in said
    assert rows(sqlite, table="people") == ROWS


@pytest.mark.parametrize("name", ["none.db", "none/people.db"])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_mistyped_database_is_not_made(tmp_path, kind, name):
    url = f"{kind}:///{tmp_path}/{name}"
    with pytest.raises(DataError, match="no file"):
        cio.scan(url, query="SELECT 1 AS a")
    with pytest.raises(DataError, match="no file"):
        cio.write(pl.DataFrame({"a": [1]}), url, table="t")
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_only_memory_keeps_nothing():
    for url in ("sqlite://", "sqlite:///:memory:", "duckdb:///", "duckdb:///:memory:"):
        with pytest.raises(CelosiaError, match="no file"):
            cio.write(pl.DataFrame({"a": [1]}), url, table="t")


def test_a_mistyped_directory_is_not_made(tmp_path):
    for name in ("a.csv", "a.parquet", "a.jsonl", "a.xlsx", "a.ods", "a.sav", "a.dta"):
        with pytest.raises(OutputError, match="No such file or directory"):
            cio.write(pl.DataFrame({"a": [1]}), tmp_path / "none" / name)
    assert list(tmp_path.iterdir()) == []


def test_a_view_gives_no_paths_of_this_computer(tmp_path):
    with duckdb.connect(str(tmp_path / "v.duckdb")) as base:
        base.execute("CREATE VIEW v AS SELECT current_setting('temp_directory') AS place")
    with sqlite3.connect(tmp_path / "v.db") as base:
        base.execute("CREATE VIEW v AS SELECT file FROM pragma_database_list")
    for url in (f"duckdb:///{tmp_path}/v.duckdb", f"sqlite:///{tmp_path}/v.db"):
        with pytest.raises(DataError):
            cio.scan(url, table="v")
    with pytest.raises(DataError, match="pragma_database_list"):
        cio.scan(f"sqlite:///{tmp_path}/v.db", query="SELECT file FROM pragma_database_list")


@pytest.mark.parametrize("url", ["foo://x", "md://base"])
def test_an_unknown_scheme_is_named_before_a_query_is_asked_for(url):
    with pytest.raises(DataError, match="not a database URL that is known"):
        cio.scan(url)
