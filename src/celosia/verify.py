"""Recompute what a certificate claims: from the release alone, and with the private record for the rest."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from celosia import release as evidence
from celosia.catalogue import Model, build
from celosia.policy import Policy
from celosia.run import run
from celosia.schema import Schema
from celosia.table import Table, read

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Check:
    """One claim: what is stated, what was found; ``passed`` is None where it cannot be told."""

    claim: str
    stated: Any
    found: Any
    passed: bool | None
    note: str = ""

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        if self.passed is None:
            return f"not checked: {self.note}"
        return "holds" if self.passed else "DOES NOT HOLD"

    def spec(self) -> dict[str, Any]:
        """The check as plain data."""
        return {
            "claim": self.claim,
            "stated": self.stated,
            "found": self.found,
            "passed": self.passed,
            "note": self.note,
        }


def verify(
    certificate: str | Path,
    data: str | Path,
    *,
    record: str | Path | None = None,
    original: str | Path | None = None,
) -> list[Check]:
    """Check a certificate against the released file; with the private record also its commitments.

    With the original as well the run is repeated and must give the same bytes.
    """
    stated = evidence.load_json(certificate, evidence.CERTIFICATE_FORMAT)
    checks = _from_release(stated, Path(data))
    if record is None:
        checks.append(Check("commitments", "keyed hashes", None, None, "needs the private record"))
        return checks
    private = evidence.load_json(record, evidence.RECORD_FORMAT)
    checks += _from_record(stated, private)
    if original is not None:
        checks += _repeated(stated, private, Path(original))
    return checks


def _from_release(stated: dict[str, Any], data: Path) -> list[Check]:
    claims = stated["release"]
    digest = evidence.file_hash(data)
    checks = [Check("SHA-256 of the file", claims["sha256"], digest, digest == claims["sha256"])]
    for other in stated.get("tables", []):
        path = data.with_name(other["file"])
        hashed = evidence.file_hash(path) if path.is_file() else None
        checks.append(Check(f"SHA-256 of {other['file']}", other["sha256"], hashed, hashed == other["sha256"]))
    table = _described(read(data), stated["schema"])
    checks.append(Check("rows", claims["rows"], len(table), len(table) == claims["rows"]))
    columns = list(table.names)
    checks.append(Check("columns", claims["columns"], columns, columns == claims["columns"]))
    if table.schema.quasi:
        found = table.suppressed()
        checks.append(Check("suppressed records", claims["suppressed"], found, found == claims["suppressed"]))
    checks += [_requirement(claim, table, stated["counted"]) for claim in stated["requirements"]]
    checks += [_risk(claim, table, stated["counted"]) for claim in stated["risks"]]
    return checks


def _described(table: Table, spec: dict[str, Any]) -> Table:
    """The released table under the certificate's schema, as far as its columns were released."""
    lists = ("identifiers", "quasi", "sensitive", "insensitive")
    roles: dict[str, Any] = {key: [n for n in spec.get(key, []) if n in table.names] for key in lists}
    singles = {key: spec[key] for key in ("weight", "household", "stratum", "person") if spec.get(key) in table.names}
    missing = {n: m for n, m in spec.get("missing", {}).items() if n in table.names}
    return table.with_schema(Schema.of(**roles, **singles, missing=missing))


def _needs_record(counted: str, table: Table, *, compares: bool = False) -> str:
    if compares:
        return "compares with the input table: needs the original"
    if counted == "persons" and table.schema.person is None:
        return "counts persons, and the person column was not released"
    return ""


def _requirement(claim: dict[str, Any], table: Table, counted: str) -> Check:
    model: Model = build("model", claim["part"])
    reason = _needs_record(counted, table, compares=model.compares)
    if reason:
        return Check(claim["part"], claim["value"], None, None, reason)
    return _compared(claim, model.value(table))


def _risk(claim: dict[str, Any], table: Table, counted: str) -> Check:
    risk = build("risk", claim["part"])
    reason = _needs_record(counted, table)
    if claim["value"] is None or reason:
        return Check(claim["part"], claim["value"], None, None, reason or "was not measured")
    return _compared(claim, risk.value(table))


def _compared(claim: dict[str, Any], found: float) -> Check:
    stated = float(claim["value"])
    same = stated == found or abs(stated - found) <= TOLERANCE * max(1.0, abs(stated))
    return Check(claim["part"], claim["value"], evidence.plain(found), same)


def _from_record(stated: dict[str, Any], private: dict[str, Any]) -> list[Check]:
    key = bytes.fromhex(private["key"])
    content = {k: v for k, v in private.items() if k not in {"key", "certificate"}}
    opened = {
        "input": evidence.commitment(key, str(private["input"]["sha256"]).encode()),
        "policy": evidence.commitment(key, private["policy"].encode()),
        "record": evidence.commitment(key, evidence.canonical(content)),
    }
    commitments = stated["commitments"]
    checks = [
        Check(f"commitment to the {name}", commitments[name], value, value == commitments[name])
        for name, value in opened.items()
    ]
    digest = hashlib.sha256(evidence.canonical(stated)).hexdigest()
    checks.append(Check("certificate of this record", private["certificate"], digest, digest == private["certificate"]))
    return checks


def _repeated(stated: dict[str, Any], private: dict[str, Any], original: Path) -> list[Check]:
    """Run the policy of the record again on the original and compare the bytes."""
    digest = evidence.file_hash(original)
    checks = [Check("SHA-256 of the input", private["input"]["sha256"], digest, digest == private["input"]["sha256"])]
    # ``directory`` of the record's policy is where the original lies, so that hierarchy files are found.
    policy = Policy.parse(private["policy"], original.parent)
    names = [step["name"] for step in private["steps"]]
    kept = tuple(step for step in policy.steps if step.name in names)
    if any(step.method.formal for step in kept):
        return [*checks, Check("repetition", None, None, None, "noise with a formal guarantee cannot be repeated")]
    with tempfile.TemporaryDirectory() as place:
        output = replace(policy.output, path=Path(place) / stated["release"]["file"], report=False)
        again = replace(
            policy, source=str(original), steps=kept, seed=int(private["seed"], 16), testing=True, output=output
        )
        release = run(again)
        found = release.certificate["release"]["sha256"]
    return [
        *checks,
        Check(
            "repetition gives the same bytes", stated["release"]["sha256"], found, found == stated["release"]["sha256"]
        ),
    ]
