"""Signing in without a password: one-time links, of which only hashes are kept."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables
from celosia.errors import ParameterError

ADMIN = "\x01admin"
"""The owner that links of administrators belong to; no real key can hold this character."""


def issue(store: Preferences, owner: str, *, hours: float = 72.0) -> str:
    """Make a one-time token for an owner; it is shown here once and stored as a hash.

    Earlier links of the owner stay valid until they are used or expire.
    """
    if not 0 < hours <= 24 * 60:
        raise ParameterError(f"a link is valid for more than 0 and at most 1440 hours, got {hours:g}.")
    token = secrets.token_urlsafe(32)
    until = (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with store.writing() as connection:
        row = {"digest": _digest(token), "owner": owner, "until": until, "used": None}
        connection.execute(tables().links.insert(), row)
    return token


def redeem(store: Preferences, token: str) -> str | None:
    """The owner of a token that is valid and unused, which it then no longer is; else None.

    One statement decides and marks, so that of two uses at the same time one is refused. A token that is not valid
    anyway does not take the write lock: strangers could hold up everybody else.
    """
    t = tables().links
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    valid = (t.c.digest == _digest(token)) & t.c.used.is_(None) & (t.c.until > now)
    with store.engine.connect() as connection:
        link = connection.execute(t.select().where(valid)).first()
    if link is None:
        return None
    with store.writing() as connection:
        done = connection.execute(t.update().where(valid).values(used=now))
    return str(link.owner) if done.rowcount == 1 else None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
