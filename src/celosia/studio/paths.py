"""All files and databases that a policy names: the studio refuses files outside its folder and servers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from celosia.parts import database_file, map_path, references_in

PARTS = {("require",): "model", ("step",): "method", ("explore", "candidate"): "method"}
MEASURES = {"risks": "risk or attack", "losses": "loss"}


def named_references(text: str) -> Iterator[str | Path]:
    """Yield every path and every address of a database in the text of a valid policy, as written.

    >>> text = '[input]\\npath = "a.csv"\\n[schema.hierarchies]\\nzip = "zip.csv"\\n[output]\\npath = "../b.csv"'
    >>> [str(path) for path in named_references(text)]
    ['a.csv', '../b.csv', 'zip.csv']
    """
    yield from references_of(tomllib.loads(text))


def references_of(policy: Mapping[str, Any]) -> Iterator[str | Path]:
    """Yield every path, as a ``Path``, and every other reference to data in the parsed sections of a policy."""
    given, output, explore = (policy.get(name, {}) for name in ("input", "output", "explore"))
    yield from (Path(value) for value in (given.get("path"), output.get("path"), explore.get("store")) if value)
    if url := given.get("url"):
        yield url
    for path in policy.get("history", {}).get("releases", []):
        yield Path(path)
    for hierarchy in policy.get("schema", {}).get("hierarchies", {}).values():
        yield from _references_of_hierarchy(hierarchy)
    for place, kind in PARTS.items():
        entries: Any = policy
        for key in place:
            entries = entries.get(key, {})
        for entry in entries or ():
            yield from references_in(kind, _without_name(entry))
    for key, kind in MEASURES.items():
        for entry in policy.get("measure", {}).get(key, []):
            yield from references_in(kind, entry)


def _without_name(entry: object) -> object:
    """Return a step without ``name``, which is not a parameter of the method."""
    return {key: value for key, value in entry.items() if key != "name"} if isinstance(entry, dict) else entry


def _references_of_hierarchy(value: object) -> Iterator[str | Path]:
    if isinstance(value, str) and not value.endswith(")"):
        yield Path(value)
    elif isinstance(value, str) or (isinstance(value, dict) and "use" in value):
        yield from references_in("hierarchy", value)


def path_in(value: object) -> Iterator[Path]:
    """Yield the path in a file name, a ``file:`` reference to a secret, or the URL of a database file."""
    named: list[Path] = []

    def collect(path: Path) -> Path:
        named.append(path)
        return path

    if isinstance(value, str | Path):
        map_path(value, collect)
    yield from named


def is_server(address: str) -> bool:
    """Return whether an address is that of a database server, or of anything else that is no file.

    >>> is_server("postgresql:///clinic"), is_server("sqlite:///people.db"), is_server("people.csv")
    (True, False, False)
    """
    memory = address.rstrip("/") in ("sqlite:", "duckdb:") or address.endswith(":///:memory:")
    return "://" in address and database_file(address) is None and not memory
