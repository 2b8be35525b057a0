"""SQL databases: those of SQLAlchemy by URL, and DuckDB as a lazy relation."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from celosia.data.credentials import address, is_reference
from celosia.data.io.calendar import check_dates
from celosia.data.io.facts import FileFacts, Scan
from celosia.data.io.statement import check_reads, quote_name
from celosia.data.spill import spill_folder
from celosia.errors import DataError, MissingExtra, OutputError, ParameterError, suggestion
from celosia.parts.places import database_file

if TYPE_CHECKING:
    import sqlite3

    import polars as pl
    import sqlalchemy
    from sqlalchemy.types import TypeEngine

#: Records that are fetched or inserted at once.
BATCH = 50_000
# Messages of databases that quote names of tables and columns only. Others can quote cell values.
SETTINGS = re.compile(r"\b(current_setting|getvariable|duckdb_settings|duckdb_databases|pragma_\w+)\b", re.IGNORECASE)
"""What a view of DuckDB can read that is no data of its file."""
HARMLESS = re.compile(r"no such (table|column)|does not exist|permission denied", re.IGNORECASE)


def scan(url: str, *, query: str | None = None, table: str | None = None) -> Scan:
    """Read the result of a query, or a whole table, from a database.

    ``url`` is a SQLAlchemy URL (``sqlite:///people.db``, ``postgresql://host/base``), ``duckdb:///people.duckdb`` for
    a lazy DuckDB relation, or a reference to one (``env:NAME``, ``file:PATH``). A query is one SELECT statement, and
    the database is opened for reading only.

    Raises ``DataError`` if the database cannot be reached or refuses the query; the message does not quote the query,
    since it can contain values.
    """
    if (query is None) == (table is None):
        with address(url) as plain:
            if not plain.startswith("duckdb:"):
                create_engine(plain, read_only=True).dispose()  # another address is the first thing to correct
        raise ParameterError("database: give a query or a table, one of the two.")
    with address(url) as plain:
        scanned = _scan(plain, query, table)
    return replace(scanned, origin=url) if is_reference(url) else scanned


def _scan(url: str, query: str | None, table: str | None) -> Scan:
    if url.startswith("duckdb:"):
        return _scan_duckdb(url, query, table)
    engine = create_engine(url, read_only=True)
    try:
        if query is not None:
            check_reads(query, engine.dialect.name)
        frame = _fetch(engine, query if query is not None else _select_all(engine, str(table)))
    finally:
        engine.dispose()
    return Scan(frame.lazy(), FileFacts("database"), without_password(url))


def write(frame: pl.LazyFrame, url: str, *, table: str) -> None:
    """Write a frame as a new table, in one transaction; raise if the table exists."""
    with address(url) as plain:
        _write(frame, plain, table)


def _write(frame: pl.LazyFrame, url: str, table: str) -> None:
    if url.startswith("duckdb:"):
        _write_duckdb(frame, url, table)
        return
    import sqlalchemy as sa

    engine = create_engine(url)
    rows = frame.collect(engine="streaming")
    columns = [sa.Column(name, _sql_type(dtype)) for name, dtype in rows.schema.items()]
    target = sa.Table(table, sa.MetaData(), *columns)
    try:
        if sa.inspect(engine).has_table(table):
            raise OutputError(f"the database has a table {table!r} already. Give another name.")
        with engine.begin() as connection:
            target.create(connection)
            for batch in rows.iter_slices(BATCH):
                connection.execute(target.insert(), batch.to_dicts())
    except (sa.exc.SQLAlchemyError, UnicodeError) as error:  # the latter for the name of a host
        raise OutputError(f"{without_password(url)}: the table could not be written ({_reason(error)}).") from error
    finally:
        engine.dispose()


def create_engine(url: str, *, read_only: bool = False) -> sqlalchemy.Engine:
    """Create an engine for a URL; ``read_only`` locks SQLite and PostgreSQL, also against changes by a query."""
    try:
        import sqlalchemy as sa
    except ImportError as error:
        raise MissingExtra.of("reading databases", "db") from error
    unusable = f"{without_password(url)}: not a database URL that is known, such as sqlite:///people.db."
    try:
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
    except (sa.exc.ArgumentError, ValueError):  # the latter for a port that is not a number
        raise DataError(unusable) from None
    locked: dict[str, Any] = {}  # options of ``sa.create_engine``
    if backend == "sqlite":
        path = _existing_file(database_file(url) or "")
        parsed = parsed.set(database=str(path), query={})
        locked = {"creator": lambda: _locked_sqlite(path)}
    elif backend in ("postgresql", "postgres"):
        if parsed.drivername == backend:  # no driver is named
            parsed = parsed.set(drivername="postgresql+psycopg")
        locked = {"connect_args": {"options": "-c default_transaction_read_only=on"}}
    try:
        return sa.create_engine(parsed, **(locked if read_only else {}))
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ValueError):
        raise DataError(unusable) from None
    except ImportError as error:
        raise MissingExtra.of(f"reading {without_password(url)}", "db") from error


def table_columns(url: str, tables: Iterable[str]) -> dict[str, list[str]]:
    """Return the columns of the tables and views that exist (``name`` or ``schema.name``, in any case).

    Only the catalogue of the database is read.
    """
    with address(url) as plain:
        return _list_columns(plain, tables)


def _list_columns(url: str, tables: Iterable[str]) -> dict[str, list[str]]:
    default = "main" if url.startswith("duckdb:") else ""
    wanted = {table: [default, *table.casefold().split(".")][-2:] for table in tables}
    columns: dict[tuple[str, str], list[str]] = {}
    if default:
        query = "SELECT table_schema, table_name, column_name FROM information_schema.columns ORDER BY ordinal_position"
        for schema, name, column in _scan_duckdb(url, query, None).frame.fetchall():
            columns.setdefault((schema.casefold(), name.casefold()), []).append(column)
    else:
        columns = _inspect_columns(create_engine(url, read_only=True), {schema for schema, _ in wanted.values()})
    return {table: columns[schema, name] for table, (schema, name) in wanted.items() if (schema, name) in columns}


def _inspect_columns(engine: sqlalchemy.Engine, schemas: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    """Return the columns of every table and view of some schemas; the empty name is the default schema."""
    import sqlalchemy as sa
    from sqlalchemy.engine.reflection import ObjectKind

    columns: dict[tuple[str, str], list[str]] = {}
    try:
        inspector = sa.inspect(engine)
        real = {name.casefold(): name for name in inspector.get_schema_names()}
        for schema in schemas:
            if not schema or schema in real:
                every = inspector.get_multi_columns(real.get(schema), kind=ObjectKind.ANY)
                columns |= {(schema, name.casefold()): [c["name"] for c in cs] for (_, name), cs in every.items()}
    except (sa.exc.SQLAlchemyError, UnicodeError) as error:  # the latter for the name of a host
        raise DataError(f"the database cannot be reached ({_reason(error)}).") from error
    finally:
        engine.dispose()
    return columns


def without_password(url: str) -> str:
    """Replace the password of a URL by asterisks.

    >>> without_password("postgresql://ana:secret@host/base")
    'postgresql://ana:***@host/base'
    """
    plain = re.sub(r"(?s)(://[^:@]*):.*@", r"\1:***@", url)  # greedy, as the URL may be invalid
    return re.sub(r"([?&](?:ssl)?(?:password|passwd|pwd)=)[^&]*", r"\1***", plain)


def _select_all(engine: sqlalchemy.Engine, table: str) -> sqlalchemy.Select[Any]:
    """Return the statement that reads a table, which must exist."""
    import sqlalchemy as sa

    schema, _, name = table.rpartition(".")
    try:
        inspector = sa.inspect(engine)
        names = [*inspector.get_table_names(schema or None), *inspector.get_view_names(schema or None)]
    except (sa.exc.SQLAlchemyError, UnicodeError) as error:  # the latter for the name of a host
        raise DataError(f"the database cannot be reached ({_reason(error)}).") from error
    if name not in names:
        raise DataError(f"the database has no table {table!r}.{suggestion(name, names)}")
    return sa.select(sa.text("*")).select_from(sa.table(name, schema=schema or None))


def _fetch(engine: sqlalchemy.Engine, query: str | sqlalchemy.Select[Any]) -> pl.DataFrame:
    """Run a query and collect its records batch by batch."""
    import sqlalchemy as sa

    try:
        reading = {"postgresql_readonly": True} if engine.dialect.name == "postgresql" else {}
        with engine.connect().execution_options(stream_results=True, **reading) as connection:
            result = connection.execute(sa.text(query) if isinstance(query, str) else query)
            if not result.returns_rows:
                raise DataError("the query returns no rows: only a SELECT can be read.")
            names = list(result.keys())
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise DataError(f"the query has several columns named {', '.join(twice)}. Name them apart with AS.")
            parts = [_frame(names, batch) for batch in result.partitions(BATCH)]
    except (sa.exc.SQLAlchemyError, UnicodeError) as error:  # the latter for the name of a host
        raise DataError(f"the database refused the query ({_reason(error)}).") from error
    if not parts:
        raise DataError("the query has no records.")
    return _tabular(_concat(parts))


def _frame(names: list[str], rows: Sequence[sqlalchemy.Row[Any]]) -> pl.DataFrame:
    """Convert a batch to a frame, column by column; a column of mixed types becomes text."""
    import polars as pl

    columns = []
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        try:
            columns.append(pl.Series(name, cells, strict=True))
        except (TypeError, pl.exceptions.PolarsError):
            # A column of SQLite can have integers and floats, or texts among numbers.
            numbers = all(cell is None or isinstance(cell, int | float) for cell in cells)
            texts = [None if c is None else float(c) if numbers else str(c) for c in cells]
            columns.append(pl.Series(name, texts, dtype=pl.Float64 if numbers else pl.String))
    return pl.DataFrame(columns)


def _concat(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Concatenate batches; a column that has text in one batch is text in all."""
    import polars as pl

    texts = [
        n
        for n in parts[0].columns
        if len({p[n].dtype for p in parts} - {pl.Null}) > 1 and any(p[n].dtype == pl.String for p in parts)
    ]
    return pl.concat([p.with_columns(pl.col(texts).cast(pl.String)) for p in parts], how="vertical_relaxed")


def _tabular(frame: pl.DataFrame) -> pl.DataFrame:
    """Convert decimals to floats; raise for columns of arrays, documents or bytes."""
    import polars as pl

    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested() or dtype in (pl.Object, pl.Binary)]
    if nested:
        raise DataError(f"columns {', '.join(nested)} of the query hold no plain values. Leave them out or CAST them.")
    return frame.with_columns(pl.col(pl.Decimal).cast(pl.Float64), pl.col(pl.Null).cast(pl.String))


