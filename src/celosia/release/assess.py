"""Measure requirements and risks on one table: ``celosia.assess``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from celosia.data.schema import Schema
from celosia.errors import explain_failures
from celosia.parts import Model, Part, Risk, Threat, build_all
from celosia.proposals import schema_of, suggest
from celosia.release.evidence import history
from celosia.release.evidence.findings import Assessment, Finding, measure_model, measure_threat
from celosia.release.plan import check_columns
from celosia.release.policy.feasibility import refuse_beyond
from celosia.table import Table, read_protected
from celosia.views.spellings import warn_spellings

P = TypeVar("P", bound=Part)
PartsLike: TypeAlias = Sequence[P | str | Mapping[str, Any]] | P | str | Mapping[str, Any]
"""Parts in every accepted notation: a single one, or several."""


@explain_failures()
def assess(
    table: object,
    models: PartsLike[Model] = (),
    risks: PartsLike[Threat] = ("prosecutor",),
    *,
    schema: Schema | None = None,
    guessed: bool = False,
    against: Sequence[object] = (),
) -> Assessment:
    """Measure requirements and risks on a table, or on a frame or file under a schema.

    ``models`` and ``risks`` are lists of parts, or a single one. Without a schema the roles of a frame or a file are
    guessed (:func:`celosia.suggest`); then no requirement counts as met.

    ``against`` names earlier releases about the same people (certificates, files, frames, tables). The attacks on
    several releases then measure what the table and they disclose together; the intruder knows the quasi-identifiers
    of the table's input.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> assess(table, ["k-anonymity(k=2)"]).holds
    True
    """
    if schema is None and not isinstance(table, Table):
        schema, guessed = schema_of(suggest(table)), True
    table, built = read_protected(table, schema), build_all("model", models)
    if not guessed:
        warn_undeclared(table, built)
    return assess_table(table, built, risks, guessed=guessed, against=against)


def assess_table(
    table: Table,
    models: PartsLike[Model] = (),
    risks: PartsLike[Threat] = ("prosecutor",),
    *,
    guessed: bool = False,
    against: Sequence[object] = (),
) -> Assessment:
    """Measure requirements and risks on a table whose columns without a role are left out when it is released."""
    warn_repeated(table)
    built_models = build_all("model", models)
    built_risks = build_all("risk or attack", risks)
    check_columns(table, [*built_models, *built_risks])
    refuse_beyond(table, [*built_models, *built_risks])
    # models that count sensitive values first, because the class sizes follow from their histogram
    order = sorted(range(len(built_models)), key=lambda i: not built_models[i].counted_columns())
    measured = {i: measure_model(built_models[i], table) for i in order}
    counted = [name for model in built_models for name in model.counted_columns()]
    # after the models: it uses their counts
    warn_spellings(table, [name for each in dict.fromkeys(counted) for name in table.schema.need_sensitive(each)])
    return Assessment(
        table,
        tuple(measured[i] for i in range(len(built_models))),
        (
            *(measure_threat(risk, table, table) for risk in built_risks if isinstance(risk, Risk)),
            *_measure_history(table, against, built_models),
        ),
        guessed,
    )


def _measure_history(table: Table, earlier: Sequence[object], models: Sequence[Model]) -> tuple[Finding, ...]:
    return (
        history.measure_together(table.first, table, earlier, history.fewest_remaining(None, models)) if earlier else ()
    )


def warn_undeclared(table: Table, models: Sequence[Model]) -> None:
    """Warn if the table has columns without a role, which no requirement counts."""
    undeclared = [name for name in table.names if not table.schema[name].declared]
    if models and undeclared:
        few = ", ".join(map(repr, undeclared[:5])) + (", …" if len(undeclared) > 5 else "")
        warnings.warn(
            f"{len(undeclared)} columns have no role ({few}): the requirements do not count them. Declare them, or "
            "leave them out of the publication.",
            stacklevel=4,
        )


def warn_repeated(table: Table) -> None:
    """Warn if identifiers repeat and no person column is declared: counts are then of rows, not persons.

    The identifier with the most values decides: people share names, but not numbers.
    """
    if table.schema.person or not table.schema.identifiers:
        return
    counts = {name: table.rows.count_distinct(name) for name in table.schema.identifiers}
    name = max(counts, key=lambda identifier: counts[identifier])
    repeated = len(table) - counts[name]
    if repeated > 0:
        warnings.warn(
            f"identifier {name!r} repeats on {repeated} rows and no person column is declared: "
            "class sizes count rows, not persons. Declare `person` if a person has several rows.",
            stacklevel=5,
        )
