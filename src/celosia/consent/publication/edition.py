"""The report for everybody: without counts from which somebody's choice would follow.

A count is shown when at least five owners are on either side of it: "nobody blocks it" and "all but one block it" tell
as much about a person as "one blocks it". When the count of one inference is withheld, so are the totals, since the
difference would tell it. What the release shows about who asked is for the publisher alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FEWEST = 5
"""Counts of fewer are withheld; it is also the width of the ranges in which the administrator sees counts."""
WITHHELD = f"counts that concern fewer than {FEWEST} owners, or all but fewer, are withheld"
PRIVATE = frozenset({"owners who block and are not in the result"})
"""What is for the publisher alone."""
ALWAYS = ("rows", "classes", "smallest class", "smallest number of candidates", "suppressed")
"""Facts about the file that say nothing about choices."""
TOTALS = ("blocked rows", "raised", "joined", "exchanged", "untrue rows", "blanked cells", "left out")
"""Facts that follow from how many blocked something."""


def public(report: Mapping[str, Any]) -> dict[str, Any]:
    """The edition of a report that everybody may read; a number that is withheld is None."""
    everybody = report["owners"]
    blocks = [_block(block, everybody) for block in report["blocks"]]
    totals = _many(report["owners who block"], everybody) and all(block["owners"] is not None for block in blocks)
    measured = {name: _measured(measures, totals) for name, measures in report["measured"].items()}
    return {
        **{name: value for name, value in report.items() if name not in PRIVATE},
        "edition": "public",
        "blocks": blocks,
        "owners who block": report["owners who block"] if totals else None,
        "rows marked": report["rows marked"] if totals else None,
        "facts": _facts(report["facts"], totals),
        "measured": measured,
        "withheld": "" if totals else WITHHELD,
    }


def _many(n: int, everybody: int) -> bool:
    return FEWEST <= n <= everybody - FEWEST


def _block(block: Mapping[str, Any], everybody: int) -> dict[str, Any]:
    if _many(block["owners"], everybody):
        return dict(block)
    return {**block, "owners": None, "rows": None, "rows whose X it decides": None}


def _facts(facts: Mapping[str, Any], totals: bool) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name in ALWAYS or (totals and name in TOTALS)}


def _measured(measures: Mapping[str, Any], totals: bool) -> dict[str, Any]:
    """The measures of one rule: of the groups of owners only when their sizes are shown."""
    groups = {
        name: {group: value for group, value in measures[name].items() if totals or group == "all"}
        for name in ("losses", "p_reid")
        if name in measures
    }
    return {**measures, **groups, "facts": _facts(measures["facts"], totals)}
