"""``celosia assess`` and ``celosia compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia.cli.show import print_assessment, print_comparison, print_json
from celosia.data.schema import Schema
from celosia.release.policy import MEASURED_LOSSES, MEASURED_RISKS, Policy
from celosia.table import Table, read


def open_source(
    source: str, roles: Mapping[str, Any], *, query: str | None = None, engine: str | None = None
) -> tuple[Table, Policy | None]:
    """The table of a file, a database or a policy. Roles on the command line win over those of a policy."""
    given = {name: value for name, value in roles.items() if value}
    if source.endswith(".toml"):
        policy = Policy.load(source)
        return policy.table(Schema.of(**given) if given else None, engine), policy
    return read(source, Schema.of(**given) if given else None, engine=engine, query=query), None


def assess_source(
    source: str,
    *,
    roles: Mapping[str, Any],
    require: Sequence[str],
    risks: Sequence[str],
    query: str | None,
    engine: str | None,
    sql: bool,
    json: bool,
) -> bool:
    """Measure and print; tells whether every requirement holds."""
    from celosia.release.measuring import assess
    from celosia.release.running import check_input

    if sql:
        from celosia.cli.group_by import assess_by_sql

        return assess_by_sql(source, roles, require, query=query, json=json)
    table, policy = open_source(source, roles, query=query, engine=engine)
    guessed = not table.schema.quasi and policy is None
    if guessed:
        table = table.with_schema(guessed_schema(table))
    check_input(table)
    models = require or (policy.require if policy else ())
    assessment = assess(
        table, models, risks or (policy.risks if policy else MEASURED_RISKS), guessed=guessed and bool(models)
    )
    if json:
        print_json({**assessment.spec(), "guessed": guessed})
    else:
        print_assessment(assessment, guessed=guessed)
    return assessment.holds or not models


def guessed_schema(table: Table) -> Schema:
    """Roles proposed from names and content, for a look at a file that nobody has described."""
    from celosia.proposals import schema_of, suggest

    return schema_of(suggest(table.polars()))


def compare_files(
    original: str,
    protected: str,
    *,
    key: str | None,
    roles: Mapping[str, Any],
    losses: Sequence[str],
    risks: Sequence[str],
    html: Path | None,
    json: bool,
) -> None:
    """Compare two files and print the result."""
    from celosia.release.measuring import compare

    before, policy = open_source(original, roles)
    if not before.schema.quasi and policy is None:
        before = before.with_schema(guessed_schema(before))
    after = read(protected)
    after = after.with_schema(before.schema.keep(after.names).loose())
    chosen = losses or (policy.losses if policy else usual_losses(before, after))
    comparison = compare(before, after, chosen, risks or (policy.risks if policy else ()), key=key)
    if html is not None:
        from celosia.release.report import comparison_page

        comparison_page(comparison, html)
    print_json(comparison.spec()) if json else print_comparison(comparison)


def explain_record(
    record: int,
    original: str,
    protected: str,
    *,
    private: Path | None,
    key: str | None,
    roles: Mapping[str, Any],
    risks: Sequence[str],
    limit: float,
    values: bool,
    json: bool,
) -> bool:
    """Explain the risk of one record and print it; tells whether an attack reaches it."""
    from celosia.cli.show import console
    from celosia.errors import InputError
    from celosia.parts import find
    from celosia.release.certificate import load_record
    from celosia.release.evidence import plain, unpack_rows
    from celosia.release.explaining import explain_risk
    from celosia.table.pairing import by_ids, by_key

    if (private is None) == (key is None):
        raise InputError("explain-risk: give the private record of the release (--private) or a key column (--key).")
    before = open_source(original, roles)[0]
    recorded = None if private is None else load_record(private)
    if recorded is not None and private is not None and not before.schema.quasi and recorded.get("policy"):
        before = before.with_schema(Policy.parse(str(recorded["policy"]), private.parent).schema)
    before = before.identified()
    after = read(protected)
    after = after.with_schema(before.schema.keep(after.names).loose())
    if recorded is None:
        paired = by_key(before, after, str(key)).drop([str(key)])  # it pairs the files, nobody knows it
    else:
        made = [s["name"] for s in recorded["steps"] if find("method", s["parameters"]["use"]).rows == "new"]  # type: ignore[attr-defined]
        if made:
            raise InputError(f"explain-risk: step {made[0]!r} made new records, which are nobody's.")
        paired = by_ids(before, after, unpack_rows(recorded["rows"]))
    found = explain_risk(before, paired, record - 1, attacks=risks, limit=limit, values=values)
    print_json(plain(found.spec())) if json else console().print(found)
    return bool(found.reached)


def usual_losses(before: Table, after: Table) -> list[str]:
    """The losses that are measured when none is named: those of classes, and those that suit the columns."""
    from celosia.table.pairing import shared_numbers

    numbers = ["scaled-error", "probabilistic-loss", "absolute-error(on=correlation)"]
    return [*MEASURED_LOSSES, "hellinger", "entropy-loss", *(numbers if shared_numbers(before, after) else [])]
