"""Databases with the original data: DuckDB over files, SQLite, PostgreSQL. They run the generated queries only."""

from __future__ import annotations

import datetime as dt
import logging
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat, cast

from celosia.data.credentials import address
from celosia.data.io.statement import quote_name
from celosia.errors import DataError, InputError, MissingExtra
from celosia.gateway.metadata import ColumnFacts, DatasetFacts, JoinFacts, TableFacts
from celosia.parts import database_file

if TYPE_CHECKING:
    import sqlite3

_MANY = quote_name("celosia many")
MANY_ROWS = f"LEFT JOIN temp.{_MANY} ON 0 LIMIT -1"
"""Ending of a sub-select by which SQLite takes it for a million rows, whatever the statistics of the file say. It then
makes an index for each join; by the statistics, which one row may move, it might compare all pairs of rows.
"""
LONGEST_STORED = 100_000
"""Bytes of a value that SQLite reads as a whole in some 0.1 ms."""
STEPS_PER_CHECK = 10_000
"""Instructions of SQLite between two checks of the time limit: some 100 microseconds."""
_PLANS_OFF = [f"enable_{plan}" for plan in ("nestloop", "mergejoin", "indexscan", "indexonlyscan", "bitmapscan")]
_LOG = logging.getLogger(__name__)

_WHOLE = r"(TINY|SMALL|BIG|HUGE|U(TINY|SMALL|BIG))?INT(EGER)?|UINTEGER"
_TEXT = "VARCHAR|CHARACTER( VARYING)?|TEXT|CITEXT"
_NUMBER = rf"{_WHOLE}|UHUGEINT|DECIMAL\(.*\)|NUMERIC|DOUBLE( PRECISION)?|FLOAT|REAL"
_PHYSICAL = {
    "integer": _NUMBER,
    "number": _NUMBER,
    "text": rf"{_TEXT}|ENUM(\(.*\))?|UUID",
    "boolean": "BOOLEAN",
    "date": r"DATE|TIMESTAMP(_S|_MS|_NS)?( WITH(OUT)? TIME ZONE)?",
}


class NoAnswer(DataError):
    """Raised when the database failed or took too long; the message is the same for every cause."""


