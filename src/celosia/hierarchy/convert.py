"""Conversion of specifications of users to hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia import parts as catalogue
from celosia.errors import ParameterError
from celosia.hierarchy.level_table import LevelTable
from celosia.hierarchy.part import Hierarchy
from celosia.hierarchy.text import texts


def hierarchy(given: object) -> Hierarchy:
    """Build a hierarchy from a part, a path to a level table, ``{use = …}``, text, rows or a frame.

    >>> hierarchy("intervals(width=5)")
    Intervals(fallback=None, width=5.0, ...)
    >>> hierarchy([["Writer", "Artist", "*"], ["Dancer", "Artist", "*"]]).levels(["Dancer"]).labels(1)
    ['Artist']
    """
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, Path):
        return LevelTable(path=given)
    if isinstance(given, str):
        if _is_path(given):
            return LevelTable(path=Path(given))
        return _build(given)
    if isinstance(given, Mapping):
        return _build(given if "use" in given else {"use": "tree", "tree": given})
    if hasattr(given, "rows") and callable(given.rows):  # a Polars frame
        return LevelTable(rows=tuple(tuple(texts(row)) for row in given.rows()))
    if hasattr(given, "itertuples"):  # a pandas frame
        return LevelTable(rows=tuple(tuple(texts(row)) for row in given.itertuples(index=False)))
    if isinstance(given, Sequence):
        return LevelTable(rows=tuple(tuple(texts(row)) for row in given))
    raise ParameterError(
        f"a hierarchy is a path, a part such as intervals(width=5), a tree or rows; got {type(given).__name__}."
    )


def _is_path(text: str) -> bool:
    return Path(text).suffix.lower() in {".csv", ".tsv", ".txt"} or (
        "(" not in text and any(sep in text for sep in "/\\")
    )


def _build(spec: str | Mapping[str, Any]) -> Hierarchy:
    part: Hierarchy = catalogue.build("hierarchy", spec)
    return part
