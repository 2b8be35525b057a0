"""Parameters that name a file, and where their paths start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from celosia.parts import grammar
from celosia.parts.part import Credential, Part, Private, marked
from celosia.parts.registry import find

_FILE = "file:"
_VARY, _STEPS = "vary", "steps"


class Place(Private):
    """Marks a field that holds the path of a file, or another way to name a second table."""


def located(kind: str, value: Any, directory: Path) -> Any:
    """A part as it is written down, with the relative paths in it starting from a directory.

    Nested parts are followed; so are ``steps`` and ``vary``, by which candidates of an exploration are written.
    Addresses of databases and parts that are built already stay as they are.

    >>> located("model", "k-map(k=3, population=people.csv)", Path("data"))["population"]
    'data/people.csv'
    """
    if isinstance(value, list | tuple):
        return [located(kind, entry, directory) for entry in value]
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            return located(kind, grammar.parse(value), directory)
        value = grammar.part(value)
    if not isinstance(value, Mapping):
        return value
    if _STEPS in value:
        return {**value, _STEPS: located(kind, value[_STEPS], directory)}
    if not isinstance(value.get("use"), str):
        return value
    cls = find(kind, value["use"])
    return {str(name): _parameter(cls, str(name), given, directory) for name, given in value.items()}


def from_directory(value: Any, directory: Path) -> Any:
    """A path, a mapping with ``path``, or a reference ``file:…`` with its path starting from a directory."""
    if isinstance(value, Mapping) and "path" in value:
        return {**value, "path": from_directory(value["path"], directory)}
    if not isinstance(value, str | Path):
        return value
    text = str(value)
    if text.startswith(_FILE):
        return f"{_FILE}{directory / Path(text.removeprefix(_FILE)).expanduser()}"
    return value if text.startswith("env:") or "://" in text else str(directory / text)


def _parameter(cls: type[Part], name: str, value: Any, directory: Path) -> Any:
    info = cls.model_fields.get(name.replace("-", "_"))
    if info is None:
        varied = name == _VARY and isinstance(value, Mapping)
        return {key: _each(cls, key, each, directory) for key, each in value.items()} if varied else value
    if marked(info, Place):
        return from_directory(value, directory)
    if marked(info, Credential) and isinstance(value, str) and value.startswith(_FILE):
        return from_directory(value, directory)
    kind = _kind(info.annotation)
    return located(kind, value, directory) if kind else value


def _each(cls: type[Part], name: str, values: Any, directory: Path) -> Any:
    return [_parameter(cls, name, value, directory) for value in values] if isinstance(values, list | tuple) else values


def _kind(annotation: Any) -> str:
    """The kind of part that a field holds, alone, in a list or perhaps; empty when it holds none."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation.kind
    return next(filter(None, map(_kind, get_args(annotation))), "")
