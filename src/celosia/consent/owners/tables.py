"""Tables of the preference store: owners, choices, changes, and data of the consent pages."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from celosia.data.io.durable import Durable

if TYPE_CHECKING:
    from sqlalchemy import Column, MetaData, Table
    from sqlalchemy.schema import SchemaItem


class Tables(NamedTuple):
    """Owners, their other keys and choices, every change, settings, links, audit trail, questionnaire, matches."""

    metadata: MetaData
    owners: Table
    aliases: Table
    choices: Table
    changes: Table
    settings: Table
    links: Table
    trail: Table
    answers: Table
    answered: Table
    activations: Table


@lru_cache(maxsize=1)
def tables() -> Tables:
    """Return the table definitions."""
    import sqlalchemy as sa

    metadata = sa.MetaData()

    def table(name: str, *columns: SchemaItem, sqlite_with_rowid: bool = True) -> Table:
        return sa.Table(f"consent_{name}", metadata, *columns, sqlite_with_rowid=sqlite_with_rowid)

    def text(name: str, *, nullable: bool = False, index: bool = False) -> Column[str]:
        return sa.Column(name, sa.Text, nullable=nullable, index=index)

    def key(name: str) -> Column[str]:
        return sa.Column(name, sa.Text, primary_key=True)

    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # SQLite increments only INTEGER keys
    return Tables(
        metadata,
        table("owners", key("owner"), text("since")),
        table("aliases", key("kind"), key("alias"), text("owner", index=True)),
        table(
            "choices",
            key("owner"),
            key("inference"),
            sa.Column("block", sa.Boolean, nullable=False),
            text("at"),
            sa.Index("consent_blocked", "inference", "block"),
        ),
        table(
            "changes",
            sa.Column("number", number, primary_key=True, autoincrement=True),
            text("owner", index=True),
            text("inference"),
            sa.Column("block", sa.Boolean, nullable=False),
            text("at"),
            text("by"),
        ),
        table("settings", key("name"), text("value")),
        table("links", key("digest"), text("owner", index=True), text("until"), text("used", nullable=True)),
        table(
            "trail",
            sa.Column("number", number, primary_key=True, autoincrement=True),
            text("at"),
            text("what"),
            text("who"),
            text("detail"),
        ),
        table(
            "answers",
            key("respondent"),
            key("item"),
            text("grouping"),
            sa.Column("value", sa.Integer),
            text("note"),
            sa.Column("signed", sa.Boolean, nullable=False),  # whether the respondent was signed in
        ),
        # Stored in key order: the order of arrival would link owners to their answers.
        table("answered", key("owner"), sqlite_with_rowid=False),
        table("activations", key("query"), text("catalogue"), text("found"), text("at", index=True)),
    )


STORE = Durable("store of choices", lambda: tables().metadata, "celosia consent init")
