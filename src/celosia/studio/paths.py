"""All file paths named in a policy: the studio refuses those outside its folder."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from celosia.parts import map_path, paths_in

PARTS = {("require",): "model", ("step",): "method", ("explore", "candidate"): "method"}
MEASURES = {"risks": "risk or attack", "losses": "loss"}


def named_paths(text: str) -> Iterator[Path]:
    """Yield every path in the text of a valid policy, as written.

    >>> text = '[input]\\npath = "a.csv"\\n[schema.hierarchies]\\nzip = "zip.csv"\\n[output]\\npath = "../b.csv"'
    >>> [str(path) for path in named_paths(text)]
    ['a.csv', '../b.csv', 'zip.csv']
    """
    yield from paths_of(tomllib.loads(text))


def paths_of(policy: Mapping[str, Any]) -> Iterator[Path]:
    """Yield every path in the parsed sections of a policy."""
    given, output, explore = (policy.get(name, {}) for name in ("input", "output", "explore"))
    yield from path_in(given.get("path"))
    yield from path_in(given.get("url"))
    yield from path_in(output.get("path"))
    yield from path_in(explore.get("store"))
    for path in policy.get("history", {}).get("releases", []):
        yield Path(path)
    for hierarchy in policy.get("schema", {}).get("hierarchies", {}).values():
        yield from _paths_of_hierarchy(hierarchy)
    for place, kind in PARTS.items():
        entries: Any = policy
        for key in place:
            entries = entries.get(key, {})
        for entry in entries or ():
            yield from paths_in(kind, _without_name(entry))
    for key, kind in MEASURES.items():
        for entry in policy.get("measure", {}).get(key, []):
            yield from paths_in(kind, entry)


def _without_name(entry: object) -> object:
    """Return a step without ``name``, which is not a parameter of the method."""
    return {key: value for key, value in entry.items() if key != "name"} if isinstance(entry, dict) else entry


def _paths_of_hierarchy(value: object) -> Iterator[Path]:
    if isinstance(value, str) and not value.endswith(")"):
        yield Path(value)
    elif isinstance(value, str) or (isinstance(value, dict) and "use" in value):
        yield from paths_in("hierarchy", value)


def path_in(value: object) -> Iterator[Path]:
    """Yield the path in a file name, a ``file:`` reference to a secret, or the URL of a database file."""
    named: list[Path] = []

    def collect(path: Path) -> Path:
        named.append(path)
        return path

    if isinstance(value, str):
        map_path(value, collect)
    yield from named