def _sql_type(dtype: pl.DataType) -> TypeEngine[Any]:
    """Return the SQL type of a column."""
    import polars as pl
    import sqlalchemy as sa

    if dtype.is_integer():
        return sa.BigInteger()
    if dtype.is_float():
        return sa.Double()
    if isinstance(dtype, pl.Datetime):
        return sa.DateTime()
    plain: dict[object, TypeEngine[Any]] = {pl.Date: sa.Date(), pl.Boolean: sa.Boolean(), pl.Time: sa.Time()}
    return plain.get(dtype.base_type(), sa.Text())


def _scan_duckdb(url: str, query: str | None, table: str | None) -> Scan:
    """Open a DuckDB file for reading only and return the relation."""
    duckdb = _duckdb()
    from celosia.data.io.statement import KEEP_JOIN_ORDER

    path = ":memory:" if url.removeprefix("duckdb:").lstrip("/") in ("", ":memory:") else database_file(url)
    if path is None:
        raise DataError(f"{without_password(url)}: not a database URL that is known, such as duckdb:///people.duckdb.")
    if query is not None:
        check_reads(query, "duckdb")
    try:
        # Neither the query nor a view of the database can open another file.
        settings = {
            "enable_external_access": False,
            "lock_configuration": True,
            "temp_directory": str(spill_folder()),
            **KEEP_JOIN_ORDER,
        }
        if path == ":memory:":
            connection = duckdb.connect(path, config=settings)
        else:
            connection = duckdb.connect(str(_existing_file(path).absolute()), read_only=True, config=settings)
        views = connection.sql("SELECT sql FROM duckdb_views() WHERE NOT internal").fetchall()
        if any(SETTINGS.search(sql) for (sql,) in views):
            raise DataError(f"{without_password(url)}: a view reads settings of this computer. Remove it.")
        if query is None:
            relation = connection.table(str(table))
        elif [statement.type for statement in connection.extract_statements(query)] != [duckdb.StatementType.SELECT]:
            raise DataError("the query does not only read: only a SELECT can be read.")  # as DuckDB parses it
        else:
            relation = connection.sql(query)
        return check_dates(Scan(relation, FileFacts("database"), url, connection))
    except duckdb.PermissionException:
        raise DataError(
            f"{url}: the query, or a view that it uses, reads a file outside the database. Name the file itself as the "
            "source, or load it into a table of the database."
        ) from None
    except duckdb.Error as error:
        raise DataError(f"{url}: the database refused it ({_reason(error)}).") from error


