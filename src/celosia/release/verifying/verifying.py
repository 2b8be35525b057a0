"""Recompute what a certificate claims: from the release alone, and with the private record for the rest."""

from __future__ import annotations

import hashlib
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from celosia.data.engines.row_codes import NO_PERSON
from celosia.data.io.atomic import journals, settle
from celosia.data.schema import Column, Role, Schema
from celosia.errors import DataError
from celosia.parts import Formal, build, describe, find, parts, protects
from celosia.release.evidence import evidence
from celosia.release.evidence.certificate import load_certificate, load_record
from celosia.release.evidence.history import ROLES, SINGLE_ROLES, with_roles
from celosia.release.evidence.signing import from_author
from celosia.release.policy.policy import Policy
from celosia.release.policy.sections import History
from celosia.release.running import run
from celosia.release.verifying.checked import check_file
from celosia.release.verifying.claims import alike, hidden, requirement_checked, risk_checked, same
from celosia.release.verifying.verification import Check, Verification, confirmed
from celosia.table import Table, read, read_released

COMPARED = "losses and attacks"
SECOND_WAY = "a second implementation agrees"
CLAIMED = {"model": "requirements", "risk": "risks"}
NUMBERS = ("requirements", "risks", "losses", "attacks")
"""Sections of a certificate that a repetition measures again."""


ALL_HOLD = "every requirement holds"
STATED = (
    "steps", "guard", "left_out", "kept", "checked", "formal", "history", "parameters", "inferences", "owners",
    "facts", "before", "measured",
)  # fmt: skip
"""Sections of a certificate that the file alone neither confirms nor refutes."""
REPEATED_ONLY = "stated by the publisher: needs the private record and the original"


UNREPEATED = {"history", "signature"}
"""Claims that a repetition of the run says nothing about."""
FIRST_SCHEME = 1
"""How random streams were named before private records stated it."""
Repeat = Callable[[dict[str, Any], dict[str, Any]], list[Check]]
"""Makes a release again from its certificate and its private record, and compares."""


def verify(
    certificate: str | Path,
    data: str | Path | None = None,
    *,
    record: str | Path | None = None,
    original: str | Path | None = None,
    repeat: Repeat | None = None,
    signer: str | Path | None = None,
    engine: str | None = None,
) -> Verification:
    """Compute again what a certificate claims, from the released file; the verdict excepts what cannot be told.

    The file is the one beside the certificate unless another is given; instead of the certificate the directory of
    the release will do, and then a private record in it is read too. The private record opens the commitments and
    tells which records belong to one person. With the original as well the run is repeated and must give the same
    bytes; ``repeat`` is another way to repeat it, for releases that no policy made. ``signer`` is the file of a public
    key: the certificate must be signed with the private one. ``engine`` holds the rows.
    """
    certificate = Path(certificate)
    if certificate.is_dir():
        certificate, record = _inside(certificate, record)
    stated = load_certificate(certificate)
    private = None if record is None else load_record(record)
    file = certificate.with_name(stated["release"]["file"]) if data is None else Path(data)
    checks = [*from_author(stated, signer), *_from_release(stated, file, private, engine), *_from_original(stated)]
    if private is None:
        checks.append(Check("commitments", "keyed hashes", None, None, "needs the private record"))
        return Verification(tuple(checks))
    checks += _from_record(stated, private)
    if repeat is not None:
        repeated = repeat(stated, private)
        repeated_claims = {check.claim for check in repeated}
        checks = [c for c in checks if c.passed is not None or c.claim not in repeated_claims] + repeated
    elif original is not None and record is not None and "policy" in private:
        repeated = _repeated(stated, private, Path(original), Path(record).parent, engine)
        if all(check.passed for check in repeated):
            open_claims = {check.claim for check in checks if check.passed is None} - UNREPEATED
            checks = confirmed(checks, open_claims, "the repetition gives the same")
        checks += repeated
    elif original is not None:
        reason = "no policy made this release: needs the catalogue of inferences and the choices"
        checks.append(Check("repetition", None, None, None, reason))
    return Verification(tuple(checks))


