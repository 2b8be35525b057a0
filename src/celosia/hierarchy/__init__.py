"""Value hierarchies, their builders, and generalised values with their parser."""

from __future__ import annotations

from celosia.hierarchy.convert import hierarchy
from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy
from celosia.hierarchy.text import plain, text_expression, text_series, texts
from celosia.hierarchy.values import Generalised, cover, parse
from celosia.parts import lazy_package

__all__ = [
    "Generalised",
    "Hierarchy",
    "Levels",
    "cover",
    "hierarchy",
    "parse",
    "plain",
    "text_expression",
    "text_series",
    "texts",
]

_get, _list = lazy_package("hierarchy")


def __getattr__(name: str) -> object:
    return _get(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_list()])
