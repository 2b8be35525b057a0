"""Rate limits of requests."""

from __future__ import annotations

import threading
import time

from celosia.errors import InputError


class RateLimit:
    """A bucket of tokens per name, refilled evenly: ``per_minute`` requests on average, as many at once.

    >>> limit = RateLimit(2)
    >>> [limit.wait("ana") == 0 for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, per_minute: int) -> None:
        if per_minute < 1:
            raise InputError(f"the rate limit is at least one request a minute, got {per_minute}.")
        self._size = per_minute
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, name: str) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        now = time.monotonic()
        with self._lock:
            if len(self._buckets) > 10_000:  # bound the memory used by unknown names
                self._buckets = {n: b for n, b in self._buckets.items() if now - b[1] < 60}
            tokens, then = self._buckets.get(name, (float(self._size), now))
            tokens = min(self._size, tokens + (now - then) * self._size / 60)
            if tokens >= 1:
                self._buckets[name] = (tokens - 1, now)
                return 0.0
            self._buckets[name] = (tokens, now)
            return (1 - tokens) * 60 / self._size
