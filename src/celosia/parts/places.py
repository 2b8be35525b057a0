"""Parameters that name a file, and where their paths start."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from celosia.parts import grammar
from celosia.parts.part import Credential, Part, Private, marked
from celosia.parts.registry import find

Change = Callable[[Path], Path]
"""What becomes of a path."""
_FILE = "file:"
_EMBEDDED = re.compile(
    r"(?P<kind>(?:sqlite|duckdb)(?:\+\w+)?:///)(?!:memory:)(?P<path>[^?]+)(?P<rest>(?:\?.*)?)", re.DOTALL
)
_VARY, _STEPS = "vary", "steps"


class Place(Private):
    """Marks a field that holds the path of a file, or another way to name a second table."""


def located(kind: str, value: Any, directory: Path) -> Any:
    """A part as it is written down, with the relative paths in it starting from a directory.

    Nested parts are followed; so are ``steps`` and ``vary``, by which candidates of an exploration are written.
    Addresses of database servers and parts that are built already stay as they are.

    >>> located("model", "k-map(k=3, population=people.csv)", Path("data"))["population"]
    'data/people.csv'
    """
    return _changed(kind, value, lambda path: directory / path)


def paths_in(kind: str, value: Any) -> list[Path]:
    """The paths of files that a part names, as they are written down.

    >>> paths_in("model", "k-map(k=3, population=people.csv)")
    [PosixPath('people.csv')]
    """
    named: list[Path] = []

    def seen(path: Path) -> Path:
        named.append(path)
        return path

    _changed(kind, value, seen)
    return named


def identity(part: Part) -> str:
    """The text of a part with the names of files only: what it is, wherever its files lie.

    Random numbers are named after it: a run that is repeated in another folder draws the same ones.

    >>> from celosia.models import KMap
    >>> identity(KMap(k=3, population="data/people.csv"))
    'k-map(population="people.csv", k=3)'
    """
    spec = part.spec().items()
    return grammar.show(
        {name: _parameter(type(part), name, given, lambda path: Path(path.name)) for name, given in spec}
    )


def _changed(kind: str, value: Any, change: Change) -> Any:
    if isinstance(value, list | tuple):
        return [_changed(kind, entry, change) for entry in value]
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            return _changed(kind, grammar.parse(value), change)
        value = grammar.part(value)
    if not isinstance(value, Mapping):
        return value
    if _STEPS in value:
        return {**value, _STEPS: _changed(kind, value[_STEPS], change)}
    if not isinstance(value.get("use"), str):
        return value
    cls = find(kind, value["use"])
    return {str(name): _parameter(cls, str(name), given, change) for name, given in value.items()}


def from_directory(value: Any, directory: Path) -> Any:
    """What names a file, with its path starting from a directory.

    >>> from_directory("sqlite:///people.db", Path("data")), from_directory("env:BASE", Path("data"))
    ('sqlite:///data/people.db', 'env:BASE')
    """
    return moved(value, lambda path: directory / path)


def moved(value: Any, change: Change) -> Any:
    """What names a file, with its path changed: a path, a reference ``file:…``, the address of a database that is one.

    Or a mapping with one of them as ``path`` or ``url``.
    """
    if isinstance(value, Mapping):
        return {key: moved(each, change) if key in ("path", "url") else each for key, each in value.items()}
    if not isinstance(value, str | Path):
        return value
    text = str(value)
    if text.startswith(_FILE):
        return f"{_FILE}{change(Path(text.removeprefix(_FILE)).expanduser())}"
    embedded = _EMBEDDED.fullmatch(text)
    if embedded:
        return f"{embedded['kind']}{change(Path(embedded['path']))}{embedded['rest']}"
    return value if text.startswith("env:") or "://" in text else str(change(Path(text)))


def _parameter(cls: type[Part], name: str, value: Any, change: Change) -> Any:
    info = cls.model_fields.get(name.replace("-", "_"))
    if info is None:
        varied = name == _VARY and isinstance(value, Mapping)
        return {key: _each(cls, key, each, change) for key, each in value.items()} if varied else value
    if marked(info, Place):
        return moved(value, change)
    if marked(info, Credential) and isinstance(value, str) and value.startswith(_FILE):
        return moved(value, change)
    kind = _kind(info.annotation)
    return _changed(kind, value, change) if kind else value


def _each(cls: type[Part], name: str, values: Any, change: Change) -> Any:
    return [_parameter(cls, name, value, change) for value in values] if isinstance(values, list | tuple) else values


def _kind(annotation: Any) -> str:
    """The kind of part that a field holds, alone, in a list or perhaps; empty when it holds none."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation.kind
    return next(filter(None, map(_kind, get_args(annotation))), "")
