"""The tables of the ledger, in SQLite (WAL, synchronous=FULL) or PostgreSQL."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from celosia.data.io.durable import Durable

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, MetaData, Table
    from sqlalchemy.schema import SchemaItem


Row = dict[str, Any]
"""One row of a statement, by the names of its columns."""


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

    def table(name: str, *columns: SchemaItem) -> Table:
        return sa.Table(f"celosia_{name}", metadata, *columns)

    def keys(*names: str) -> list[Column[Any]]:
        return [sa.Column(name, sa.Text, primary_key=True) for name in names]

    def texts(*names: str) -> list[Column[Any]]:
        return [sa.Column(name, sa.Text, nullable=False) for name in names]

    def amounts(*names: str) -> list[Column[Any]]:
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


def _refuse_changes(connection: Connection) -> None:
    """Let the database itself refuse to alter or to delete an entry."""
    kind = connection.dialect.name
    for verb in ["update", "delete"] + (["truncate"] if kind == "postgresql" else []):
        for statement in _APPEND_ONLY[kind]:
            connection.exec_driver_sql(statement.replace("{verb}", verb).replace("{VERB}", verb.upper()))


LEDGER = Durable("ledger", lambda: tables().metadata, "celosia gateway init", _refuse_changes)
