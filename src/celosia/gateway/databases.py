"""Where the data lie: DuckDB over files, SQLite, PostgreSQL. Only aggregate queries of our own making go there."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from celosia.credentials import resolved
from celosia.errors import DataError, InputError, MissingExtra
from celosia.gateway.metadata import ColumnFacts, DatasetFacts, TableFacts

SMALL = 500_000

_PHYSICAL = {
    "integer": ("INT", "DECIMAL", "NUMERIC", "DOUBLE", "FLOAT", "REAL"),
    "number": ("INT", "DECIMAL", "NUMERIC", "DOUBLE", "FLOAT", "REAL"),
    "text": ("CHAR", "TEXT", "STRING", "ENUM", "UUID", "CLOB"),
    "boolean": ("BOOL",),
    "date": ("DATE", "TIMESTAMP"),
}


class Database(Protocol):
    """A read-only place that answers SQL."""

    dialect: str

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one query and return its rows."""
        ...

    def types(self, source: str) -> Mapping[str, str]:
        """Column names of a table with their physical types."""
        ...

    def name(self, table: str, facts: TableFacts) -> str:
        """The name by which the table is read."""
        ...

    def close(self) -> None:
        """Give the connections back."""
        ...


class DuckDB:
    """DuckDB over CSV and Parquet files, or over one of its own database files (read-only)."""

    dialect = "duckdb"

    def __init__(self, facts: DatasetFacts) -> None:
        try:
            import duckdb
        except ImportError:  # pragma: no cover - the test environment has it
            raise MissingExtra.of("the gateway over files", "dp") from None
        own = facts.database.removeprefix("duckdb").removeprefix(":///")
        self._local = threading.local()
        try:
            self._root = duckdb.connect(own, read_only=True) if own else duckdb.connect(":memory:")
            if not own:
                for name, table in facts.tables.items():
                    self._load(name, Path(table.source or f"{name}.csv"))
                # after loading nothing else may be read from or written to the disk
                self._root.execute("SET enable_external_access = false")
            size = self._root.execute("SELECT COALESCE(SUM(estimated_size), 0) FROM duckdb_tables()").fetchone()
            if size is None or size[0] < SMALL:  # there starting threads would take longer than the query
                self._root.execute("SET threads = 1")
            self._root.execute("SET lock_configuration = true")
        except duckdb.Error as problem:
            raise DataError(f"DuckDB cannot open the data set {facts.name!r} ({type(problem).__name__}).") from None

    def _load(self, name: str, path: Path) -> None:
        # Read once, at the start: a value that does not fit is then the owner's error, never an analyst's message.
        if not path.is_file():
            raise InputError(f"the table {name!r} is declared in the file {path}, which does not exist.")
        text = str(path).replace("'", "''")
        reader = "read_parquet" if path.suffix.lower() in (".parquet", ".pq") else "read_csv"
        self._root.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM {reader}('{text}')")  # noqa: S608

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one query; each thread has its own cursor."""
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._root.cursor()
        return list(self._local.cursor.execute(sql).fetchall())

    def types(self, source: str) -> Mapping[str, str]:
        """Column names and types."""
        return {row[0]: str(row[1]) for row in self.rows(f"DESCRIBE {quoted(source)}")}

    def name(self, table: str, facts: TableFacts) -> str:
        """A file was loaded under the table's name; a table of a database file keeps its own."""
        loaded = facts.source == "" or Path(facts.source).suffix != ""
        return table if loaded else facts.source

    def close(self) -> None:
        """Close the database."""
        self._root.close()


class Sqlite:
    """SQLite, opened read-only."""

    dialect = "sqlite"

    def __init__(self, facts: DatasetFacts) -> None:
        self._path = Path(facts.database.removeprefix("sqlite:///"))
        if not self._path.is_file():
            raise InputError(f"there is no SQLite file {self._path}.")
        self._local = threading.local()

    def _connection(self) -> Any:
        import sqlite3

        if not hasattr(self._local, "connection"):
            connection = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA case_sensitive_like = ON")  # as in the other engines
            connection.execute("PRAGMA trusted_schema = OFF")
            self._local.connection = connection
        return self._local.connection

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one query; each thread has its own connection."""
        return list(self._connection().execute(sql).fetchall())

    def types(self, source: str) -> Mapping[str, str]:
        """Column names and declared types; SQLite does not enforce them, so the queries cast."""
        return {row[1]: "" for row in self._connection().execute(f"PRAGMA table_info({quoted(source)})")}

    def name(self, table: str, facts: TableFacts) -> str:
        """The name in the database."""
        return facts.source or table

    def close(self) -> None:
        """Close this thread's connection."""
        if hasattr(self._local, "connection"):
            self._local.connection.close()


