"""Signing in without a password: one-time links, of which only hashes are kept, and sessions that expire."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from celosia.consent.store import Preferences
from celosia.consent.tables import tables
from celosia.errors import ParameterError

ADMIN = "\x01admin"
"""The owner that links of administrators belong to; no real key can hold this character."""
SESSION_SECONDS = 30 * 60


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

    One statement decides and marks, so that of two uses at the same time one is refused.
    """
    t = tables().links
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    digest = _digest(token)
    with store.writing() as connection:
        done = connection.execute(
            t.update().where(t.c.digest == digest, t.c.used.is_(None), t.c.until > now).values(used=now)
        )
        if done.rowcount != 1:
            return None
        return str(connection.execute(t.select().where(t.c.digest == digest)).one().owner)


@dataclass
class Session:
    """A visitor: whose record, until when, and the token that forms must send back."""

    owner: str
    until: float
    form: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    @property
    def admin(self) -> bool:
        """Whether it is an administrator."""
        return self.owner == ADMIN


class Sessions:
    """Visitors in memory; they end after half an hour without a request, and with the process.

    Requests come from several threads, so everything that changes the visitors holds the lock: without it a visitor
    could be lost whose link is already used up.
    """

    def __init__(self, seconds: float = SESSION_SECONDS) -> None:
        self._seconds = seconds
        self._known: dict[str, Session] = {}
        self._lock = threading.Lock()

    def start(self, owner: str) -> str:
        """Remember a visitor; returns the name of the session for the cookie."""
        now, name = time.monotonic(), secrets.token_urlsafe(32)
        with self._lock:
            self._known = {name: one for name, one in self._known.items() if one.until > now}
            self._known[name] = Session(owner, now + self._seconds)
        return name

    def find(self, name: str | None) -> Session | None:
        """The visitor of a cookie, unless the session has run out; a request prolongs it."""
        with self._lock:
            one = self._known.get(name or "")
            if one is None or one.until <= time.monotonic():
                return None
            one.until = time.monotonic() + self._seconds
            return one

    def end(self, name: str | None) -> None:
        """Forget a visitor."""
        with self._lock:
            self._known.pop(name or "", None)

    def end_all(self, owner: str) -> None:
        """Forget all sessions of an owner."""
        with self._lock:
            self._known = {name: one for name, one in self._known.items() if one.owner != owner}


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