def _write_duckdb(frame: pl.LazyFrame, url: str, table: str) -> None:
    """Write a new table of a DuckDB file."""
    duckdb = _duckdb()
    rows = frame.collect(engine="streaming").to_arrow()
    name = quote_name(table)
    try:
        with duckdb.connect(str(_existing_file(database_file(url) or "").absolute())) as connection:
            connection.register("celosia_rows", rows)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM celosia_rows")  # noqa: S608  (name is quoted)
    except duckdb.Error as error:
        raise OutputError(f"{url}: the table {table!r} could not be written ({type(error).__name__}).") from error


def _duckdb() -> ModuleType:
    """Import DuckDB; the error names the extra to install."""
    try:
        return importlib.import_module("duckdb")
    except ImportError as error:
        raise MissingExtra.of("reading DuckDB databases", "duckdb") from error


def _existing_file(name: str) -> Path:
    """Return the path of a database file; raise if it does not exist, since the libraries would create it."""
    path = Path(name)
    if not path.is_file():
        raise DataError(f"no file {name!r}. Check the path in the URL; a new database is made with its own tools.")
    return path


def _locked_sqlite(path: Path) -> sqlite3.Connection:
    """Open an SQLite file read-only, so that also tables in memory cannot be written."""
    import sqlite3
    from sqlite3 import SQLITE_DENY as DENY
    from sqlite3 import SQLITE_PRAGMA as PRAGMA

    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    # a view that reads a pragma gets the paths of files of this computer
    connection.set_authorizer(lambda action, *names: DENY if action == PRAGMA and names[3] else 0)
    return connection


def _reason(error: Exception) -> str:
    """Return the reason of an error: the message of the database if it cannot contain cell values, else its class."""
    cause = getattr(error, "orig", None) or error
    first = str(cause).strip().split("\n")[0]
    if "syntax error" in first.lower():
        return "syntax error"
    return first if HARMLESS.search(first) and "'" not in first else type(cause).__name__


__all__ = ["create_engine", "scan", "without_password", "write"]
