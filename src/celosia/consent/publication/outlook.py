"""Preview of a request before it is answered, which reads no choices of data subjects and so discloses none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.consent.protection.marks import row_owners
from celosia.consent.protection.measures import losses
from celosia.consent.protection.protection import Protected, honour
from celosia.consent.publication.request import (
    Request,
    activations,
    native_request,
    query_digest,
    refuse_unanswerable,
    requested_table,
    run_query,
)
from celosia.consent.publication.result import dialect_of
from celosia.consent.rules.matches import active
from celosia.release.output.columns import select_output
from celosia.streams import Stream

if TYPE_CHECKING:
    import polars as pl

    from celosia.consent.owners.store import Preferences
    from celosia.consent.rules.rules import Catalogue


def outlook(
    request: Request, source: str | pl.DataFrame, catalogue: Catalogue, store: Preferences
) -> dict[str, object]:
    """Return the active inferences, and the loss for k and k + X for everybody as bounds of that of the rule.

    A number that depended on choices would disclose one to a user who varies the query. Every preview is noted in the
    audit trail.
    """
    store.note("look", "publisher", query_digest(request, source))
    request = native_request(request, source)
    refuse_unanswerable(request, source, catalogue, store)
    query, matches = activations(request, source, catalogue).of(request.sql, request.dialect or dialect_of(source))
    frame, owner, matches = run_query(request, source, catalogue, query, matches)
    owners = row_owners(frame, owner, store, request.key)
    table = requested_table(request, frame, owners, owner)
    active_inferences = [(inference, catalogue[inference].extra) for inference in active(matches)]
    largest = max((x for _, x in active_inferences), default=0)
    everybody = np.full(len(table), largest, np.int64)
    columns = request.design.tree or table.schema.quasi
    base_design = replace(request.design, strengthen=(), camouflage=0.0)
    protected = {
        rule: honour(table, everybody, replace(base_design, rule=rule), Stream(0)) for rule in ("standard", "control")
    }
    output = select_output(
        table,
        protected["standard"].table,
        (),
        keeping="acknowledge",
        acknowledge=request.acknowledge,
        changed=table.schema.quasi,
    )

    def effect(outcome: Protected) -> dict[str, object]:
        altered = losses(table, outcome, everybody > 0, columns)["all"]["altered"]
        facts = {name: outcome.evidence[name] for name in ("smallest class", "suppressed")}
        return {"rule": outcome.design.rule, "altered": altered, **facts}

    return {
        "rules": [(match.sentence(), match.active) for match in matches],
        "blocks": active_inferences,
        "rows": len(table),
        "owners": int(owners.drop_nulls().n_unique()),
        "columns": list(output.table.names) if hasattr(output, "table") else list(table.names),
        "wanted": request.design.k + largest,
        "effects": [effect(outcome) for outcome in protected.values()],
        "guard": [sighting.entry().spec() for sighting in output.sightings],
    }
