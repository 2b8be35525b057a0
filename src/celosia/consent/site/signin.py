"""Sign-in without a password: one-time links, stored only as hashes."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables
from celosia.errors import ParameterError

ADMIN = "\x01admin"
"""Owner of the sign-in links of administrators; no real key can contain this character."""


def issue(store: Preferences, owner: str, *, hours: float = 72.0) -> str:
    """Create a one-time token for an owner; only its hash is stored.

    Earlier tokens of the owner stay valid until they are used or expire.
    """
    if not 0 < hours <= 24 * 60:
        raise ParameterError(f"a link is valid for more than 0 and at most 1440 hours, got {hours:g}.")
    token = secrets.token_urlsafe(32)
    until = (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with store.transaction() as connection:
        row = {"digest": _digest(token), "owner": owner, "until": until, "used": None}
        connection.execute(tables().links.insert(), row)
    return token


def redeem(store: Preferences, token: str) -> str | None:
    """Use up a token and return its owner, or None if it is invalid, used or expired.

    One statement checks and marks, so that of two simultaneous uses one fails. An invalid token does not take the write
    lock, with which a third party could delay everybody else.
    """
    t = tables().links
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    valid = (t.c.digest == _digest(token)) & t.c.used.is_(None) & (t.c.until > now)
    with store.engine.connect() as connection:
        link = connection.execute(t.select().where(valid)).first()
    if link is None:
        return None
    with store.transaction() as connection:
        done = connection.execute(t.update().where(valid).values(used=now))
    return str(link.owner) if done.rowcount == 1 else None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
