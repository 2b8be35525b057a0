"""Celosia: publish personal data safely.

Measure who could be re-identified and what could be inferred, protect the data, show what was lost, write the
evidence down. ``import celosia`` is light: everything is loaded when it is first used.
"""

import importlib
import sys
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "read": "table",
    "Table": "table",
    "Outcome": "table",
    "Schema": "schema",
    "Hierarchy": "hierarchy",
    "assess": "verbs",
    "protect": "verbs",
    "compare": "verbs",
    "Assessment": "verbs",
    "Comparison": "verbs",
    "explore": "explore",
    "Policy": "policy",
    "run": "run",
    "Release": "release",
    "CelosiaError": "errors",
}
_PACKAGES = ("models", "risk", "loss", "methods", "mechanisms", "fuzzy", "hierarchy", "errors", "statistics", "budget")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"celosia.{_HOMES[name]}"), name)
    if name in _PACKAGES:
        return importlib.import_module(f"celosia.{name}")
    raise AttributeError(f"module 'celosia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_PACKAGES, "__version__"])


class _Package(ModuleType):
    """Keeps ``celosia.run`` and ``celosia.explore`` the verbs: importing a module of that name would hide them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