def _from_original(stated: dict[str, Any]) -> list[Check]:
    """What was measured against the original, which nobody else has."""
    numbers = len(stated.get("losses", [])) + len(stated.get("attacks", []))
    reason = "compare with the original: need the private record and the original"
    return [Check(COMPARED, f"{numbers} numbers", None, None, reason)] if numbers else []


def _inside(place: Path, record: str | Path | None) -> tuple[Path, str | Path | None]:
    """The certificate in the directory of a release, and the private record unless another was given."""
    for journal in journals(place):
        settle(journal)
    certificates = sorted(path for path in place.glob("*certificate.json") if not path.name.startswith("."))
    if len(certificates) != 1:
        raise DataError(
            f"the directory {str(place)!r} holds {len(certificates)} certificates. Name the certificate itself."
        )
    private = certificates[0].with_name(certificates[0].name.removesuffix("certificate.json") + "private.json")
    return certificates[0], record if record is not None else private if private.is_file() else None


def _from_release(
    stated: dict[str, Any], data: Path, private: dict[str, Any] | None, engine: str | None
) -> list[Check]:
    claims = stated["release"]
    if not data.is_file():
        raise DataError(f"there is no file {str(data)!r}: give the released file.")
    digest = evidence.file_hash(data)
    checks = [Check("SHA-256 of the file", claims["sha256"], digest, digest == claims["sha256"])]
    for other in stated.get("tables", []):
        path = data.with_name(other["file"])
        hashed = evidence.file_hash(path) if path.is_file() else None
        checks.append(Check(f"SHA-256 of {other['file']}", other["sha256"], hashed, hashed == other["sha256"]))
        if hashed == other["sha256"]:
            checks += _further_checked(other, read_released(path, engine), stated)
    table = with_roles(read_released(data, engine), stated["schema"])
    checks.append(Check("rows", claims["rows"], len(table), len(table) == claims["rows"]))
    columns = list(table.names)
    # a role for a column that is not there would be a quasi-identifier that nobody counted
    declared = {name for role in ROLES for name in stated["schema"].get(role, [])}
    there = columns == claims["columns"] and declared <= set(columns)
    checks.append(Check("columns", claims["columns"], columns, there))
    checks += _without_role(stated, columns)
    if table.schema.quasi:
        # where every record shows stars the file does not tell whether they were suppressed or generalised
        suppressed = len(table) if table.classes.all_suppressed else table.suppressed()
        agrees = claims["suppressed"] in ({0, suppressed} if table.classes.all_suppressed else {suppressed})
        checks.append(Check("suppressed records", claims["suppressed"], suppressed, agrees))
    table = _with_persons(table, private or {})
    required = [
        replace(requirement_checked(claim, table, claim.get("counted") or stated["counted"]), required=True)
        for claim in stated["requirements"]
    ]
    checks += required
    further = [claim for other in stated.get("tables", []) for claim in other.get("requirements", [])]
    checks.append(_all_hold(stated, [check for check in checks if check.required], further))
    checks += [risk_checked(claim, table, claim.get("counted") or stated["counted"]) for claim in stated["risks"]]
    wrong = {check.claim for check in checks if check.passed is False}
    checks += _second_way(stated, data, private or {}, wrong)
    checks += _stated_only(stated)
    # conditions on some of the records, which the release does not tell apart
    conditions = stated.get("conditions", [])
    reason = "only a repetition can tell"
    checks += [Check(c["claim"], c["value"], None, None, reason, required=True) for c in conditions]
    return checks


def _all_hold(stated: dict[str, Any], required: list[Check], beside: list[dict[str, Any]]) -> Check:
    """Whether every requirement holds: open while one of them could not be computed again."""
    if not stated["requirements"] and stated["holds"]:
        return Check(ALL_HOLD, stated["holds"], None, None, "the certificate states no requirement", required=True)
    met = all(claim["holds"] for claim in (*stated["requirements"], *beside))
    if stated["holds"] != met or any(check.passed is False for check in required):
        return Check(ALL_HOLD, stated["holds"], False, False)
    left = [check.claim for check in required if check.passed is None]
    if left:
        return Check(ALL_HOLD, stated["holds"], None, None, f"depends on {', '.join(left)}")
    return Check(ALL_HOLD, stated["holds"], met, True)


