"""Check the claims of a certificate one by one: compute each again from the released file, where that is possible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from celosia.classes import STAR
from celosia.data.schema import Missing, Schema
from celosia.errors import CelosiaError, NotApplicable
from celosia.parts import (
    BoundedByRows,
    ComparesWithInput,
    Model,
    Risk,
    build,
    find,
    grammar,
    meets,
    private_fields,
    search_hints,
)
from celosia.release.evidence.certificate import CertificateDraft, Claim, Counted, Requirement
from celosia.release.evidence.plain_data import plain
from celosia.release.verify.verification import Check
from celosia.table import Table, read
from celosia.table.columns import count_values

TOLERANCE = 1e-9
LOOSER = 1e-6
"""Tolerance of the further numbers of a claim: some are fitted, and sums depend on the order of the records."""
Need = Literal["file", "persons", "original", "withheld"]


def check_requirement(claim: Requirement, table: Table, counted: Counted) -> Check:
    """Measure a requirement again, or return why that is not possible."""
    counted = _unit_in_file(counted, table)
    unknown = not_buildable_because("model", claim)
    if unknown:
        return Check(claim.part, claim.value, None, None, unknown)
    model: Model = build("model", claim.part)
    reason = _needs_more_because(counted, table, compares=isinstance(model, ComparesWithInput))
    if not reason:
        verdict = model.verdict(table)
        check = _compare_value(claim, verdict.value)
        return check if verdict.holds == claim.holds else replace(check, passed=False)
    if isinstance(model, ComparesWithInput) and _agrees(claim, model, table):
        # the published input distribution is the publisher's word: a file of one value agrees with itself
        note = f"{reason}; agrees if the release has the distribution of its input"
        return Check(claim.part, claim.value, claim.value, None, note)
    value = claim.number
    if isinstance(model, ComparesWithInput) and value is None:
        return Check(claim.part, None, None, None, "the number is withheld: needs the private record and the original")
    if claim.holds and (value is None or not meets(model, value)):
        return Check(claim.part, claim.value, None, False, "the stated value does not meet the requirement")
    if claim.holds and not isinstance(model, ComparesWithInput) and _too_small(model, counted, table):
        return Check(claim.part, claim.value, None, False, "a class has too few rows for that")
    return _check_bound(claim, model, counted, table, reason)


def check_missing(claims: Sequence[Requirement], table: Table) -> list[Check]:
    """List the met requirements that do not hold where a missing value counts as a value of its own.

    That a missing value may be any value is a statement of the publisher: the cells of the others are unique all the
    same.
    """
    schema = table.schema
    names = [name for name in schema.quasi if schema[name].missing != Missing.CATEGORY]
    for name in names:
        schema = schema.change(name, missing=Missing.CATEGORY)
    plain_table = table.with_schema(schema)
    failing = [claim.part for claim in claims if names and not build("model", claim.part).verdict(plain_table).holds]
    note = f"these hold only because a missing value counts as any value: {', '.join(failing)}"
    return [Check(f"missing values of {', '.join(names)}", "any value", None, None, note)] if failing else []


def _agrees(claim: Requirement, model: Model, table: Table) -> bool:
    """Return whether a distance from the input is the stated one if the release itself is taken for the input.

    A different distance proves nothing.
    """
    try:
        verdict = model.verdict(table)
    except CelosiaError:  # it needs what the schema of the input had: a hierarchy, an order
        return False
    return verdict.holds == claim.holds and _close(claim.number, verdict.value)


def check_risk(claim: Claim, table: Table, counted: Counted) -> Check:
    """Measure a risk again, or return why that is not possible."""
    counted = _unit_in_file(counted, table)
    unknown = not_buildable_because("risk", claim)
    if claim.value is None or unknown:
        return Check(claim.part, claim.value, None, None, unknown or "was not measured")
    risk: Risk = build("risk", claim.part)
    reason = _needs_more_because(counted, table)
    if reason:
        return _check_bound(claim, risk, counted, table, reason)
    try:
        return _compare_evidence(claim, risk.evidence(table))
    except NotApplicable:
        reason = "needs a column that was not released, such as the household: needs the original"
        return Check(claim.part, claim.value, None, None, reason)


def parts_by_need(stated: CertificateDraft) -> dict[Need, list[str]]:
    """Group the parts of a certificate by what :func:`verify` needs to compute them again.

    That is the ``file`` alone, the ``persons`` of the private record, the ``original``, or ``withheld`` parameters.
    """
    groups: dict[Need, list[str]] = {"file": [], "persons": [], "original": [], "withheld": []}
    claims: list[tuple[Need, Claim]] = [(_need("model", claim, stated), claim) for claim in stated.requirements]
    claims += [(_need("risk", claim, stated), claim) for claim in stated.risks if claim.value is not None]
    claims += [("original", claim) for claim in (*stated.losses, *stated.attacks)]
    for need, claim in claims:
        groups[need].append(grammar.part(claim.part)["use"])
    return {need: list(dict.fromkeys(parts)) for need, parts in groups.items()}


def _need(kind: str, claim: Claim, stated: CertificateDraft) -> Need:
    counted = claim.counted or stated.counted
    if not_buildable_because(kind, claim):
        return "withheld"
    if counted == "candidates" or (kind == "model" and isinstance(build("model", claim.part), ComparesWithInput)):
        return "original"
    return "persons" if counted == "persons" and stated.roles.person is None else "file"


def not_buildable_because(kind: str, claim: Claim) -> str:
    """Return why a part cannot be built from its claim: a parameter is withheld, or names data of the publisher."""
    given = grammar.part(claim.part)
    private = private_fields(find(kind, given["use"]))
    withheld = [name for name in private if name in claim.withheld]
    named = [name for name in private if name in given]
    if withheld:
        return f"the certificate withholds {', '.join(withheld)}: needs the private record"
    return f"{', '.join(named)} names data: nothing that a certificate names is opened" if named else ""


def _unit_in_file(counted: Counted, table: Table) -> Counted:
    """Return the unit of class sizes in this file: without a blanked cell the candidates are the equal records."""
    blanked = any(
        counts[name].is_null().any() or (counts[name].cast(str) == STAR).any()
        for name in table.schema.quasi
        for counts in (count_values(table, name),)
    )
    return "records" if counted == "candidates" and not blanked else counted


def _smallest_candidate_count(table: Table) -> int:
    """Return the smallest number of records that a record could be, whatever value a blanked cell had."""
    import polars as pl

    quasi = list(table.schema.quasi)
    blanked = table.polars().with_columns(
        pl.when(pl.col(name).cast(pl.String) == STAR).then(None).otherwise(pl.col(name)).alias(name) for name in quasi
    )
    schema = Schema.of(quasi=quasi, missing=dict.fromkeys(quasi, "wildcard"))
    return int(read(blanked.select(quasi), schema).frequencies().min())


def _needs_more_because(counted: Counted, table: Table, *, compares: bool = False) -> str:
    """Return why a number cannot be computed from the file alone; empty if it can."""
    if compares:
        return "compares with the input table: needs the original"
    if counted == "persons" and table.schema.person is None:
        return "counts persons, which the file does not show: needs the private record"
    if counted == "candidates":
        return "counts who could be behind a blanked cell: needs the original"
    return ""


def _too_small(model: Model, counted: Counted, table: Table) -> bool:
    """Return whether classes that meet the model need more persons than the file has rows in them.

    For candidates the bound is the smallest number of records that a record could be.
    """
    classes = table.class_counts(model.counted_columns())
    most = _smallest_candidate_count(table) if counted == "candidates" else classes.size.min(initial=len(table))
    return bool(most < search_hints(model).smallest_size_in(classes))


def _check_bound(claim: Claim, part: Model | Risk, counted: Counted, table: Table, reason: str) -> Check:
    """Check a number that counts persons against the number that counts rows, since a person has at least one row."""
    side = part.rows_bound if isinstance(part, BoundedByRows) and counted == "persons" else None
    value = claim.number
    if side is None or value is None:
        return Check(claim.part, claim.value, None, None, reason)
    limit = part.value(table)
    slack = TOLERANCE * max(1.0, abs(limit))
    possible = value <= limit + slack if side == "at most" else value >= limit - slack
    if possible:
        return Check(claim.part, claim.value, f"{side} {limit:g}", None, f"{reason}; rows allow it")
    return Check(claim.part, claim.value, plain(limit), False, f"{reason}; rows allow {side} this")


def _compare_value(claim: Claim, computed: float) -> Check:
    return Check(claim.part, claim.value, plain(computed), _close(claim.number, computed))


def _compare_evidence(claim: Claim, measured: Mapping[str, Any]) -> Check:
    """Compare a number with all its further numbers: averages, counts, shares above a threshold."""
    check = _compare_value(claim, measured["value"])
    computed, stated = plain(measured), claim.evidence
    differing = [name for name in stated if not are_equal(stated[name], computed.get(name))]
    return replace(check, passed=False, note=f"other {', '.join(differing)}") if differing else check


def are_equal(stated: object, computed: object) -> bool:
    """Return whether two values of plain data agree, numbers within the tolerance."""
    if isinstance(stated, dict) and isinstance(computed, dict):
        return stated.keys() == computed.keys() and all(
            are_equal(value, computed[key]) for key, value in stated.items()
        )
    if isinstance(stated, list) and isinstance(computed, list):
        return len(stated) == len(computed) and all(map(are_equal, stated, computed))
    if isinstance(stated, int | float) and isinstance(computed, int | float):
        return _close(float(stated), float(computed), LOOSER)
    return bool(stated == computed)


def _close(stated: float | None, computed: float | None, tolerance: float = TOLERANCE) -> bool:
    if stated is None or computed is None:
        return False
    if not (math.isfinite(stated) and math.isfinite(computed)):
        return stated == computed
    return abs(stated - computed) <= tolerance * max(1.0, abs(stated))


def claims_agree(stated: Sequence[Claim], repeated: Sequence[Claim]) -> bool:
    """Return whether two lists of claims state the same parts, numbers and verdicts."""
    return len(stated) == len(repeated) and all(map(_claim_agrees, stated, repeated))


def _claim_agrees(stated: Claim, repeated: Claim) -> bool:
    verdicts = [claim.holds if isinstance(claim, Requirement) else None for claim in (stated, repeated)]
    return (
        stated.part == repeated.part
        and verdicts[0] == verdicts[1]
        and are_equal(stated.evidence, repeated.evidence)
        and (stated.value == repeated.value or _close(stated.number, repeated.number))
    )
