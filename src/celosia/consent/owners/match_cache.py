"""Cache of rule matches in the preference store, shared by processes.

The key of a query is a hash: its constants can be personal data. Stored matches name rules, tables and fields of the
catalogue, and values by their number in it. A change of the catalogue empties the cache.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from celosia.consent.owners.store import now
from celosia.consent.owners.tables import tables

if TYPE_CHECKING:
    from celosia.consent.owners.store import Preferences

MOST = 10_000
"""Largest number of queries; the oldest are deleted, since programs may ask with ever new constants."""


class MatchCache:
    """Stored matches of queries under one catalogue."""

    def __init__(self, store: Preferences, catalogue: str) -> None:
        self._store, self._catalogue = store, catalogue

    def recall(self, query: str) -> list[dict[str, object]] | None:
        """Return the matches of a query by its hash (which covers the catalogue), or None."""
        t = tables().activations
        with self._store.engine.connect() as connection:
            row = connection.execute(t.select().where(t.c.query == query)).first()
        if row is None:
            return None
        matches: list[dict[str, object]] = json.loads(row.found)
        return matches

    def store(self, query: str, matches: list[dict[str, object]]) -> None:
        """Store the matches of a query; delete those of other catalogues and the oldest beyond the limit."""
        import sqlalchemy as sa

        t = tables().activations
        row = {"query": query, "catalogue": self._catalogue, "found": json.dumps(matches), "at": now()}
        oldest = sa.select(t.c.at).order_by(t.c.at.desc()).offset(MOST).limit(1).scalar_subquery()
        with self._store.transaction() as connection:
            connection.execute(t.delete().where((t.c.query == query) | (t.c.catalogue != self._catalogue)))
            connection.execute(t.insert(), row)
            connection.execute(t.delete().where(t.c.at <= oldest))
