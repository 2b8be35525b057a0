"""Recompute what a certificate claims: from the release alone, and with the private record for the rest."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from celosia import release as evidence
from celosia.catalogue import Model, build
from celosia.errors import DataError
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


Repeat = Callable[[dict[str, Any], dict[str, Any]], list[Check]]
"""Makes a release again from its certificate and its private record, and compares."""


def verify(
    certificate: str | Path,
    data: str | Path | None = None,
    *,
    record: str | Path | None = None,
    original: str | Path | None = None,
    repeat: Repeat | None = None,
) -> list[Check]:
    """Check a certificate against the released file; with the private record also its commitments.

    The file is the one beside the certificate unless another is given; instead of the certificate the directory of
    the release will do, and then a private record in it is read too. With the original as well the run is repeated
    and must give the same bytes; ``repeat`` is another way to repeat it, for releases that no policy made.
    """
    certificate = Path(certificate)
    if certificate.is_dir():
        certificate, record = _inside(certificate, record)
    stated = evidence.load_json(certificate, evidence.CERTIFICATE_FORMAT)
    checks = _from_release(stated, certificate.with_name(stated["release"]["file"]) if data is None else Path(data))
    if record is None:
        checks.append(Check("commitments", "keyed hashes", None, None, "needs the private record"))
        return checks
    private = evidence.load_json(record, evidence.RECORD_FORMAT)
    checks += _from_record(stated, private)
    if repeat is not None:
        repeated = repeat(stated, private)
        told = {check.claim for check in repeated}
        checks = [c for c in checks if c.passed is not None or c.claim not in told] + repeated
    elif original is not None and "policy" in private:
        checks += _repeated(stated, private, Path(original))
    elif original is not None:
        reason = "no policy made this release: needs the catalogue of inferences and the choices"
        checks.append(Check("repetition", None, None, None, reason))
    return checks


def _inside(place: Path, record: str | Path | None) -> tuple[Path, str | Path | None]:
    """The certificate in the directory of a release, and the private record unless another was given."""
    found = sorted(place.glob("*certificate.json"))
    if len(found) != 1:
        raise DataError(f"the directory {str(place)!r} holds {len(found)} certificates. Name the certificate itself.")
    private = found[0].with_name(found[0].name.removesuffix("certificate.json") + "private.json")
    return found[0], record if record is not None else private if private.is_file() else None


def _from_release(stated: dict[str, Any], data: Path) -> list[Check]:
    claims = stated["release"]
    if not data.is_file():
        raise DataError(f"there is no file {str(data)!r}: give the released file.")
    digest = evidence.file_hash(data)
    checks = [Check("SHA-256 of the file", claims["sha256"], digest, digest == claims["sha256"])]
    for other in stated.get("tables", []):
        path = data.with_name(other["file"])
        hashed = evidence.file_hash(path) if path.is_file() else None
        checks.append(Check(f"SHA-256 of {other['file']}", other["sha256"], hashed, hashed == other["sha256"]))
    table = described(read(data), stated["schema"])
    checks.append(Check("rows", claims["rows"], len(table), len(table) == claims["rows"]))
    columns = list(table.names)
    checks.append(Check("columns", claims["columns"], columns, columns == claims["columns"]))
    if table.schema.quasi:
        found = table.suppressed()
        checks.append(Check("suppressed records", claims["suppressed"], found, found == claims["suppressed"]))
    checks += [_requirement(claim, table, stated["counted"]) for claim in stated["requirements"]]
    checks += [_risk(claim, table, stated["counted"]) for claim in stated["risks"]]
    # conditions on some of the records, which the release does not tell apart
    conditions = stated.get("conditions", [])
    checks += [Check(c["claim"], c["value"], None, None, "only a repetition can tell") for c in conditions]
    return checks


def described(table: Table, spec: dict[str, Any]) -> Table:
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
    if counted == "candidates":
        return "counts who could be behind a blanked cell: needs the original"
    return ""


def _requirement(claim: dict[str, Any], table: Table, counted: str) -> Check:
    model: Model = build("model", claim["part"])
    reason = _needs_record(claim.get("counted", counted), table, compares=model.compares)
    if reason:
        return Check(claim["part"], claim["value"], None, None, reason)
    found = model.value(table)
    check = _compared(claim, found)
    return check if model.met(found) == claim["holds"] else replace(check, passed=False)


def _risk(claim: dict[str, Any], table: Table, counted: str) -> Check:
    risk = build("risk", claim["part"])
    reason = _needs_record(claim.get("counted", counted), table)
    if claim["value"] is None or reason:
        return Check(claim["part"], claim["value"], None, None, reason or "was not measured")
    return _compared(claim, risk.value(table))


def _compared(claim: dict[str, Any], found: float) -> Check:
    stated = float(claim["value"])
    same = stated == found or abs(stated - found) <= TOLERANCE * max(1.0, abs(stated))
    return Check(claim["part"], claim["value"], evidence.plain(found), same)


def _from_record(stated: dict[str, Any], private: dict[str, Any]) -> list[Check]:
    commitments = stated["commitments"]
    checks = [
        Check(f"commitment to the {name}", commitments.get(name), value, value == commitments.get(name))
        for name, value in evidence.opened(private).items()
    ]
    digest = hashlib.sha256(evidence.canonical(stated)).hexdigest()
    checks.append(Check("certificate of this record", private["certificate"], digest, digest == private["certificate"]))
    return checks


def _repeated(stated: dict[str, Any], private: dict[str, Any], original: Path) -> list[Check]:
    """Run the policy of the record again on the original and compare the bytes."""
    if not original.is_file():
        raise DataError(f"there is no original {str(original)!r}: give the file that the release was made of.")
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
