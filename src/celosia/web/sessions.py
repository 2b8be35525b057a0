"""Visitors who signed in, in memory: they sign in again after a restart.

The sessions of Starlette and itsdangerous live in the cookie, signed: a copy of it opens the door until it runs
out, whatever the visitor or the server does. Here a visit ends when somebody signs out, when their choices are
deleted or when their key is taken away; so the server keeps the list, and the cookie holds a random name and
nothing else.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
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
    could be lost whose link is already used up. ``clock`` tells the seconds; one that is set back would prolong visits.
    """

    def __init__(self, seconds: float, *, prolonged: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._prolonged, self._clock = seconds, prolonged, clock
        self._visitors: dict[str, Session] = {}
        self._lock = threading.Lock()

    def start(self, who: str) -> str:
        """Remember a visitor; returns the name of the session for the cookie."""
        now, name = self._clock(), secrets.token_urlsafe(32)
        with self._lock:
            self._visitors = {name: visitor for name, visitor in self._visitors.items() if visitor.until > now}
            self._visitors[name] = Session(who, now + self._seconds)
        return name

    def find(self, name: str | None) -> Session | None:
        """Return the session of a cookie, unless it has expired."""
        with self._lock:
            visitor = self._visitors.get(name or "")
            if visitor is None or visitor.until <= self._clock():
                return None
            if self._prolonged:
                visitor.until = self._clock() + self._seconds
            return visitor

    def end(self, name: str | None) -> None:
        """Forget a visitor."""
        with self._lock:
            self._visitors.pop(name or "", None)

    def end_all(self, who: str) -> None:
        """Remove all sessions of a user."""
        with self._lock:
            self._visitors = {name: visitor for name, visitor in self._visitors.items() if visitor.who != who}
