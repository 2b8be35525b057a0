"""Public report, without any number that depends on how many data subjects block an inference.

Two exact counts of publications that differ by one person disclose the choice of that person, and so can two ranges:
such numbers are for the publisher only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FEWEST = 5
"""Width of the ranges in which the administrator sees counts."""
WITHHELD = "how many data subjects block an inference, and what follows from it"
PRIVATE = frozenset({"owners who block and are not in the result"})
"""Entries for the publisher only."""
ALWAYS = ("rows", "classes", "smallest class", "smallest number of candidates", "suppressed")
"""Facts that the released file shows itself."""


def public(report: Mapping[str, Any]) -> dict[str, object]:
    """Return the public edition of a report, with None for withheld numbers."""
    counts = dict.fromkeys(("owners", "rows", "rows whose X it decides"))
    excluded = "exclude" in report["method"]["strengthen"]
    # without the rows of blocking owners, any number over all rows discloses how many they are
    whole: dict[str, object] = (
        {"owners": None, "rows without an owner": None, "before": {}, "measured": {}} if excluded else {}
    )
    measured = {} if excluded else report["measured"]
    return {
        **{name: value for name, value in report.items() if name not in PRIVATE},
        "edition": "public",
        "blocks": [{**block, **counts} for block in report["blocks"]],
        "owners who block": None,
        "rows marked": None,
        "facts": _facts(report["facts"]),
        "measured": {name: _public_measures(measures) for name, measures in measured.items()},
        "withheld": WITHHELD,
        **whole,
    }


def _facts(facts: Mapping[str, Any]) -> dict[str, object]:
    return {name: value for name, value in facts.items() if name in ALWAYS}


def _public_measures(measures: Mapping[str, Any]) -> dict[str, object]:
    """Return the measures of one rule over all records."""
    groups = {
        name: {group: value for group, value in measures[name].items() if group == "all"}
        for name in ("losses", "p_reid")
        if name in measures
    }
    return {**measures, **groups, "facts": _facts(measures["facts"])}