def _stated_only(stated: dict[str, Any]) -> list[Check]:
    """What a certificate says about the work: refuted where the file or the catalogue can, otherwise open."""
    checks = []
    for claim in stated["requirements"]:
        if claim.get("wish") and not hidden("model", claim):
            model = build("model", claim["part"])
            if not protects(model):
                note = "the requirement bounds the best class only"
                checks.append(Check(f"meaning of {claim['part']}", claim["wish"], None, False, note))
            wish = describe(model)
            if wish != claim["wish"]:
                checks.append(Check(f"wording of {claim['part']}", claim["wish"], wish, False))
        if claim.get("evidence") or claim.get("reason"):
            checks.append(Check(f"evidence of {claim['part']}", "stated", None, None, REPEATED_ONLY))
    uses = [step["use"] for step in stated.get("steps", [])]
    unknown = [use for use in uses if use not in parts("method")]
    if unknown:
        checks.append(Check("steps", ", ".join(uses), None, False, f"there is no method {', '.join(unknown)}"))
    used = [find("method", use) for use in uses if use not in unknown]
    if stated.get("formal") and not any(issubclass(method, Formal) for method in used):
        checks.append(Check("formal", "a formal guarantee", None, False, "no step has a formal guarantee"))
    named = stated.get("left_out", [])
    left_in = [name for name in stated["release"]["columns"] if isinstance(named, list) and name in named]
    if left_in:
        checks.append(
            Check("left_out", ", ".join(left_in), "released", False, "a column that was left out is released")
        )
    refuted = {check.claim for check in checks}
    for name in STATED:
        if stated.get(name) and name not in refuted:
            count = f"{len(stated[name])} entries" if isinstance(stated[name], list) else "stated"
            checks.append(Check(name, count, None, None, REPEATED_ONLY))
    return checks


def _without_role(stated: dict[str, Any], columns: list[str]) -> list[Check]:
    """Released columns that no requirement counts, because the certificate gives them no role."""
    schema = stated["schema"]
    declared = {name for role in ROLES for name in schema.get(role, [])}
    declared |= {schema.get(role) for role in SINGLE_ROLES} | {kept["column"] for kept in stated.get("kept", [])}
    others = [name for name in columns if name not in declared]
    reason = "no role is stated: no requirement counts them"
    return [Check("columns without a role", ", ".join(others), None, None, reason, required=True)] if others else []


def _further_checked(other: dict[str, Any], table: Table, stated: dict[str, Any]) -> list[Check]:
    """Check the shape, requirements and risks of a further table; each claim names the file.

    A table with the columns of the main one must meet the same requirements.
    """
    shape, computed_shape = [other.get("rows"), *other.get("columns", [])], [len(table), *table.names]
    checks = [Check("rows and columns", shape, computed_shape, shape == computed_shape)]
    columns = set(stated["release"]["columns"])
    wanted = {claim["part"] for claim in stated["requirements"]} if columns == set(table.names) else set()
    claims = other.get("requirements", [])
    unstated = sorted(wanted - {claim["part"] for claim in claims})
    if unstated:
        note = "required of the main table only, though this one has the same columns"
        checks.append(Check("requirements", ", ".join(unstated), None, False, note, required=True))
    if columns != set(table.names):
        reason = "other columns than the main table: needs the private record and the original"
        checks.append(Check("protection", "stated by its method", None, None, reason, required=True))
    table = with_roles(table, stated["schema"])
    checks += [
        replace(requirement_checked(claim, table, claim.get("counted") or stated["counted"]), required=True)
        for claim in claims
    ]
    checks += [
        risk_checked(claim, table, claim.get("counted") or stated["counted"]) for claim in other.get("risks", [])
    ]
    return [replace(check, claim=f"{check.claim} of {other['file']}") for check in checks]


