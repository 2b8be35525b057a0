"""Parameters that name a file, and where their paths start."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, get_args
from urllib.parse import quote, unquote

from celosia.parts import grammar
from celosia.parts.part import Credential, Part, Private, has_mark
from celosia.parts.registry import find

Specification: TypeAlias = Any
"""A part, a parameter or several of them as plain data, as a policy writes them."""
PathChange = Callable[[Path], Path]
"""Function from the path that is written to the path that is used."""
ReferenceChange = Callable[[object], Specification]
"""The same for a reference to a file or a database."""
_FILE, _DUCKDB = "file:", "duckdb"
_EMBEDDED = re.compile(r"(?P<kind>sqlite(?:\+\w+)?:///|duckdb:///)(?!:memory:)(?P<path>.+)", re.DOTALL)
_VARY, _STEPS = "vary", "steps"


class Place(Private):
    """Marks a field that holds the path of a file, or another way to name a second table."""


def resolve_paths(kind: str, value: object, directory: Path) -> Specification:
    """Return the specification of a part with its relative paths resolved against a directory.

    Includes nested parts, and the ``steps`` and ``vary`` of the candidates of an exploration. Addresses of database
    servers and parts that are built already stay the same.

    >>> resolve_paths("model", "k-map(k=3, population=people.csv)", Path("data"))["population"]
    'data/people.csv'
    """
    return _map_references(kind, value, lambda reference: from_directory(reference, directory))


def paths_in(kind: str, value: object) -> list[Path]:
    """Return the paths of files that a specification names, unresolved.

    >>> paths_in("model", "k-map(k=3, population=people.csv)")
    [PosixPath('people.csv')]
    """
    paths: list[Path] = []

    def collect(path: Path) -> Path:
        paths.append(path)
        return path

    for reference in references_in(kind, value):
        map_path(reference, collect)
    return paths


def references_in(kind: str, value: object) -> list[str | Path]:
    """Return the paths of files and the addresses of databases that a specification names, unresolved."""
    references: list[str | Path] = []

    def collect(value: object) -> object:
        named = (value.get("path"), value.get("url")) if isinstance(value, Mapping) else (value,)
        references.extend(each for each in named if isinstance(each, str | Path))
        return value

    _map_references(kind, value, collect)
    return references


def identity(part: Part) -> str:
    """Return the text of a part with file names instead of paths, so that it does not depend on a folder.

    Random streams are named after it: a run that is repeated in another folder draws the same numbers.

    >>> from celosia.models import KMap
    >>> identity(KMap(k=3, population="data/people.csv"))
    'k-map(population="people.csv", k=3)'
    """
    spec = part.spec().items()
    return grammar.show({name: _map_parameter(type(part), name, value, _without_folder) for name, value in spec})


def _without_folder(reference: object) -> Specification:
    return map_path(reference, lambda path: Path(path.name))


def _map_references(kind: str, value: object, change: ReferenceChange) -> Specification:
    if isinstance(value, list | tuple):
        return [_map_references(kind, entry, change) for entry in value]
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            return _map_references(kind, grammar.parse_list(value), change)
        value = grammar.part(value)
    if not isinstance(value, Mapping):
        return value
    if _STEPS in value:
        return {**value, _STEPS: _map_references(kind, value[_STEPS], change)}
    if not isinstance(value.get("use"), str):
        return value
    cls = find(kind, value["use"])
    return {str(name): _map_parameter(cls, str(name), each, change) for name, each in value.items()}


def from_directory(value: object, directory: Path) -> Specification:
    """Return a reference to a file with its path resolved against a directory.

    >>> from_directory("sqlite:///people.db", Path("data")), from_directory("env:BASE", Path("data"))
    ('sqlite:///data/people.db', 'env:BASE')
    """
    return map_path(value, lambda path: directory / path)


def map_path(value: object, change: PathChange) -> Specification:
    """Return a reference to a file with its path changed.

    A reference is a path, ``file:…``, the URL of a database file, or a mapping with one of them as ``path`` or ``url``.
    """
    if isinstance(value, Mapping):
        return {key: map_path(each, change) if key in ("path", "url") else each for key, each in value.items()}
    if not isinstance(value, str | Path):
        return value
    if isinstance(value, Path):
        return str(change(value))
    if value.startswith(_FILE):
        return f"{_FILE}{change(Path(value.removeprefix(_FILE)).expanduser())}"
    own = database_file(value)
    if own is not None:
        kind, _, path = value.partition(":///")
        changed, query = str(change(Path(own))), ""
        if kind != _DUCKDB:
            changed, query = re.sub("[%?]", lambda mark: quote(mark[0]), changed), path.partition("?")[2]
        return f"{kind}:///{changed}{'?' * bool(query)}{query}"
    return value if value.startswith("env:") or "://" in value else str(change(Path(value)))


def database_file(url: str) -> str | None:
    """Return the path in the URL of a database file as it is opened; None for any other text.

    As in SQLAlchemy, a question mark ends the path of SQLite, and ``%`` escapes a character. The path of DuckDB is the
    whole rest.

    >>> database_file("sqlite:///%2e%2e/people.db?mode=ro"), database_file("duckdb:///a%20b.db")
    ('../people.db', 'a%20b.db')
    """
    match = _EMBEDDED.fullmatch(url)
    if match is None:
        return None
    return match["path"] if match["kind"] == "duckdb:///" else unquote(match["path"].partition("?")[0]) or None


def _map_parameter(cls: type[Part], name: str, value: object, change: ReferenceChange) -> Specification:
    info = cls.model_fields.get(name.replace("-", "_"))
    if info is None:
        if name == _VARY and isinstance(value, Mapping):
            return {key: _map_choices(cls, key, each, change) for key, each in value.items()}
        return value
    if has_mark(info, Place):
        return change(value)
    if has_mark(info, Credential) and isinstance(value, str) and value.startswith(_FILE):
        return f"{_FILE}{change(Path(value.removeprefix(_FILE)).expanduser())}"
    kind = _kind(info.annotation)
    return _map_references(kind, value, change) if kind else value


def _map_choices(cls: type[Part], name: str, values: object, change: ReferenceChange) -> Specification:
    return (
        [_map_parameter(cls, name, value, change) for value in values] if isinstance(values, list | tuple) else values
    )


def _kind(annotation: object) -> str:
    """Return the kind of part that a field holds, alone, in a list or optionally; empty when it holds none."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation.kind
    return next(filter(None, map(_kind, get_args(annotation))), "")
