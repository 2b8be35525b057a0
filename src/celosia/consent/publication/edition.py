"""Public report, without exact numbers that depend on the choices of data subjects or on the original.

Two exact counts of publications that differ by one person disclose the choice of that person, and so can two ranges. An
exact number measured against the original is an equation from which blank cells can be computed. Both are for the
publisher only; shares that the release was measured with are published on the coarse grid of any other release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celosia.release.evidence.public import Disclosure

if TYPE_CHECKING:
    from celosia.consent.publication.request import Publication

FEWEST = 5
"""Width of the ranges in which the administrator sees counts."""
WITHHELD = (
    "how many data subjects block an inference, and what follows from it; exact numbers measured against the original"
)
PRIVATE = frozenset({"owners who block and are not in the result"})
"""Entries for the publisher only."""
ALWAYS = ("rows", "classes", "smallest class", "suppressed")
"""Facts that the released file shows itself."""


def public_report(publication: Publication) -> dict[str, object]:
    """Return the public edition of the report of a publication."""
    if "exclude" in publication.request.design.strengthen:  # the rows of the release have no partner in the original
        return public(publication.report, Disclosure(0, 0))
    return public(publication.report, Disclosure.between(publication.original, publication.protected.table))


def public(report: Mapping[str, Any], disclosure: Disclosure) -> dict[str, object]:
    """Return the public edition of a report, with None for withheld numbers."""
    counts = dict.fromkeys(("owners", "rows", "rows whose X it decides"))
    # without the rows of blocking owners, any number over all rows discloses how many they are
    excluded = "exclude" in report["method"]["strengthen"]
    whole: dict[str, object] = {"owners": None, "rows without an owner": None} if excluded else {}
    rule = report["method"]["rule"]
    shown = rule in report["measured"] and disclosure.step is not None and not excluded
    return {
        **{name: value for name, value in report.items() if name not in PRIVATE},
        "edition": "public",
        "blocks": [{k: v for k, v in {**block, **counts}.items() if k != "kept"} for block in report["blocks"]],
        "owners who block": None,
        "rows marked": None,
        "facts": {name: value for name, value in report["facts"].items() if name in ALWAYS},
        "before": {},  # other tables than the release, measured against the same original, are further equations
        "measured": {rule: _round_shares(report["measured"][rule], disclosure)} if shown else {},
        "withheld": WITHHELD,
        **whole,
    }


def _round_shares(measures: Mapping[str, Any], disclosure: Disclosure) -> dict[str, object]:
    """Return the losses and the risk over all records, as rounded shares."""
    losses = {name: disclosure.share(value) for name, value in measures["losses"]["all"].items()}
    shares = measures.get("p_reid", {}).get("all")
    risk = {"p_reid": {"all": {"value": disclosure.share(shares["value"])}}} if shares else {}
    return {"losses": {"all": losses}, **risk}
