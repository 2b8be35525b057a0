"""What a request would do, before it is answered: nothing is written, no trace is left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celosia.consent.protection.measures import losses
from celosia.consent.protection.protection import honour
from celosia.consent.publication.request import Publication, Request, activations, publish
from celosia.streams import Stream

if TYPE_CHECKING:
    import polars as pl

    from celosia.consent.owners.store import Preferences
    from celosia.consent.rules.rules import Catalogue


def outlook(request: Request, source: str | pl.DataFrame, catalogue: Catalogue, store: Preferences) -> dict[str, Any]:
    """What fired, whose wishes apply, which rows change and how large classes become, beside the two rules without
    preferences. Whatever would stop the publication stops this, with the same sentence.
    """
    cache = activations(request, source, catalogue)
    publication = publish(replace(request, measure=False), source, catalogue, store, cache=cache, noted=False)
    report = publication.report
    return {
        "rules": [(match.sentence(), match.active) for match in publication.matches],
        "blocks": [(block["inference"], block["owners"], block["rows"], block["X"]) for block in report["blocks"]],
        "rows": report["rows"],
        "owners": report["owners"],
        "owners who block": report["owners who block"],
        "columns": report["columns"],
        "wanted": request.design.k + max((block["X"] for block in report["blocks"]), default=0),
        "effects": _effects(publication),
        "guard": report["guard"],
        "missing": report["owners who block and are not in the result"],
    }


def _effects(publication: Publication) -> list[dict[str, Any]]:
    """For the rule, for k without preferences and for k + X without: altered rows, smallest class, suppressed rows."""
    table, design, marks = publication.original, publication.request.design, publication.marks
    columns = design.tree or table.schema.quasi
    out = []
    for rule in dict.fromkeys((design.rule, "standard", "control")):
        own = rule == design.rule
        protected = (
            publication.protected
            if own
            else honour(table, marks.extra, replace(design, rule=rule, strengthen=()), Stream(0))
        )
        facts: dict[str, Any] = {"rule": rule, "smallest class": protected.evidence["smallest class"]}
        facts["suppressed"] = protected.evidence["suppressed"]
        if len(protected.table) == len(table):  # not where rows were left out
            facts["altered"] = losses(table, protected, marks.blocked, columns)["all"]["altered"]
        out.append(facts)
    return out
