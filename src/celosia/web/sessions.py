"""Visitors who signed in, in memory: they sign in again after a restart."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field


@dataclass
class Session:
    """A visitor: who it is, until when, and the token that forms must send back."""

    who: str
    until: float
    form: str = field(default_factory=lambda: secrets.token_urlsafe(16))


class Sessions:
    """Visitors, each for ``seconds``: since the last request where a request prolongs the visit, else since its start.

    Requests come from several threads, so everything that changes the visitors holds the lock: without it a visitor
    could be lost whose link is already used up.
    """

    def __init__(self, seconds: float, *, prolonged: bool = True) -> None:
        self._seconds, self._prolonged = seconds, prolonged
        self._known: dict[str, Session] = {}
        self._lock = threading.Lock()

    def start(self, who: str) -> str:
        """Remember a visitor; returns the name of the session for the cookie."""
        now, name = time.monotonic(), secrets.token_urlsafe(32)
        with self._lock:
            self._known = {name: one for name, one in self._known.items() if one.until > now}
            self._known[name] = Session(who, now + self._seconds)
        return name

    def find(self, name: str | None) -> Session | None:
        """The visitor of a cookie, unless the session has run out."""
        with self._lock:
            one = self._known.get(name or "")
            if one is None or one.until <= time.monotonic():
                return None
            if self._prolonged:
                one.until = time.monotonic() + self._seconds
            return one

    def end(self, name: str | None) -> None:
        """Forget a visitor."""
        with self._lock:
            self._known.pop(name or "", None)

    def end_all(self, who: str) -> None:
        """Forget all visits of somebody."""
        with self._lock:
            self._known = {name: one for name, one in self._known.items() if one.who != who}