class Database(ABC):
    """A read-only database that answers SQL, each statement within a time limit."""

    dialect: str

    def __init__(self, facts: DatasetFacts) -> None:
        self._seconds = facts.seconds
        self.misfits: list[tuple[str, str]] = []
        """Tables and columns without any value of the declared type."""
        self.unbounded: list[str] = []
        """Sentences about tables whose rows or texts are more than the bound of the time counts on."""

    def rows(self, sql: str, delay: float = 0.0) -> list[tuple[Any, ...]]:
        """Run one query and return its rows; the message of a failure may hold values, so it is not passed on.

        ``delay`` is added to the seconds of the time limit.
        """
        try:
            return self._rows(sql, self._seconds + delay)
        except Exception as problem:
            _LOG.error("a statement got no answer: %s", type(problem).__name__)
            raise NoAnswer("the database gave no answer. Ask the data owner.") from None

    @abstractmethod
    def _rows(self, sql: str, seconds: float) -> list[tuple[Any, ...]]:
        """Run one query within a time limit."""

    @abstractmethod
    def types(self, source: str) -> Mapping[str, str]:
        """Return the column names of a table with their physical types."""

    @abstractmethod
    def name(self, table: str, facts: TableFacts) -> str:
        """Return the name by which the table is read."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""


class DuckDB(Database):
    """DuckDB over CSV and Parquet files, or over one of its own database files (read-only)."""

    dialect = "duckdb"

    def __init__(self, facts: DatasetFacts) -> None:
        try:
            import duckdb
        except ImportError:  # pragma: no cover - the test environment has it
            raise MissingExtra.of("the gateway over files", "dp") from None
        super().__init__(facts)
        own = database_file(facts.database)
        if own is None and facts.database.rstrip(":/") != "duckdb":
            raise InputError(f"the address of the data set {facts.name!r} is not duckdb, or duckdb:///FILE.")
        if own is not None and not Path(own).is_file():
            raise InputError(f"there is no DuckDB file {own}.")
        self._local = threading.local()
        try:
            # an absolute path has no prefix of an extension, such as md:, which opens databases elsewhere
            self._root = (
                duckdb.connect(str(Path(own).absolute()), read_only=True) if own else duckdb.connect(":memory:")
            )
            if not own:
                for name, table in facts.tables.items():
                    self._load(name, table)
            # from now on nothing else may be read from or written to the disk
            self._root.execute("SET enable_external_access = false")
            self._root.execute("SET threads = 1")  # one row could decide whether a second thread is started
            # A filter stays above the values of a row: they are computed for every row, whatever its condition. The
            # smallest and largest value of a column, which may be one person's, choose no plan.
            self._root.execute("SET disabled_optimizers = 'filter_pushdown,filter_pullup,statistics_propagation'")
            self._root.execute("SET lock_configuration = true")
        except duckdb.Error as problem:
            raise DataError(f"DuckDB cannot open the data set {facts.name!r} ({type(problem).__name__}).") from None

    def _load(self, name: str, table: TableFacts) -> None:
        from celosia.data.engines.duckdb import exact_path
        from celosia.gateway.csv_table import load_csv, shorten

        # Read once, at the start: what does not fit is logged for the data owner, never for an analyst.
        path = Path(table.source or f"{name}.csv")
        if not path.is_file():
            raise InputError(f"the table {name!r} is declared in the file {path}, which does not exist.")
        if path.suffix.lower() not in (".parquet", ".pq"):
            self.misfits += [(name, column) for column in load_csv(self._root, name, path, table.columns)]
            return
        source = f"read_parquet({literal(exact_path(path))})"
        types = {column: kind for column, kind in self._column_types(source).items() if column in table.columns}
        names = {column: quote_name(column) for column in types}
        chosen = [f"{shorten(name)} AS {name}" if types[c] == "VARCHAR" else name for c, name in names.items()]
        # if no declared column exists, all are loaded; the check of the declaration then reports the missing ones
        self._root.execute(f"CREATE TABLE {quote_name(name)} AS SELECT {', '.join(chosen) or '*'} FROM {source}")  # noqa: S608

    def _column_types(self, source: str) -> dict[str, str]:
        return {row[0]: str(row[1]) for row in self._root.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}  # noqa: S608

    def _rows(self, sql: str, seconds: float) -> list[tuple[Any, ...]]:
        """Run one query; each thread has its own cursor, which a second thread interrupts."""
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._root.cursor()
        limit = threading.Timer(seconds, self._local.cursor.interrupt)
        limit.daemon = True
        limit.start()
        try:
            return list(self._local.cursor.execute(sql).fetchall())
        finally:
            limit.cancel()

    def types(self, source: str) -> Mapping[str, str]:
        """Return column names and types."""
        return {row[0]: str(row[1]) for row in self.rows(f"DESCRIBE {quote_name(source)}")}

    def name(self, table: str, facts: TableFacts) -> str:
        """Return the table's name for a file, which was loaded under it; a table of a database file keeps its own."""
        loaded = facts.source == "" or Path(facts.source).suffix != ""
        return table if loaded else facts.source

    def close(self) -> None:
        """Close the database."""
        self._root.close()


class Sqlite(Database):
    """SQLite, opened read-only."""

    dialect = "sqlite"

    def __init__(self, facts: DatasetFacts) -> None:
        super().__init__(facts)
        self._path = Path(database_file(facts.database) or "")
        if not self._path.is_file():
            raise InputError(f"there is no SQLite file {self._path}.")
        self._local = threading.local()

    def _connection(self) -> sqlite3.Connection:
        import sqlite3

        if not hasattr(self._local, "connection"):
            connection = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            connection.execute("PRAGMA temp_store = MEMORY")  # one row could decide whether a sort goes to the disk
            connection.execute(f"CREATE TEMP TABLE {_MANY} ({_MANY})")  # always empty
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA case_sensitive_like = ON")  # as in the other engines
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.text_factory = _decode
            self._local.connection = connection
        return cast("sqlite3.Connection", self._local.connection)

    def _rows(self, sql: str, seconds: float) -> list[tuple[Any, ...]]:
        """Run one query; each thread has its own connection, which checks the time limit regularly."""
        connection, end = self._connection(), time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > end, STEPS_PER_CHECK)
        return list(connection.execute(sql).fetchall())

    def types(self, source: str) -> Mapping[str, str]:
        """Return column names without types: SQLite does not enforce them, so the queries cast."""
        return {row[1]: "" for row in self._connection().execute(f"PRAGMA table_info({quote_name(source)})")}

    def name(self, table: str, facts: TableFacts) -> str:
        """Return the name in the database."""
        return facts.source or table

    def close(self) -> None:
        """Close this thread's connection."""
        if hasattr(self._local, "connection"):
            self._local.connection.close()


