"""Sessions in memory: after a restart users sign in again.

The sessions of Starlette and itsdangerous are signed cookies: a copy stays valid until it expires, whatever the user
or the server does. Here a session ends when the user signs out, when their choices are deleted or when their key is
revoked. So the server keeps the list, and the cookie holds a random name only.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Session:
    """A user, the end of the session, and the token that forms must send back."""

    who: str
    until: float
    form: str = field(default_factory=lambda: secrets.token_urlsafe(16))


class Sessions:
    """Sessions that last ``seconds`` after the last request, or after their start unless ``prolonged``.

    Requests come from several threads, so every change holds the lock: without it a session could be lost whose
    one-time link is already used. ``clock`` must be monotonic, or a clock that is set back would prolong sessions.
    """

    def __init__(self, seconds: float, *, prolonged: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._prolonged, self._clock = seconds, prolonged, clock
        self._visitors: dict[str, Session] = {}
        self._lock = threading.Lock()

    def start(self, who: str) -> str:
        """Start a session and return its name for the cookie."""
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
        """End a session."""
        with self._lock:
            self._visitors.pop(name or "", None)

    def end_all(self, who: str) -> None:
        """Remove all sessions of a user."""
        with self._lock:
            self._visitors = {name: visitor for name, visitor in self._visitors.items() if visitor.who != who}
