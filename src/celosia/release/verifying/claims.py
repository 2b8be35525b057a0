"""The claims of a certificate one by one: what it takes to compute each again, and whether it comes out the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from celosia.classes import STAR
from celosia.data.schema import Schema
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
from celosia.release.evidence import evidence
from celosia.release.verifying.verification import Check
from celosia.table import Table, read

TOLERANCE = 1e-9
LOOSER = 1e-6
"""The tolerance of what belongs to a number: some of it is fitted, and sums depend on the order of the records."""


def requirement_checked(claim: dict[str, Any], table: Table, counted: str) -> Check:
    """A requirement, measured again, or why that cannot be."""
    counted = _counted_here(counted, table)
    unknown = hidden("model", claim)
    if unknown:
        return Check(claim["part"], claim["value"], None, None, unknown)
    model: Model = build("model", claim["part"])
    reason = _needs_original(counted, table, compares=isinstance(model, ComparesWithInput))
    if not reason:
        verdict = model.verdict(table)
        check = _compared(claim, verdict.value)
        return check if verdict.holds == claim["holds"] else replace(check, passed=False)
    if isinstance(model, ComparesWithInput) and _agrees(claim, model, table):
        # the published input distribution is the publisher's word: a file of one value agrees with itself
        note = f"{reason}; agrees if the release has the distribution of its input"
        return Check(claim["part"], claim["value"], claim["value"], None, note)
    value = _as_float(claim["value"])
    if isinstance(model, ComparesWithInput) and value is None:
        return Check(
            claim["part"], None, None, None, "the number is withheld: needs the private record and the original"
        )
    if claim["holds"] and (value is None or not meets(model, value)):
        return Check(claim["part"], claim["value"], None, False, "the stated value does not meet the requirement")
    if claim["holds"] and not isinstance(model, ComparesWithInput) and _too_small(model, counted, table):
        return Check(claim["part"], claim["value"], None, False, "a class has too few rows for that")
    return _bounded(claim, model, counted, table, reason)


def _agrees(claim: dict[str, Any], model: Model, table: Table) -> bool:
    """Whether a distance from the input is the stated one when the release is taken for it; another proves nothing."""
    try:
        verdict = model.verdict(table)
    except CelosiaError:  # it needs what the schema of the input had: a hierarchy, an order
        return False
    return verdict.holds == claim["holds"] and _close(_as_float(claim["value"]), verdict.value)


def risk_checked(claim: dict[str, Any], table: Table, counted: str) -> Check:
    """A risk, measured again, or why that cannot be."""
    counted = _counted_here(counted, table)
    unknown = hidden("risk", claim)
    if claim["value"] is None or unknown:
        return Check(claim["part"], claim["value"], None, None, unknown or "was not measured")
    risk: Risk = build("risk", claim["part"])
    reason = _needs_original(counted, table)
    if reason:
        return _bounded(claim, risk, counted, table, reason)
    try:
        return _compared_in_full(claim, risk.evidence(table))
    except NotApplicable:
        reason = "needs a column that was not released, such as the household: needs the original"
        return Check(claim["part"], claim["value"], None, None, reason)


def outlook(stated: Mapping[str, Any]) -> dict[str, list[str]]:
    """The parts of a certificate by what it takes to compute them again, as :func:`verify` does.

    The ``file`` alone, the ``persons`` of the private record, the ``original``, or parameters that are ``withheld``.
    """
    by_need: dict[str, list[str]] = {"file": [], "persons": [], "original": [], "withheld": []}
    for kind, section in (("model", "requirements"), ("risk", "risks")):
        for claim in stated[section]:
            if claim["value"] is not None or kind == "model":
                by_need[_takes(kind, claim, stated)].append(grammar.part(claim["part"])["use"])
    for section in ("losses", "attacks"):
        by_need["original"] += [grammar.part(claim["part"])["use"] for claim in stated.get(section, [])]
    return {what: list(dict.fromkeys(parts)) for what, parts in by_need.items()}


def _takes(kind: str, claim: dict[str, Any], stated: Mapping[str, Any]) -> str:
    counted = claim.get("counted") or stated["counted"]
    if hidden(kind, claim):
        return "withheld"
    if counted == "candidates" or (kind == "model" and isinstance(build("model", claim["part"]), ComparesWithInput)):
        return "original"
    return "persons" if counted == "persons" and "person" not in stated["schema"] else "file"


def hidden(kind: str, claim: dict[str, Any]) -> str:
    """Why a part cannot be built from what is stated: a parameter is withheld, or names data of the publisher."""
    given = grammar.part(claim["part"])
    private = private_fields(find(kind, given["use"]))
    withheld = [name for name in private if name in claim.get("withheld", ())]
    named = [name for name in private if name in given]
    if withheld:
        return f"the certificate withholds {', '.join(withheld)}: needs the private record"
    return f"{', '.join(named)} names data: nothing that a certificate names is opened" if named else ""


def _counted_here(counted: str, table: Table) -> str:
    """What sizes count in this file: without a blanked cell there are no other candidates than the equal records."""
    blanked = any(
        counts[name].is_null().any() or (counts[name].cast(str) == STAR).any()
        for name in table.schema.quasi
        for counts in (table.tally(name),)
    )
    return "records" if counted == "candidates" and not blanked else counted


def _most_candidates(table: Table) -> int:
    """The fewest records that a record of the file could be, whatever stands in blanked cells."""
    import polars as pl

    quasi = list(table.schema.quasi)
    blanked = table.polars().with_columns(
        pl.when(pl.col(name).cast(pl.String) == STAR).then(None).otherwise(pl.col(name)).alias(name) for name in quasi
    )
    schema = Schema.of(quasi=quasi, missing=dict.fromkeys(quasi, "wildcard"))
    return int(read(blanked.select(quasi), schema).frequencies().min())


def _needs_original(counted: str, table: Table, *, compares: bool = False) -> str:
    """Why a number cannot be computed from the file alone."""
    if compares:
        return "compares with the input table: needs the original"
    if counted == "persons" and table.schema.person is None:
        return "counts persons, which the file does not tell: needs the private record"
    if counted == "candidates":
        return "counts who could be behind a blanked cell: needs the original"
    return ""


def _too_small(model: Model, counted: str, table: Table) -> bool:
    """Whether classes that hold would need more persons than the file has rows in them (or candidates than in all)."""
    classes = table.class_counts(model.counted_columns())
    most = _most_candidates(table) if counted == "candidates" else classes.size.min(initial=len(table))
    return bool(most < search_hints(model).smallest_size_in(classes))


def _bounded(claim: dict[str, Any], part: Model | Risk, counted: str, table: Table, reason: str) -> Check:
    """A number that counts persons lies on one side of the number that counts rows: nobody has less than one row."""
    side = part.rows_bound if isinstance(part, BoundedByRows) and counted == "persons" else None
    value = _as_float(claim["value"])
    if side is None or value is None:
        return Check(claim["part"], claim["value"], None, None, reason)
    limit = part.value(table)
    slack = TOLERANCE * max(1.0, abs(limit))
    possible = value <= limit + slack if side == "at most" else value >= limit - slack
    if possible:
        return Check(claim["part"], claim["value"], f"{side} {limit:g}", None, f"{reason}; rows allow it")
    return Check(claim["part"], claim["value"], evidence.plain(limit), False, f"{reason}; rows say {side} this")


def _as_float(value: Any) -> float | None:
    return None if value is None else float(value)


def _compared(claim: dict[str, Any], computed: float) -> Check:
    return Check(claim["part"], claim["value"], evidence.plain(computed), _close(_as_float(claim["value"]), computed))


def _compared_in_full(claim: dict[str, Any], evidence_found: Mapping[str, Any]) -> Check:
    """A number with all that belongs to it: averages, counts, shares above a threshold."""
    check = _compared(claim, evidence_found["value"])
    computed, stated = evidence.plain(evidence_found), claim.get("evidence", {})
    differing = [name for name in stated if not same(stated[name], computed.get(name))]
    return replace(check, passed=False, note=f"other {', '.join(differing)}") if differing else check


def same(stated: Any, computed: Any) -> bool:
    """Whether two plain values agree, numbers within the tolerance."""
    if isinstance(stated, dict) and isinstance(computed, dict):
        return stated.keys() == computed.keys() and all(same(value, computed[key]) for key, value in stated.items())
    if isinstance(stated, list) and isinstance(computed, list):
        return len(stated) == len(computed) and all(map(same, stated, computed))
    if isinstance(stated, int | float) and isinstance(computed, int | float):
        return _close(float(stated), float(computed), LOOSER)
    return bool(stated == computed)


def _close(stated: float | None, computed: float | None, tolerance: float = TOLERANCE) -> bool:
    if stated is None or computed is None:
        return False
    if not (math.isfinite(stated) and math.isfinite(computed)):
        return stated == computed
    return abs(stated - computed) <= tolerance * max(1.0, abs(stated))


def alike(claims: list[dict[str, Any]] | None, again: list[dict[str, Any]] | None) -> bool:
    """Whether two lists of findings state the same parts, numbers and verdicts."""
    if claims is None or again is None or len(claims) != len(again):
        return claims == again
    return all(
        before["part"] == after["part"]
        and before.get("holds") == after.get("holds")
        and same(before.get("evidence", {}), after.get("evidence", {}))
        and (before["value"] == after["value"] or _close(_as_float(before["value"]), _as_float(after["value"])))
        for before, after in zip(claims, again, strict=True)
    )
