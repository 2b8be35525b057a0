"""Celosia's own records in SQLite or PostgreSQL: ledgers of budgets, and stores of consent.

Only one command creates a record. To open one never creates it: an empty record by a mistyped path would be worse than
an error, because no person has blocked anything in it and no budget was spent.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.credentials import address, resolve_reference
from celosia.data.io.database import without_password
from celosia.errors import CelosiaError, InputError, Message, MissingExtra, OutputError

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine, MetaData
    from sqlalchemy.engine import ExceptionContext
    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

PATIENCE = 30.0
"""Seconds that a transaction waits for the lock of another program."""
_BUSY, _LOCKED = 5, 6  # result codes of SQLite
_LOCK_TIMEOUT = "55P03"  # PostgreSQL: lock_not_available


class Unavailable(CelosiaError):
    """The record is locked by another program for too long, or the server does not answer: try again later."""


@dataclass(frozen=True)
class Durable:
    """Kind of record: its name, its tables and the command that creates it."""

    noun: str
    metadata: Callable[[], MetaData]
    command: str
    finish: Callable[[Connection], None] = lambda _: None
    """Called after the tables are created."""

    def exists(self, where: str | Path) -> bool:
        """Return whether a file or table of that name exists, of this kind of record or of another."""
        with address(str(where)):
            url = self._url(where)
            if url.get_backend_name() == "sqlite":
                return Path(str(url.database)).exists()
            return bool(self._existing_tables(url))

    def create(self, where: str | Path) -> None:
        """Create an empty record, as a file readable by its owner only; raise if it exists."""
        with address(str(where)):
            url = self._url(where)
            if self.exists(where):
                raise OutputError(f"{_display_name(where)} is there already. Give another name for a new {self.noun}.")
            if url.get_backend_name() == "sqlite":
                self._new_file(Path(str(url.database)))
            engine = self._engine(url, reading=False, patience=PATIENCE)
            try:
                with engine.execution_options(writing=True).begin() as connection:
                    self.metadata().create_all(connection, checkfirst=False)  # fails if another process was faster
                    self.finish(connection)
            except _errors() as problem:
                raise OutputError(
                    f"{_display_name(where)}: the {self.noun} could not be made ({_reason(problem)})."
                ) from None
            finally:
                engine.dispose()

    def open(self, where: str | Path, *, reading: bool = False, patience: float = PATIENCE) -> Engine:
        """Open an existing record, for reading only or for reading and writing; raise if it is none."""
        with address(str(where)):
            url = self._url(where)
            if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_file():
                raise InputError(f"there is no {self.noun} {_display_name(where)}. {self._advice}")
            lacking = set(self.metadata().tables) - self._existing_tables(url)
            if lacking:
                raise InputError(
                    f"{_display_name(where)} is no {self.noun}: it lacks the table {min(lacking)}. {self._advice}"
                )
            engine = self._engine(url, reading=reading, patience=patience)
            self._translate(engine)
            return engine

    @property
    def _advice(self) -> str:
        return f"Check the name; a new one is made with '{self.command}'."

    def _existing_tables(self, url: URL) -> set[str]:
        """Return its tables that exist, by a read-only connection: the database may be that of another program."""
        import sqlalchemy as sa

        engine = self._engine(url, reading=True, patience=PATIENCE)
        try:
            with engine.connect() as connection:
                return set(self.metadata().tables) & set(sa.inspect(connection).get_table_names())
        except _errors() as problem:
            name, why = _display_name(url), _reason(problem)
            raise InputError(f"{name} cannot be opened as a {self.noun} ({why}). {self._advice}") from None
        finally:
            engine.dispose()

    def _url(self, where: str | Path) -> URL:
        try:
            import sqlalchemy as sa
        except ImportError:  # pragma: no cover - the test environment has it
            raise MissingExtra.of(f"a {self.noun}", "db") from None
        text = resolve_reference(str(where))
        if "://" not in text:
            return sa.URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
        try:
            url = sa.make_url(text)
        except (sa.exc.ArgumentError, ValueError):  # ValueError: a port that is no number
            raise InputError(f"{_display_name(where)} is neither a path nor the URL of a database.") from None
        kind = url.get_backend_name()
        if kind not in ("sqlite", "postgresql"):
            raise InputError(f"a {self.noun} is kept in SQLite or PostgreSQL, not in {kind!r}.")
        if kind == "sqlite" and url.database in (None, "", ":memory:"):
            raise InputError(f"a {self.noun} must be durable: give a file for SQLite, not a database in memory.")
        return url if kind == "sqlite" else url.set(drivername="postgresql+psycopg")

    def _new_file(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise InputError(f"the directory {str(path.parent)!r} of the {self.noun} does not exist; create it first.")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError as problem:
            raise OutputError(f"cannot make {str(path)!r}: {problem.strerror}.") from None

    def _engine(self, url: URL, *, reading: bool, patience: float) -> Engine:
        import sqlalchemy as sa

        sqlite = url.get_backend_name() == "sqlite"
        options = _file(Path(str(url.database)), reading, patience) if sqlite else _server(url, reading, patience)
        engine = sa.create_engine(url, pool_size=16, max_overflow=64, pool_timeout=patience, **options)
        if sqlite:
            _prepare(engine, reading)
        return engine

    def _translate(self, engine: Engine) -> None:
        from sqlalchemy import event

        @event.listens_for(engine, "handle_error")
        def translate(context: ExceptionContext) -> None:
            refusal = self.unavailable(context.original_exception)
            if refusal is not None:
                raise refusal
            if context.is_disconnect:
                raise Unavailable("the server of the {noun} does not answer. Try again later.", noun=Message(self.noun))

    def unavailable(self, problem: BaseException) -> Unavailable | None:
        """Translate an error of the driver about the lock of another program; None for any other error."""
        code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
        if code in (_BUSY, _LOCKED) or getattr(problem, "sqlstate", "") == _LOCK_TIMEOUT:
            return Unavailable(
                "the {noun} is in use by another program; nothing was changed. Try again later.",
                noun=Message(self.noun),
            )
        return None


def truncate_log(engine: Engine, *, waiting: bool = True) -> bool:
    """Truncate the write-ahead log of SQLite, which has deleted values; return whether that was possible.

    Deleted values are overwritten in the file itself, but older pages stay in the log until it is truncated, which
    needs a moment without readers. PostgreSQL keeps deleted values until its own vacuum.
    """
    if engine.dialect.name != "sqlite":
        return True
    raw = engine.raw_connection()
    driver = raw.driver_connection
    assert driver is not None
    before = driver.execute("PRAGMA busy_timeout").fetchone()[0]
    try:
        if not waiting:
            driver.execute("PRAGMA busy_timeout=0")
        return not driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        driver.execute(f"PRAGMA busy_timeout={before}")
        raw.close()


def _file(path: Path, reading: bool, patience: float) -> dict[str, Any]:
    """Options of SQLite to open an existing file only, and read-only for reading."""
    import sqlite3

    mode = "mode=ro" if reading else "mode=rw"
    if reading and not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists():
        mode += "&immutable=1"  # SQLite cannot create the index of its log there; no process is writing
    uri = f"{path.absolute().as_uri()}?{mode}"
    return {"creator": lambda: sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=patience)}


def _server(url: URL, reading: bool, patience: float) -> dict[str, Any]:
    own = url.query.get("options", "")
    settings = [own if isinstance(own, str) else " ".join(own), f"-c lock_timeout={int(patience * 1000)}"]
    settings += ["-c default_transaction_read_only=on"] if reading else []
    return {"connect_args": {"options": " ".join(settings).strip()}}


def _prepare(engine: Engine, reading: bool) -> None:
    """Make SQLite sync every commit to the disk, and overwrite deleted values."""
    from sqlalchemy import event

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # BEGIN is sent below: that of the driver would not take the write lock
        if not reading:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _errors() -> tuple[type[Exception], ...]:
    import sqlite3

    from sqlalchemy.exc import SQLAlchemyError

    return SQLAlchemyError, sqlite3.Error, UnicodeError  # the last for the name of a host


def _reason(problem: Exception) -> str:
    return type(getattr(problem, "orig", None) or problem).__name__


def _display_name(where: str | Path | URL) -> str:
    if isinstance(where, str | Path):
        return repr(without_password(str(where)))
    return repr(where.database if where.get_backend_name() == "sqlite" else without_password(where.render_as_string()))
