"""Celosia: publish personal data safely.

Measure who could be re-identified and what could be inferred, protect the data, show what was lost, write the
evidence down. ``import celosia`` is light: everything is loaded when it is first used.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "read": "table",
    "Table": "table",
    "Outcome": "table",
    "Schema": "data.schema",
    "Hierarchy": "hierarchy",
    "assess": "release.measuring",
    "protect": "release.measuring",
    "compare": "release.measuring",
    "Assessment": "release.measuring",
    "Comparison": "release.measuring",
    "explain_risk": "release.explaining",
    "explore": "frontier",
    "Frontier": "frontier",
    "Policy": "release.policy.policy",
    "run": "release.running",
    "Release": "release.evidence.evidence",
    "verify": "release.verifying.verifying",
    "Verification": "release.verifying.verification",
    "apply": "release.applying",
    "suggest": "proposals",
    "write": "release.leaving.writing",
    "report": "release.reporting",
    "CelosiaError": "errors",
}
_PACKAGES = ("models", "risk", "loss", "methods", "mechanisms", "fuzzy", "hierarchy", "errors")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"celosia.{_HOMES[name]}"), name)
    if name in _PACKAGES:
        return importlib.import_module(f"celosia.{name}")
    raise AttributeError(f"module 'celosia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_PACKAGES, "__version__"])