class Postgres:
    """PostgreSQL, in read-only transactions with a time limit."""

    dialect = "postgres"

    def __init__(self, facts: DatasetFacts, seconds: int = 60) -> None:
        try:
            import sqlalchemy as sa
        except ImportError:  # pragma: no cover - the test environment has it
            raise MissingExtra.of("the gateway over PostgreSQL", "db") from None
        url = sa.make_url(facts.database).set(drivername="postgresql+psycopg")
        options = f"-c default_transaction_read_only=on -c statement_timeout={seconds * 1000} -c jit=off"
        self._engine = sa.create_engine(url, pool_size=8, max_overflow=32, connect_args={"options": options})

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one query in a transaction of its own."""
        with self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            with raw.cursor() as cursor:  # no parameters: a percent sign in a literal stays what it is
                cursor.execute(sql)
                return list(cursor.fetchall())

    def types(self, source: str) -> Mapping[str, str]:
        """Column names and types."""
        import sqlalchemy as sa

        inspector = sa.inspect(self._engine)
        with suppress(sa.exc.NoSuchTableError):
            return {column["name"]: str(column["type"]) for column in inspector.get_columns(source)}
        return {}

    def name(self, table: str, facts: TableFacts) -> str:
        """The name in the database."""
        return facts.source or table

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()


def open_database(facts: DatasetFacts) -> Database:
    """Open the data set's database and check the declaration against it: tables, columns, types, uniqueness."""
    facts = facts.model_copy(update={"database": resolved(facts.database)})
    database: Database
    if facts.database.startswith("duckdb"):
        database = DuckDB(facts)
    elif facts.database.startswith("sqlite"):
        database = Sqlite(facts)
    elif facts.database.startswith("postgresql"):
        database = Postgres(facts)
    else:
        raise InputError(
            f"the gateway reads DuckDB (files), SQLite and PostgreSQL, not {facts.database.split(':')[0]!r}."
        )
    for name, table in facts.tables.items():
        _check(database, name, table)
    return database


def _check(database: Database, name: str, table: TableFacts) -> None:
    source = database.name(name, table)
    types = database.types(source)
    if not types:
        raise InputError(f"the database has no table {source!r}.")
    for column, facts in table.columns.items():
        if column not in types:
            raise InputError(f"the table {name!r} has no column {column!r}.")
        _check_type(name, column, facts, types[column])
    for column in dict.fromkeys([*([table.person] if table.unique and table.person else []), *table.keys]):
        found = database.rows(f"SELECT COUNT(*), COUNT(DISTINCT {quoted(column)}) FROM {quoted(source)}")  # noqa: S608
        if found[0][0] != found[0][1]:
            raise DataError(f"the column {column!r} of {name!r} is declared unique, but values repeat or are missing.")


def _check_type(table: str, column: str, facts: ColumnFacts, physical: str) -> None:
    if physical and not any(part in physical.upper() for part in _PHYSICAL[facts.type]):
        raise InputError(f"the column {column!r} of {table!r} is declared {facts.type} but stored as {physical}.")


def quoted(name: str) -> str:
    """A name as SQL writes it.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def one(rows: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The only row."""
    (row,) = rows
    return row


def plain(values: Iterable[Any]) -> tuple[Any, ...]:
    """Numbers of any driver as plain ones, so that keys of different engines compare equal.

    >>> from decimal import Decimal
    >>> plain([Decimal(3), 3.0, "a", True])
    (3, 3, 'a', True)
    """
    return tuple(_plain(value) for value in values)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    number = float(value)
    return int(number) if number.is_integer() else number