def _second_way(stated: dict[str, Any], data: Path, private: dict[str, Any], wrong: set[str]) -> list[Check]:
    """What the second implementation says about the claims that the first one found nothing wrong with."""
    claims = [
        (build(kind, claim["part"]), claim)
        for kind, section in CLAIMED.items()
        for claim in stated[section]
        if not hidden(kind, claim) and claim["part"] not in wrong
    ]
    looked = [verdict for verdict in check_file(claims, data, stated, private) if verdict.agrees is not None]
    if not looked:
        return []
    note = "from a sample of the classes" if any(verdict.sampled for verdict in looked) else ""
    parts, agreeing = ([v.part for v in looked], [v.part for v in looked if v.agrees])
    return [Check(SECOND_WAY, ", ".join(parts), ", ".join(agreeing), parts == agreeing, note)]


def _with_persons(table: Table, private: dict[str, Any]) -> Table:
    """The released table with the person of each record, where the file does not tell and the private record does."""
    import polars as pl

    if table.schema.person is not None:
        return table
    try:
        persons = evidence.released_persons(private, len(table))
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, zlib.error):
        raise DataError("the private record is damaged: its persons cannot be read.") from None
    if persons is None or len(persons) != len(table):
        return table  # another file, as its hash says
    name = "person"
    while name in table.names:
        name += "_"
    owners = pl.Series(name, persons).replace(NO_PERSON, None)
    columns = (*table.schema.columns, Column(name, frozenset({Role.PERSON})))
    return read(table.polars().with_columns(owners), Schema(columns, table.schema.rest))


def _from_record(stated: dict[str, Any], private: dict[str, Any]) -> list[Check]:
    commitments = stated["commitments"]
    checks = [
        Check(f"commitment to the {name}", commitments.get(name), value, value == commitments.get(name))
        for name, value in evidence.opened(private).items()
    ]
    digest = hashlib.sha256(evidence.canonical(stated)).hexdigest()
    checks.append(Check("certificate of this record", private["certificate"], digest, digest == private["certificate"]))
    return checks


def _digests(certificate: Mapping[str, Any]) -> str:
    """SHA-256 of every file of records, the main one first."""
    files = [certificate["release"], *certificate.get("tables", [])]
    return " ".join(file["sha256"] for file in files)


def _repeated(
    stated: dict[str, Any], private: dict[str, Any], original: Path, place: Path, engine: str | None
) -> list[Check]:
    """Run the policy of the record again on the original and compare the bytes."""
    if not original.is_file():
        raise DataError(f"there is no original {str(original)!r}: give the file that the release was made of.")
    digest = evidence.file_hash(original)
    checks = [Check("SHA-256 of the input", private["input"]["sha256"], digest, digest == private["input"]["sha256"])]
    policy = Policy.recorded(private, place)
    if policy.input.path is not None and not policy.input.path.is_file():
        # the release has moved: then hierarchy files are looked for beside the original
        policy = Policy.parse(private["policy"], original.parent)
    names = [step["name"] for step in private["steps"]]
    kept = tuple(step for step in policy.steps if step.name in names)
    if any(isinstance(step.method, Formal) for step in kept):
        return [*checks, Check("repetition", None, None, None, "noise with a formal guarantee cannot be repeated")]
    with tempfile.TemporaryDirectory() as temporary:
        again = policy.model_copy(
            update={
                "input": policy.input.model_copy(update={"path": original, "url": None}),
                "steps": kept,
                "history": History(),  # earlier releases decide whether it may be written, not what is written
                "run": policy.run.model_copy(
                    update={
                        "seed": int(private["seed"], 16),
                        "testing": True,
                        "streams": private.get("streams", FIRST_SCHEME),
                    }
                ),
                "output": policy.output.model_copy(
                    update={"path": Path(temporary) / stated["release"]["file"], "report": False}
                ),
            }
        )
        repeated = run(again, engine=engine).certificate
    stated_digests, digests_again = (_digests(certificate) for certificate in (stated, repeated))
    differing = [name for name in NUMBERS if not alike(stated.get(name), repeated.get(name))]
    compared = (name for name in (*STATED, "tables") if name not in UNREPEATED)
    differing += [name for name in compared if not same(stated.get(name), repeated.get(name))]
    numbers = f"other {', '.join(differing)}" if differing else "the same"
    return [
        *checks,
        Check("repetition gives the same numbers", "the same", numbers, not differing),
        Check("repetition gives the same bytes", stated_digests, digests_again, digests_again == stated_digests),
    ]
