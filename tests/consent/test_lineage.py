"""What a query touches, compared with what a person reads in it and with what SQLite and PostgreSQL see."""

from __future__ import annotations

import json
import logging
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter

import pytest

from celosia.consent.sql.elements import DIALECTS, normalise
from celosia.consent.sql.lineage import elements
from celosia.errors import DataError


def parts(found):
    return (
        found.tables,
        found.fields,
        {(c.table, c.field, c.literal) for c in found.constants},
        tuple((o.name, o.direct) for o in found.outputs),
    )


def test_elements_of_a_statement(statement, notation):
    wanted = notation.expected(statement.expected)
    for dialect in statement.dialects:
        found = elements(statement.sql, dialect, statement.columns)
        assert parts(found) == (wanted.tables, wanted.fields, wanted.constants, wanted.outputs), dialect
        for output, linked in zip(found.outputs, wanted.linked, strict=True):
            assert linked is None or output.linked == linked, (dialect, output)


def test_there_are_300_different_statements(notation):
    """Different texts, whatever their blanks and case; a text that is read in several dialects counts once."""
    found = notation.statements()
    assert len({one.text for one in found}) >= 300
    assert max(Counter((one.text, one.dialect) for one in found).values()) == 1
    dialects = Counter(one.dialect for one in found)
    assert set(dialects) == {"any", *DIALECTS}
    assert min(dialects.values()) >= 15


def test_only_one_question_is_read(refusal, caplog, capfd):
    dialect, sql, words = refusal
    with caplog.at_level(logging.DEBUG), pytest.raises(DataError, match=re.escape(words)) as error:
        elements(sql, dialect)
    # the literals of a refused text are in no message and in no log, also not in the parser's own
    said = str(error.value) + caplog.text + "".join(capfd.readouterr())
    assert "secret" not in said.casefold()


def test_the_parser_may_speak_to_others(caplog):
    """Its log is silent only while it reads for this package."""
    import sqlglot

    with pytest.raises(DataError):
        elements("CALL p(1)")
    assert not caplog.records
    sqlglot.parse("CALL p(1)", read="postgres")
    assert len(caplog.records) == 1


@pytest.mark.parametrize("sql", ["SELECT a FROM t; -- done", "SELECT a FROM t;;", "/* note */ SELECT a FROM t ;"])
def test_what_is_around_a_question_is_not_another(sql):
    assert elements(sql).fields == {("t", "a")}


def test_deep_and_long_queries_are_read_or_refused():
    nested = "SELECT a FROM t"
    for _ in range(30):
        nested = f"SELECT a FROM ({nested}) s"
    assert elements(nested).outputs[0].direct == {("t", "a")}
    union = " UNION ALL ".join(f"SELECT c{i} FROM t" for i in range(800))
    assert len(elements(union).outputs[0].direct) == 800
    chain = " OR ".join(f"c = {i}" for i in range(3000))
    assert len(elements(f"SELECT a FROM t WHERE {chain}").constants) == 3000
    for _ in range(900):
        nested = f"SELECT a FROM ({nested}) s"
    with pytest.raises(DataError, match=r"cannot be read|nested too deep"):
        elements(nested)


def test_a_quoted_name_is_not_a_list_of_names():
    """The cache of activations compares normalised texts: a name with a comma in it must stay one name."""
    assert normalise('SELECT "a, b" FROM t') != normalise("SELECT a, b FROM t")
    assert normalise('SELECT "LEVEL" FROM t', "oracle") != normalise("SELECT LEVEL FROM t", "oracle")
    assert normalise("select  A from T -- note") == normalise("SELECT a FROM t")


def test_a_table_is_described_under_its_own_name_first():
    columns = {"s.t": ["x", "z"], "t": ["y"], "r.u": ["a", "b"], "q.u": ["a", "c"]}
    assert elements("SELECT * FROM t", columns=columns).fields == {("t", "y")}
    assert elements("SELECT * FROM s.t", columns=columns).fields == {("s.t", "x"), ("s.t", "z")}
    # of two that it may be, the columns of both
    assert elements("SELECT * FROM u", columns=columns).fields == {("u", "a"), ("u", "b"), ("u", "c")}


# Nothing runs.

