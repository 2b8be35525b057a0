"""Celosia: publish personal data safely.

Measure who could be re-identified and what could be inferred, protect the data, show what was lost, write the
evidence down. ``import celosia`` is light: everything is loaded when it is first used.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "read": "table",
    "Table": "table",
    "Outcome": "table",
    "Schema": "data.schema",
    "Hierarchy": "hierarchy",
    "assess": "release.assess",
    "protect": "release.protect",
    "compare": "release.compare",
    "compare_codings": "release.compare_codings",
    "Assessment": "release.evidence.findings",
    "Comparison": "release.evidence.findings",
    "explain_risk": "release.explain_risk",
    "explore": "frontier",
    "Frontier": "frontier",
    "Policy": "release.policy.policy",
    "run": "release.run",
    "Release": "release.evidence.release",
    "verify": "release.verify.verify",
    "Verification": "release.verify.verification",
    "apply": "release.apply",
    "suggest": "proposals",
    "write": "release.output.write",
    "report": "release.report.report",
    "CelosiaError": "errors",
}
_PACKAGES = ("models", "risk", "loss", "methods", "mechanisms", "fuzzy", "hierarchy", "errors")


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"celosia.{_HOMES[name]}"), name)
    if name in _PACKAGES:
        return importlib.import_module(f"celosia.{name}")
    raise AttributeError(f"module 'celosia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_PACKAGES, "__version__"])
