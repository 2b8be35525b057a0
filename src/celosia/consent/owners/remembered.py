"""Matches that the preference store keeps, so that another process does not match a query again.

A query is known by its hash alone: its constants can be personal data. What is kept names rules, tables and fields of
the catalogue; values by their number in it. When the catalogue changes all of it is forgotten.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from celosia.consent.owners.store import now
from celosia.consent.owners.tables import tables

if TYPE_CHECKING:
    from celosia.consent.owners.store import Preferences

MOST = 10_000
"""So many queries are remembered, the newest; a publisher's programs may ask with ever new constants."""


class Remembered:
    """The matches of queries under one catalogue."""

    def __init__(self, store: Preferences, catalogue: str) -> None:
        self._store, self._catalogue = store, catalogue

    def recall(self, query: str) -> list[dict[str, Any]] | None:
        """The matches of the query with this hash (of the catalogue too), or None when it is not known."""
        t = tables().activations
        with self._store.engine.connect() as connection:
            row = connection.execute(t.select().where(t.c.query == query)).first()
        if row is None:
            return None
        matches: list[dict[str, Any]] = json.loads(row.found)
        return matches

    def keep(self, query: str, matches: list[dict[str, Any]]) -> None:
        """Keep the matches of a query; those under another catalogue, and the oldest of too many, go."""
        import sqlalchemy as sa

        t = tables().activations
        row = {"query": query, "catalogue": self._catalogue, "found": json.dumps(matches), "at": now()}
        oldest = sa.select(t.c.at).order_by(t.c.at.desc()).offset(MOST).limit(1).scalar_subquery()
        with self._store.writing() as connection:
            connection.execute(t.delete().where((t.c.query == query) | (t.c.catalogue != self._catalogue)))
            connection.execute(t.insert(), row)
            connection.execute(t.delete().where(t.c.at <= oldest))
