"""API keys of analysts: 256 random bits each, of which only the hash is kept; and how often each may ask."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
import time
from pathlib import Path

from celosia.errors import InputError, OutputError
from celosia.io.atomic import replaced

_DIGEST = re.compile("[0-9a-f]{64}")


class Keys:
    """The analysts and the hashes of their keys, in a file that only its owner can read."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._analysts = _read(self._path)

    @classmethod
    def create(cls, path: str | Path) -> Keys:
        """Make a file in which nobody has a key yet; one that is there already is refused."""
        if Path(path).exists():
            raise OutputError(f"{str(path)!r} is there already. Give another name for a new file of keys.")
        _write(Path(path), {})
        return cls(path)

    def add(self, analyst: str) -> str:
        """Make a key for an analyst, replacing an older one; it is shown once and stored as a hash."""
        if not analyst or len(analyst) > 100 or not analyst.isprintable() or analyst == "*":
            raise InputError("an analyst's name has 1 to 100 printable characters and is not '*'.")
        key = secrets.token_urlsafe(32)
        kept = {digest: name for digest, name in self._analysts.items() if name != analyst}
        self._write({**kept, _digest(key): analyst})
        return key

    def remove(self, analyst: str) -> None:
        """Take an analyst's key away."""
        self._write({digest: name for digest, name in self._analysts.items() if name != analyst})

    def analyst(self, key: str) -> str | None:
        """Whose key it is. Looked up by its hash, so the time tells nothing about the keys that exist."""
        return self._analysts.get(_digest(key))

    def __len__(self) -> int:
        return len(self._analysts)

    def _write(self, analysts: dict[str, str]) -> None:
        _write(self._path, analysts)
        self._analysts = analysts


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
            if len(self._buckets) > 10_000:  # strangers must not fill the memory
                self._buckets = {n: b for n, b in self._buckets.items() if now - b[1] < 60}
            tokens, then = self._buckets.get(name, (float(self._size), now))
            tokens = min(self._size, tokens + (now - then) * self._size / 60)
            if tokens >= 1:
                self._buckets[name] = (tokens - 1, now)
                return 0.0
            self._buckets[name] = (tokens, now)
            return (1 - tokens) * 60 / self._size


def _read(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        advice = "Check the name; a new one is made with 'celosia gateway init'."
        raise InputError(f"there is no file of keys {str(path)!r}. {advice}") from None
    except OSError as problem:
        raise InputError(f"cannot read the file of keys {str(path)!r}: {problem.strerror}.") from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(_DIGEST.fullmatch(k) and isinstance(v, str) for k, v in found.items()):
        raise InputError(f"{str(path)!r} is not a file of keys.")
    return found


def _write(path: Path, analysts: dict[str, str]) -> None:
    with replaced(path, 0o600) as draft:
        draft.write_text(json.dumps(analysts, indent=1), encoding="utf-8")


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
