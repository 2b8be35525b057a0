"""Measure what was lost between two tables, and what an intruder can still do: ``celosia.compare``."""

from __future__ import annotations

from typing import Any, Literal

from celosia.data.schema import Schema
from celosia.errors import explain_failures
from celosia.parts import Loss, Threat, build_all
from celosia.release.assess import PartsLike
from celosia.release.evidence.findings import Comparison, measure_loss, measure_threat
from celosia.release.policy.feasibility import refuse_beyond
from celosia.table import Table, read
from celosia.table.pairing import by_index, pair


@explain_failures()
def compare(
    original: Any,
    protected: Any,
    losses: PartsLike[Loss] = ("altered-records", "discernibility"),
    risks: PartsLike[Threat] = (),
    *,
    schema: Schema | None = None,
    key: str | None = None,
    by: Literal["position"] | None = None,
) -> Comparison:
    """Measure what was lost, and attacks that use both tables. A measure that does not apply says why.

    Each is a table, or a frame or file; ``schema`` describes both. ``key`` names a column of both that identifies a
    record; it enters no loss and no attack. ``by="position"`` states that both files have the same row order. Frames
    are paired by the index of pandas, or else by position. Rows that are paired by position are refused when the
    unchanged columns show that one table was shuffled.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> [finding.value for finding in compare(table, table).losses]
    [0.0, 4.0]
    """
    built_losses = build_all("loss", losses)
    built_risks = build_all("risk or attack", risks)
    original, protected = opened_pair(original, protected, schema)
    refuse_beyond(original, [*built_losses, *built_risks])
    original, aligned = pair(original, protected, key=key, by=by)
    return Comparison(
        original,
        aligned,
        tuple(measure_loss(loss, original, aligned) for loss in built_losses),
        tuple(measure_threat(risk, original, aligned) for risk in built_risks),
    )


def opened_pair(original: Any, protected: Any, schema: Schema | None = None) -> tuple[Table, Table]:
    """An original and what was made of it as two tables; the protected one has what the schema names of its columns."""
    first = read(original, schema)
    if isinstance(protected, Table):
        return first, protected
    bare = read(protected)
    own = first.schema.keep(bare.names).loose()
    return first, by_index(first, bare.with_schema(own))
