"""The tables of the ledger, and how its database is opened: SQLite (WAL, synchronous=FULL) or PostgreSQL."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from celosia.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, MetaData, Table

BUSY_SECONDS = 120


class Tables(NamedTuple):
    """The four tables: totals, shares of analysts, running sums per analyst and period, and the chain itself."""

    metadata: MetaData
    budgets: Table
    shares: Table
    spendings: Table
    entries: Table


@lru_cache(maxsize=1)
def tables() -> Tables:
    """Describe the tables; the check constraints make the database itself refuse to overspend."""
    import sqlalchemy as sa

    metadata = sa.MetaData()

    def table(name: str, *columns: Any) -> Table:
        return sa.Table(f"celosia_{name}", metadata, *columns)

    def keys(*names: str) -> list[Any]:
        return [sa.Column(name, sa.Text, primary_key=True) for name in names]

    def texts(*names: str) -> list[Any]:
        return [sa.Column(name, sa.Text, nullable=False) for name in names]

    def amounts(*names: str) -> list[Any]:
        return [sa.Column(name, sa.BigInteger, nullable=False) for name in names]

    return Tables(
        metadata,
        budgets=table(
            "budgets",
            *keys("dataset"),
            *texts("measure", "neighbours"),
            *amounts("loss_total", "delta_total", "loss_spent", "delta_spent", "length"),
            *texts("head"),
            sa.CheckConstraint("loss_spent <= loss_total AND delta_spent <= delta_total", name="never_overspent"),
        ),
        shares=table("shares", *keys("dataset", "analyst", "period"), *amounts("loss", "delta")),
        spendings=table("spendings", *keys("dataset", "analyst", "label"), *amounts("loss", "delta")),
        entries=table(
            "entries",
            *keys("dataset"),
            sa.Column("seq", sa.BigInteger, primary_key=True),
            *texts("at", "kind", "analyst", "question", "request"),
            *amounts("loss", "delta", "charge"),
            *texts("answer", "previous", "hash"),
            sa.Index("celosia_entries_by_question", "dataset", "question", "kind"),
        ),
    )


def connect(where: str | Path) -> Engine:
    """Open the ledger's database; a path is a SQLite file, made readable by its owner only."""
    try:
        import sqlalchemy as sa
    except ImportError:  # pragma: no cover - the test environment has it
        raise MissingExtra.of("the ledger", "db") from None
    text = str(where)
    if "://" not in text:
        text = f"sqlite:///{Path(text).expanduser().absolute()}"
    url = sa.make_url(text)
    if url.get_backend_name() == "postgresql":
        engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), pool_size=16, max_overflow=64)
    elif url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InputError("a ledger must be durable: give a file for SQLite, not a database in memory.")
        _private_file(Path(url.database))
        engine = sa.create_engine(url, pool_size=16, max_overflow=64, connect_args={"check_same_thread": False})
        _durable(engine)
    else:
        raise InputError(f"the ledger knows SQLite and PostgreSQL, not {url.get_backend_name()!r}.")
    _create(engine)
    return engine


def _private_file(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"the directory {path.parent} of the ledger does not exist; create it first.")
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _durable(engine: Engine) -> None:
    """Every commit of SQLite reaches the disk before it returns, and writers queue instead of failing."""
    from sqlalchemy import event

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves: the driver's own would not take the write lock
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get("reading", False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


_APPEND_ONLY = {
    "sqlite": [
        """CREATE TRIGGER IF NOT EXISTS celosia_no_{verb} BEFORE {VERB} ON celosia_entries
           BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
    ],
    "postgresql": [
        """CREATE OR REPLACE FUNCTION celosia_append_only() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$""",
        """CREATE OR REPLACE TRIGGER celosia_no_{verb} BEFORE {VERB} ON celosia_entries
           FOR EACH STATEMENT EXECUTE FUNCTION celosia_append_only()""",
    ],
}


def _create(engine: Engine) -> None:
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # two gateways that start together must not both create the tables
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(728731)")
        tables().metadata.create_all(connection)
        verbs = ["update", "delete"] + (["truncate"] if engine.dialect.name == "postgresql" else [])
        for verb in verbs:
            for statement in _APPEND_ONLY[engine.dialect.name]:
                connection.exec_driver_sql(statement.replace("{verb}", verb).replace("{VERB}", verb.upper()))
