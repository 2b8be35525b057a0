"""What a request would do, before it is answered. The choices of data subjects are not read: it shows none of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.consent.protection.marks import resolved
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


def outlook(request: Request, source: str | pl.DataFrame, catalogue: Catalogue, store: Preferences) -> dict[str, Any]:
    """Return which inferences fire, and the cost of k and of k + X for everybody, between which the rule lies.

    A number that depended on the choices of data subjects would show the choice of one of them to an asker who varies
    the query. Every look is a line of the audit trail.
    """
    store.note("look", "publisher", query_digest(request, source))
    request = native_request(request, source)
    refuse_unanswerable(request, source, catalogue, store)
    query, matches = activations(request, source, catalogue).of(request.sql, request.dialect or dialect_of(source))
    frame, owner, matches = run_query(request, source, catalogue, query, matches)
    owners = resolved(frame, owner, store, request.key)
    table = requested_table(request, frame, owners, owner)
    fired = [(inference, catalogue[inference].extra) for inference in active(matches)]
    most = max((x for _, x in fired), default=0)
    everybody = np.full(len(table), most, np.int64)
    columns = request.design.tree or table.schema.quasi
    plain = replace(request.design, strengthen=(), camouflage=0.0)
    protected = {
        rule: honour(table, everybody, replace(plain, rule=rule), Stream(0)) for rule in ("standard", "control")
    }
    leaving = select_output(
        table,
        protected["standard"].table,
        (),
        keeping="acknowledge",
        acknowledge=request.acknowledge,
        changed=table.schema.quasi,
    )

    def effect(done: Protected) -> dict[str, Any]:
        altered = losses(table, done, everybody > 0, columns)["all"]["altered"]
        facts = {name: done.evidence[name] for name in ("smallest class", "suppressed")}
        return {"rule": done.design.rule, "altered": altered, **facts}

    return {
        "rules": [(match.sentence(), match.active) for match in matches],
        "blocks": fired,
        "rows": len(table),
        "owners": int(owners.drop_nulls().n_unique()),
        "columns": list(leaving.table.names) if hasattr(leaving, "table") else list(table.names),
        "wanted": request.design.k + most,
        "effects": [effect(done) for done in protected.values()],
        "guard": [sighting.entry().spec() for sighting in leaving.sightings],
    }