WATCHED = """
import json, os, sys
DRIVERS = {"sqlite3", "_sqlite3", "duckdb", "_duckdb", "psycopg", "psycopg2", "sqlalchemy", "adbc_driver_manager",
           "oracledb", "pymysql", "pyodbc", "connectorx", "subprocess", "multiprocessing", "polars", "pyspark"}
BANNED = ("sqlite3.", "socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "os.remove",
          "os.rename", "os.mkdir", "ctypes.", "urllib.", "ftplib.", "smtplib.")
events = []
def watch(event, args):
    written = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    loaded = event == "import" and args[0].partition(".")[0] in DRIVERS
    if written or loaded or event.startswith(BANNED):
        events.append(event + (" " + args[0] if loaded else ""))
sys.addaudithook(watch)
from celosia.consent.sql.elements import normalise
from celosia.consent.sql.lineage import elements
from celosia.errors import DataError
read = refused = 0
for dialect, sql, columns in json.load(sys.stdin):
    if dialect == "control":
        exec(sql)
        continue
    try:
        elements(sql, dialect, columns), normalise(sql, dialect)
        read += 1
    except DataError:
        refused += 1
print(json.dumps([read, refused, events, sorted(DRIVERS & set(sys.modules))]))
"""


def watched(cases):
    """Read texts in a process of its own that notes every file written, process started, connection and driver."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], input=json.dumps(cases), capture_output=True, text=True, env=env, check=True
    )
    return json.loads(done.stdout)


def test_nothing_is_run(notation):
    """In a process without a database driver, which opens no connection, no statement can have been executed."""
    found = [(dialect, one.sql, one.columns) for one in notation.statements() for dialect in one.dialects]
    others = [(dialect, sql, None) for dialect, sql, _ in notation.refused()]
    read, refused, events, drivers = watched([*found, *others])
    assert (read, refused) == (len(found), len(others))
    assert events == []
    assert drivers == []


def test_something_that_runs_is_noticed(tmp_path):
    """The control of the test above: had a statement been executed, it would have been seen."""
    run = f"import sqlite3; sqlite3.connect({str(tmp_path / 'x.db')!r}).execute('CREATE TABLE t (a)')"
    read, _, events, drivers = watched([("postgres", "SELECT a FROM t", None), ("control", run, None)])
    assert read == 1
    assert {"import sqlite3", "sqlite3.connect"} <= set(events)
    assert "sqlite3" in drivers


# The same question in other words.

# What a translation changes: BigQuery's drops a comparison that is never true; MySQL has no FULL JOIN and gets a
# union of two outer joins, each of which binds its own side; T-SQL orders a union as a sub-select.
CHANGED = {
    ("bigquery", "SELECT a FROM t WHERE c = NULL"),
    ("mysql", "SELECT x.a FROM t x FULL JOIN u y ON x.i = y.i AND x.k = 3 AND y.k = 4"),
    ("mysql", "SELECT p.name FROM e FULL OUTER JOIN p ON e.province = p.id"),
    ("tsql", "SELECT a AS x, b AS y FROM t UNION SELECT c, d FROM u ORDER BY y"),
}


def test_layout_changes_nothing(statement):
    import sqlglot

    for dialect in statement.dialects:
        if (dialect, statement.sql) in CHANGED:
            continue
        text = sqlglot.parse_one(statement.sql, read=dialect).sql(dialect=dialect, pretty=True)
        again = elements(text, dialect, statement.columns)
        assert again == elements(statement.sql, dialect, statement.columns), text


def test_a_translation_changes_nothing(notation):
    import sqlglot

    compared, changed = 0, set()
    for one in notation.statements():
        if one.dialect == "any":
            tree = sqlglot.parse_one(one.sql, read="postgres")
            wanted = elements(one.sql, "postgres", one.columns)
            for dialect in DIALECTS:
                compared += 1
                if elements(tree.sql(dialect=dialect), dialect, one.columns) != wanted:
                    changed.add((dialect, one.sql))
    assert compared > 1500
    assert changed == CHANGED


# What databases themselves say.

OWN_WORDS = "ambiguous|syntax error|no such function|no such index|bindings|same number of result columns"


def tables_of(one, wanted):
    """Tables with the columns that a statement is expected to use, and those that are described."""
    known = {name.casefold(): list(columns) for name, columns in (one.columns or {}).items()}
    return {
        table: sorted({f for t, f in wanted.fields if t == table and f != "*"} | set(known.get(table, ())))
        for table in wanted.tables
    }


def test_sqlite_reads_the_same_fields(notation):
    """SQLite tells an authoriser each column that a statement reads while it prepares it; nothing is executed."""
    agreed, unread = 0, []
    for one in notation.statements():
        wanted = notation.expected(one.expected)
        plain = not any("." in table for table in wanted.tables)
        if one.dialect not in ("any", "sqlite") or not plain or (one.columns is None and "*" in one.expected):
            continue
        base = sqlite3.connect(":memory:")
        for table, columns in tables_of(one, wanted).items():
            base.execute(f'CREATE TABLE "{table}" ({", ".join(columns) or "unused__"})')
        seen = set()

        def note(action, table, column, *_, seen=seen):
            if action == sqlite3.SQLITE_READ and column:
                seen.add((table.casefold(), column.casefold()))
            return sqlite3.SQLITE_OK

        base.set_authorizer(note)
        try:
            base.execute("EXPLAIN " + one.sql)
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            if not re.search(OWN_WORDS, str(error)):
                raise  # no such column, no such table: then the expected elements are wrong
            continue
        finally:
            base.close()
        found = {(t, f) for t, f in seen if t in wanted.tables}
        if found == elements(one.sql, "sqlite", one.columns).fields:
            agreed += 1
        else:
            unread.append(one.sql)
    assert agreed >= 200
    assert unread == ["WITH c AS (SELECT a FROM t WHERE k = 1) SELECT b FROM u"]  # it skips what is not used


DEPENDENCIES = """SELECT CASE n.nspname WHEN 'lineage' THEN '' ELSE n.nspname || '.' END || c.relname, a.attname
FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
JOIN pg_class v ON v.oid = r.ev_class
JOIN pg_class c ON c.oid = d.refobjid AND d.refclassid = 'pg_class'::regclass AND c.oid <> v.oid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
WHERE v.relname = 'probe'"""
TYPES = ("integer", "text", "boolean", "jsonb", "date", "integer[]")


def depended(base, one, wanted):
    """The fields that PostgreSQL notes for a view of the statement; None when no type of the columns suits it."""
    import psycopg

    names = ", ".join(f"o{i}" for i in range(len(wanted.outputs)))
    for kind in TYPES:
        with base.transaction(force_rollback=True):
            for schema in {table.rpartition(".")[0] for table in wanted.tables} - {""}:
                base.execute(f'CREATE SCHEMA "{schema}"')
            for table, columns in tables_of(one, wanted).items():
                name = ".".join(f'"{part}"' for part in table.split("."))
                quoted = ['"' + column.replace('"', '""') + f'" {kind}' for column in columns]
                base.execute(f"CREATE TABLE {name} ({', '.join(quoted)})")
            try:
                base.execute(f"CREATE VIEW probe ({names}) AS {one.sql.rstrip(';')}")
            except psycopg.Error:
                continue
            return set(base.execute(DEPENDENCIES).fetchall())
    return None


def test_postgresql_depends_on_the_same_fields(notation, postgres_url):
    """PostgreSQL notes for each view the columns it depends on; no view is read."""
    import psycopg

    agreed, different = 0, []
    with psycopg.connect(postgres_url, autocommit=True) as base:
        base.execute("CREATE SCHEMA lineage; SET search_path TO lineage")
        for one in notation.statements():
            wanted = notation.expected(one.expected)
            if one.dialect not in ("any", "postgres") or (one.columns is None and "*" in one.expected):
                continue
            found = depended(base, one, wanted)
            if found is not None and found == elements(one.sql, "postgres", one.columns).fields:
                agreed += 1
            elif found is not None:
                different.append(one.sql)
    assert agreed >= 300
    assert different == [  # a row as a whole is noted as the table
        "SELECT row_to_json(enrolment) AS j FROM enrolment",
        "SELECT jsonb_agg(e.*) AS j FROM enrolment e",
    ]
