"""Store of measured evaluations: one line of JSON each, append-only; numbers and keys, never data.

A key is a digest of the table, the candidate, the seed and the measures, so that a line is reused only for exactly
the same evaluation. The first line holds the seed. Only the owner of the file can read it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import __version__, files
from celosia.errors import OutputError
from celosia.frontier.candidates import Candidate
from celosia.release.evidence.plain_data import canonical
from celosia.table.columns import column_types
from celosia.table.frames import table_fingerprint

if TYPE_CHECKING:
    from celosia.parts import Part
    from celosia.table import Table

FORMAT = "celosia exploration 1"
_BEGIN = json.dumps({"format": FORMAT})[:-1]

#: Bytes of a store that is read: some ten million results.
LARGEST = 4 << 30


class Store:
    """Results by key; kept in a file when a path is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.results: dict[str, Mapping[str, Any]] = {}
        self.seed: int | None = None
        if path is not None and path.exists():
            self._load(path)

    def _load(self, path: Path) -> None:
        try:
            text = files.text(path, largest=LARGEST)
        except (OSError, UnicodeDecodeError):
            raise OutputError(f"cannot read {str(path)!r} as the results of an exploration.") from None
        for i, line in enumerate(text.split("\n")):
            try:
                entry = files.json_document(line)
            except ValueError:
                continue  # truncated by a kill: it is measured again
            if i == 0 and (not isinstance(entry, dict) or entry.get("format") != FORMAT):
                raise OutputError(f"{str(path)!r} does not hold the results of an exploration; give another path.")
            if "seed" in entry:
                self.seed = int(entry["seed"], 16)
            elif "key" in entry:
                self.results[entry["key"]] = entry["result"]
        cut = "\n" not in text and _BEGIN.startswith(
            text[: len(_BEGIN)]
        )  # truncated in its first line: it has no results yet
        if text.strip() and self.seed is None and not cut:
            raise OutputError(f"{str(path)!r} does not hold the results of an exploration; give another path.")

    def begin(self, seed: int) -> None:
        """Write the first line of a new file."""
        new = self.seed is None
        self.seed = seed
        if self.path is not None and new:
            self._append({"format": FORMAT, "seed": f"{seed:x}"})

    def add(self, key: str, result: Mapping[str, object], label: str) -> None:
        """Add a result."""
        self.results[key] = result
        if self.path is not None and not result.get("again"):
            self._append({"key": key, "candidate": label, "result": result})

    def _append(self, entry: Mapping[str, object]) -> None:
        # One write per line on a descriptor that appends: a kill can truncate a line, never mix two. The newline comes
        # first, so that a truncated line before does not swallow this one.
        assert self.path is not None
        size = self.path.stat().st_size if self.path.exists() else 0
        line = (("\n" if size else "") + json.dumps(entry, ensure_ascii=False)).encode()
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if os.write(descriptor, line) < len(line):  # the disk is full
                    os.ftruncate(descriptor, size)
                    if not size:  # leave no store without its first line
                        self.path.unlink()
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise OutputError(f"cannot write {str(self.path)!r}: {error.strerror}.") from None


def fingerprint(table: Table) -> bytes:
    """Return a digest of the cells, the types and the schema."""
    types = {name: str(dtype) for name, dtype in column_types(table).items()}
    digest = hashlib.blake2b(table_fingerprint(table) + canonical(types), digest_size=32)
    hierarchies = {c.name: _content(c.hierarchy) for c in table.schema.columns if c.hierarchy is not None}
    bounds = {c.name: c.bounds for c in table.schema.columns}
    digest.update(canonical([table.schema.spec(), hierarchies, bounds]))
    return digest.digest()


def _content(hierarchy: object) -> list[str]:
    """Return the declaration of a hierarchy, with a digest of its file where it has one."""
    named = hierarchy.get("path") if isinstance(hierarchy, dict) else hierarchy
    path = Path(named) if isinstance(named, str | Path) else None
    digest = hashlib.blake2b(path.read_bytes()).hexdigest() if path is not None and path.is_file() else ""
    return [str(hierarchy), digest]


def key(table: bytes, candidate: Candidate, seed: int, measures: tuple[Part, Part]) -> str:
    """Return the digest of one evaluation."""
    description = canonical([__version__, candidate.spec(), f"{seed:x}", [part.spec() for part in measures]])
    return hashlib.blake2b(description, key=table, digest_size=20).hexdigest()