def _decode(raw: bytes) -> str | None:
    """Decode a text of SQLite, which may hold any bytes; what is no text counts as missing."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


class Postgres(Database):
    """PostgreSQL, in read-only transactions with a time limit."""

    dialect = "postgres"

    def __init__(self, facts: DatasetFacts) -> None:
        try:
            import sqlalchemy as sa
        except ImportError:  # pragma: no cover - the test environment has it
            raise MissingExtra.of("the gateway over PostgreSQL", "db") from None
        super().__init__(facts)
        try:
            url = sa.make_url(facts.database).set(drivername="postgresql+psycopg")
        except (sa.exc.ArgumentError, ValueError):  # the latter of a port that is no number
            raise InputError(f"the database of the data set {facts.name!r} has no address that can be read.") from None
        settings = {
            "default_transaction_read_only": "on",
            "jit": "off",
            # One plan for each form of query: by the size of a table or its statistics, which one row may move,
            # PostgreSQL would choose another one. Nested loops would compare all pairs of rows.
            **dict.fromkeys(_PLANS_OFF, "off"),
            "max_parallel_workers_per_gather": "0",
            "work_mem": "1GB",  # one row could decide whether a sort goes to the disk
            "standard_conforming_strings": "on",  # a backslash in a literal of the query must stay one
        }
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        arguments = {"options": options, "client_encoding": "utf8"}
        self._engine = sa.create_engine(url, pool_size=8, max_overflow=32, pool_pre_ping=True, connect_args=arguments)
        try:
            ((encoding,),) = self._rows("SHOW server_encoding", self._seconds)
        except sa.exc.SQLAlchemyError as problem:
            raise DataError(f"PostgreSQL cannot open the data set {facts.name!r} ({type(problem).__name__}).") from None
        if encoding != "UTF8":
            raise InputError(
                f"the database is encoded in {encoding}, where a text may be unreadable. Use one encoded in UTF8."
            )

    def _rows(self, sql: str, seconds: float) -> list[tuple[Any, ...]]:
        """Run one query in a transaction of its own."""
        with self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            with raw.cursor() as cursor:  # no parameters: a percent sign in a literal stays what it is
                cursor.execute(f"SET LOCAL statement_timeout = {max(1, round(seconds * 1000))}")
                cursor.execute(sql)
                return list(cursor.fetchall())

    def types(self, source: str) -> Mapping[str, str]:
        """Return column names and types: of a domain its base type, of any enumeration ``enum``."""
        columns = self.rows(
            "SELECT a.attname, CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN format_type(t.typbasetype, NULL) "  # noqa: S608
            "ELSE format_type(t.oid, NULL) END FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
            f"WHERE a.attrelid = to_regclass({literal(quote_name(source))}) AND a.attnum > 0 AND NOT a.attisdropped"
        )
        return {name: str(kind).upper() for name, kind in columns}

    def name(self, table: str, facts: TableFacts) -> str:
        """Return the name in the database."""
        return facts.source or table

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def open_database(facts: DatasetFacts) -> Database:
    """Open the data set's database and check the declaration against it: tables, columns, types, uniqueness."""
    with address(facts.database) as plain:
        return _connect(facts.model_copy(update={"database": plain}))


def check_database(facts: DatasetFacts) -> None:
    """Raise if a new declaration does not fit the data: as a gateway does that opens, or if no value of a column fits.

    A gateway that is in use opens all the same, so that no record decides whether anyone is answered.
    """
    database = open_database(facts)
    database.close()
    for table, column in database.misfits:
        raise InputError(
            f"the column {column!r} of {table!r} is declared {facts.tables[table].columns[column].type}, but none of "
            "its values is. Declare another type, or convert the file: days are written 2026-11-15, decimals 1.5."
        )
    for sentence in database.unbounded:
        raise InputError(sentence)


