"""Measure the losses between two tables and the attacks that use both: ``celosia.compare``."""

from __future__ import annotations

from typing import Literal

from celosia.data.schema import Schema
from celosia.errors import explain_failures
from celosia.parts import Loss, Threat, build_all
from celosia.release.assess import PartsLike
from celosia.release.evidence.findings import Comparison, measure_loss, measure_threat
from celosia.release.policy.feasibility import refuse_beyond
from celosia.table import Table, read
from celosia.table.pairing import by_index, pair, warn_of_positions


@explain_failures()
def compare(
    original: object,
    protected: object,
    losses: PartsLike[Loss] = ("altered-records", "discernibility"),
    risks: PartsLike[Threat] = (),
    *,
    schema: Schema | None = None,
    key: str | None = None,
    by: Literal["position"] | None = None,
) -> Comparison:
    """Measure losses, and attacks that use both tables. A finding that does not apply has a reason instead of a value.

    Each is a table, or a frame or file; ``schema`` describes both. ``key`` names a column of both that identifies a
    record; no loss and no attack uses it. ``by="position"`` states that both files have the same row order. Frames
    are paired by the index of pandas, or else by position. Pairing by position is refused if the unchanged columns
    show that one table was shuffled.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> [finding.value for finding in compare(table, table).losses]
    [0.0, 4.0]
    """
    built_losses = build_all("loss", losses)
    built_risks = build_all("risk or attack", risks)
    before, after = read_pair(original, protected, schema)
    refuse_beyond(before, [*built_losses, *built_risks])
    before, after = pair(before, after, key=key, by=by)
    comparison = Comparison(
        before,
        after,
        tuple(measure_loss(loss, before, after) for loss in built_losses),
        tuple(measure_threat(risk, before, after) for risk in built_risks),
    )
    warn_of_positions(before, after)
    return comparison


def read_pair(original: object, protected: object, schema: Schema | None = None) -> tuple[Table, Table]:
    """Read an original and its protected table; the schema applies to the columns that each of them has."""
    first = read(original, schema)
    if isinstance(protected, Table):
        return first, protected
    bare = read(protected)
    own = first.schema.keep(bare.names).loose()
    return first, by_index(first, bare.with_schema(own))
