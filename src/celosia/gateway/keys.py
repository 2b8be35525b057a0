"""API keys of analysts: 256 random bits each, stored as a hash only."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import secrets
from pathlib import Path

from celosia import files
from celosia.data.io.atomic import replace_file
from celosia.errors import InputError, OutputError, UnknownName

_LOG = logging.getLogger(__name__)
ADMIN = "\x01admin"
"""Name of the administrator; it is not printable, so that no analyst can have it."""
_DIGEST = re.compile("[0-9a-f]{64}")


class Keys:
    """The analysts and the hashes of their keys, in a file that only its owner can read.

    The file is read again whenever it has changed, so that a gateway that is serving refuses a removed key. While the
    file is missing or cannot be read, no key is valid.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._seen = _state(self._path)
        self._analysts = _read(self._path)

    @classmethod
    def create(cls, path: str | Path) -> Keys:
        """Make an empty file of keys; an existing file is refused."""
        if Path(path).exists():
            raise OutputError(f"{str(path)!r} exists already. Give another name for a new file of keys.")
        _write(Path(path), {})
        return cls(path)

    def add(self, analyst: str) -> str:
        """Make a key for an analyst, replacing an older one; it is shown once and stored as a hash."""
        if not analyst or len(analyst) > 100 or not analyst.isprintable() or analyst == "*":
            raise InputError("an analyst's name has 1 to 100 printable characters and is not '*'.")
        return self._add(analyst)

    def add_administrator(self) -> str:
        """Make the administrator's key, replacing an older one; it opens the administrator's page and nothing else."""
        return self._add(ADMIN)

    def remove(self, analyst: str) -> None:
        """Remove an analyst's key."""
        analysts = set(_read(self._path).values()) - {ADMIN}
        if analyst not in analysts:
            raise UnknownName.of("analyst with a key", analyst, analysts)
        _write(self._path, self._without(analyst))

    def remove_administrator(self) -> None:
        """Remove the administrator's key."""
        if ADMIN not in _read(self._path).values():
            raise InputError("there is no administrator's key. 'celosia gateway key --admin' makes one.")
        _write(self._path, self._without(ADMIN))

    def analyst(self, key: str) -> str | None:
        """Return the analyst of a key, or None. It is found by its hash: the time reveals nothing about other keys."""
        return self.holder(digest(key))

    def holder(self, hashed: str) -> str | None:
        """Return the analyst whose key has this hash now, or None."""
        name = self._current().get(hashed)
        return None if name == ADMIN else name

    def administers(self, hashed: str) -> bool:
        """Return whether the administrator's key has this hash now."""
        return self._current().get(hashed) == ADMIN

    def names(self) -> list[str]:
        """Return the analysts who have a key now."""
        return sorted(set(self._current().values()) - {ADMIN})

    def __len__(self) -> int:
        return len(self.names())

    def _add(self, holder: str) -> str:
        key = secrets.token_urlsafe(32)
        _write(self._path, {**self._without(holder), digest(key): holder})
        return key

    def _without(self, analyst: str) -> dict[str, str]:
        return {hashed: name for hashed, name in _read(self._path).items() if name != analyst}

    def _current(self) -> dict[str, str]:
        state = _state(self._path)
        if state != self._seen:
            try:
                analysts = _read(self._path)
            except InputError as problem:
                _LOG.error("no key is valid: %s", problem)
                analysts = {}
            self._seen, self._analysts = state, analysts
        return self._analysts


def digest(key: str) -> str:
    """Return the hash under which a key is stored."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _state(path: Path) -> tuple[int, ...] | None:
    """Return numbers that change whenever the file is replaced or written; None when it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size


def _read(path: Path) -> dict[str, str]:
    try:
        analysts = files.json_document(files.text(path))
    except FileNotFoundError:
        advice = "Check the name; a new one is made with 'celosia gateway init'."
        raise InputError(f"there is no file of keys {str(path)!r}. {advice}") from None
    except OSError as problem:
        raise InputError(
            "cannot read the file of keys {path!r}: {reason}.", path=str(path), reason=problem.strerror
        ) from None
    except ValueError:
        analysts = None
    if not isinstance(analysts, dict) or not all(
        _DIGEST.fullmatch(k) and isinstance(v, str) for k, v in analysts.items()
    ):
        raise InputError(f"{str(path)!r} is not a file of keys.")
    return analysts


def _write(path: Path, analysts: dict[str, str]) -> None:
    with replace_file(path, 0o600) as draft:
        draft.write_text(json.dumps(analysts, indent=1), encoding="utf-8")