def _connect(facts: DatasetFacts) -> Database:
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
        try:
            _check_bounds(database, name, table)
        except NoAnswer:  # no row may decide whether the gateway opens
            _LOG.warning("the rows of %r were not counted", name)
    for sentence in database.unbounded:
        _LOG.warning("%s", sentence)
    for join in facts.joins:
        _check_join(database, facts, join)
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
        compared = equality_key(quote_name(column), table.columns[column], database.dialect)
        counts = database.rows(f"SELECT COUNT({compared}), COUNT(DISTINCT {compared}) FROM {quote_name(source)}")  # noqa: S608
        if counts[0][0] != counts[0][1]:
            raise DataError(f"the column {column!r} of {name!r} is declared unique, but values repeat.")


def _check_bounds(database: Database, name: str, table: TableFacts) -> None:
    """Note a table with more rows than declared, or with longer texts than SQLite reads in a short time."""
    if table.public:
        return
    source = quote_name(database.name(name, table))
    ((rows,),) = database.rows(f"SELECT COUNT(*) FROM (SELECT 1 AS one FROM {source} LIMIT {table.size + 1}) AS t")  # noqa: S608
    if rows > table.size:
        database.unbounded.append(
            f"the table {name!r} has more rows than its declared size, {table.size:,}. Declare a larger 'size': up to "
            "that size the time of an answer shows little about one person."
        )
    if database.dialect != "sqlite":
        return
    for column in database.types(database.name(name, table)):
        ((longest,),) = database.rows(f"SELECT MAX(LENGTH(CAST({quote_name(column)} AS BLOB))) FROM {source}")  # noqa: S608
        if longest is not None and longest > LONGEST_STORED:
            database.unbounded.append(
                f"the column {column!r} of {name!r} has a value of more than {LONGEST_STORED:,} bytes. SQLite reads it "
                "as a whole, which shows in the time of an answer. Shorten it, or move the table to another database."
            )


def _check_join(database: Database, facts: DatasetFacts, join: JoinFacts) -> None:
    """Raise if the two columns of a join differ in type: converting can fail for some values."""
    stored = []
    for side in (join.left, join.right):
        table, _, column = side.partition(".")
        stored.append(database.types(database.name(table, facts.tables[table]))[column])
    alike = (_WHOLE, _TEXT)
    if stored[0] != stored[1] and not any(all(re.fullmatch(kind, name.upper()) for name in stored) for kind in alike):
        raise InputError(
            f"the columns {join.left} and {join.right} of a declared join are stored as {stored[0]} and {stored[1]}. "
            "Store both in one type: to convert a value could fail."
        )


def _check_type(table: str, column: str, facts: ColumnFacts, physical: str) -> None:
    if physical and not _fits(facts, physical):
        raise InputError(f"the column {column!r} of {table!r} is declared {facts.type} but stored as {physical}.")


def _fits(facts: ColumnFacts, physical: str) -> bool:
    return re.fullmatch(_PHYSICAL[facts.type], physical.upper(), re.DOTALL) is not None


def equality_key(physical: str, facts: ColumnFacts, dialect: str) -> str:
    """Return the SQL of a column as joins, persons and checks of uniqueness compare it: one equality for all three.

    Values stay as they are stored, because a conversion could make two persons equal. SQLite would convert by the
    affinity of the other side, and each engine would compare by the collation of either column.
    """
    if dialect == "sqlite":  # unary plus drops the affinity of the column
        return f"(+{physical}) COLLATE BINARY"
    if facts.type != "text":
        return physical
    if dialect == "duckdb":
        return f"(TRY_CAST({physical} AS VARCHAR) COLLATE C)"
    return f'(CAST({physical} AS TEXT) COLLATE "C")'


def literal(text: str) -> str:
    """Return a text as an SQL literal; quotation marks are doubled, and no engine here knows another escape.

    >>> literal("O'Connor")
    "'O''Connor'"
    """
    return "'" + text.replace("'", "''") + "'"


def plain(values: Iterable[Any]) -> tuple[str | bool | int | float | None, ...]:
    """Return the values of any driver as plain ones, so that keys of different engines compare equal.

    >>> from decimal import Decimal
    >>> plain([Decimal(3), 3.0, "a", True])
    (3, 3, 'a', True)
    """
    return tuple(_plain_value(value) for value in values)


def _plain_value(value: SupportsFloat | dt.date | dt.time | str | None) -> str | bool | int | float | None:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, dt.date | dt.time):
        return str(value.isoformat())
    number = float(value)
    return int(number) if number.is_integer() else number
