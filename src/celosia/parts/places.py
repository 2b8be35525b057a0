"""Parameters that name a file, and where their paths start."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, get_args

from celosia.parts import grammar
from celosia.parts.part import Credential, Part, Private, has_mark
from celosia.parts.registry import find

Specification: TypeAlias = Any
"""A part, a parameter or several of them as plain data, as a policy writes them."""
PathChange = Callable[[Path], Path]
"""Function from the path that is written to the path that is used."""
_FILE = "file:"
_EMBEDDED = re.compile(
    r"(?P<kind>(?:sqlite|duckdb)(?:\+\w+)?:///)(?!:memory:)(?P<path>[^?]+)(?P<rest>(?:\?.*)?)", re.DOTALL
)
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
    return _map_paths(kind, value, lambda path: directory / path)


def paths_in(kind: str, value: object) -> list[Path]:
    """Return the paths of files that a specification names, unresolved.

    >>> paths_in("model", "k-map(k=3, population=people.csv)")
    [PosixPath('people.csv')]
    """
    paths: list[Path] = []

    def collect(path: Path) -> Path:
        paths.append(path)
        return path

    _map_paths(kind, value, collect)
    return paths


def identity(part: Part) -> str:
    """Return the text of a part with file names instead of paths, so that it does not depend on a folder.

    Random streams are named after it: a run that is repeated in another folder draws the same numbers.

    >>> from celosia.models import KMap
    >>> identity(KMap(k=3, population="data/people.csv"))
    'k-map(population="people.csv", k=3)'
    """
    spec = part.spec().items()
    return grammar.show(
        {name: _map_parameter(type(part), name, value, lambda path: Path(path.name)) for name, value in spec}
    )


def _map_paths(kind: str, value: object, change: PathChange) -> Specification:
    if isinstance(value, list | tuple):
        return [_map_paths(kind, entry, change) for entry in value]
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            return _map_paths(kind, grammar.parse_list(value), change)
        value = grammar.part(value)
    if not isinstance(value, Mapping):
        return value
    if _STEPS in value:
        return {**value, _STEPS: _map_paths(kind, value[_STEPS], change)}
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
    text = str(value)
    if text.startswith(_FILE):
        return f"{_FILE}{change(Path(text.removeprefix(_FILE)).expanduser())}"
    embedded = _EMBEDDED.fullmatch(text)
    if embedded:
        return f"{embedded['kind']}{change(Path(embedded['path']))}{embedded['rest']}"
    return value if text.startswith("env:") or "://" in text else str(change(Path(text)))


def _map_parameter(cls: type[Part], name: str, value: object, change: PathChange) -> Specification:
    info = cls.model_fields.get(name.replace("-", "_"))
    if info is None:
        if name == _VARY and isinstance(value, Mapping):
            return {key: _map_choices(cls, key, each, change) for key, each in value.items()}
        return value
    if has_mark(info, Place):
        return map_path(value, change)
    if has_mark(info, Credential) and isinstance(value, str) and value.startswith(_FILE):
        return map_path(value, change)
    kind = _kind(info.annotation)
    return _map_paths(kind, value, change) if kind else value


def _map_choices(cls: type[Part], name: str, values: object, change: PathChange) -> Specification:
    return (
        [_map_parameter(cls, name, value, change) for value in values] if isinstance(values, list | tuple) else values
    )


def _kind(annotation: object) -> str:
    """Return the kind of part that a field holds, alone, in a list or optionally; empty when it holds none."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation.kind
    return next(filter(None, map(_kind, get_args(annotation))), "")
