"""Compute the claims of a certificate again, from the release alone or also with the private record."""

from __future__ import annotations

import hashlib
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from celosia.data.engines.row_codes import NO_PERSON
from celosia.data.io.atomic import finish_journal, journals
from celosia.data.io.released import hidden_content
from celosia.data.schema import Column, Role, Schema
from celosia.errors import DataError
from celosia.parts import Formal, build, describe, find, parts, protects
from celosia.release.evidence.certificate import (
    Certificate,
    FurtherTable,
    Record,
    Requirement,
    load_certificate,
    load_record,
)
from celosia.release.evidence.history import SINGLE_ROLES, with_roles
from celosia.release.evidence.plain_data import canonical
from celosia.release.evidence.row_map import released_persons
from celosia.release.evidence.seal import commitments_of, file_hash
from celosia.release.evidence.signature import check_author
from celosia.release.policy.policy import Policy
from celosia.release.policy.sections import History
from celosia.release.run import run
from celosia.release.verify.claims import (
    are_equal,
    check_missing,
    check_requirement,
    check_risk,
    claims_agree,
    not_buildable_because,
)
from celosia.release.verify.second_check import check_file
from celosia.release.verify.verification import Check, Verification, confirm
from celosia.table import Table, read, read_released

ALL_HOLD = "every requirement holds"
CHECKED = {
    "format", "celosia", "created", "test", "release", "tables", "roles", "counted", "holds", "requirements",
    "conditions", "risks", "losses", "attacks", "commitments", "signature",
}  # fmt: skip
"""Sections of a certificate that have checks of their own, and those that identify it or warn of it."""
STATED = tuple(name for name in Certificate.model_fields if name not in CHECKED)
"""Sections of a certificate that the file alone neither confirms nor refutes."""
SECOND_CHECK = "a second implementation agrees"
STATED_BY_PUBLISHER = "stated by the publisher: needs the private record and the original"
NOT_REPEATED = {"history", "signature", "made_by"}
"""Claims that a repetition of the run does not check."""
Repeat = Callable[[Certificate, Record], list[Check]]
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
    """Compute again what a certificate claims; the verdict names the claims that could not be checked.

    The released file is the one next to the certificate unless ``data`` is given. ``certificate`` may be the directory
    of a release; then a private record in it is read too. The private record opens the commitments and shows which
    records belong to one person. With ``original`` as well the run is repeated and must give the same bytes; ``repeat``
    is another way to repeat it, for releases that no policy made. ``signer`` is the file of a public key: the
    certificate must be signed with its private key. ``engine`` holds the rows.
    """
    certificate = Path(certificate)
    if certificate.is_dir():
        certificate, record = _files_in(certificate, record)
    stated = load_certificate(certificate)
    private = None if record is None else load_record(record)
    file = certificate.with_name(stated.release.file) if data is None else Path(data)
    checks = [*check_author(stated, signer), *_check_release(stated, file, private, engine), *_list_comparisons(stated)]
    if private is None:
        checks.append(Check("commitments", "keyed hashes", None, None, "needs the private record"))
        return Verification(tuple(checks))
    checks += _check_record(stated, private)
    if repeat is not None:
        repeated = repeat(stated, private)
        decided = {check.claim for check in repeated}
        checks = [check for check in checks if check.passed is not None or check.claim not in decided] + repeated
    elif original is not None and record is not None and private.policy:
        repeated = _repeat_run(stated, private, Path(original), Path(record).parent, engine)
        if all(check.passed for check in repeated):
            open_claims = {check.claim for check in checks if check.passed is None} - NOT_REPEATED
            checks = confirm(checks, open_claims, "the repetition gives the same")
        checks += repeated
    elif original is not None:
        reason = "no policy made this release: needs the catalogue of inferences and the choices"
        checks.append(Check("repetition", None, None, None, reason))
    return Verification(tuple(checks))


def _list_comparisons(stated: Certificate) -> list[Check]:
    """Return an open check with the number of losses and attacks, which only the publisher can recompute."""
    numbers = len(stated.losses) + len(stated.attacks)
    reason = "compare with the original: need the private record and the original"
    return [Check("losses and attacks", f"{numbers} numbers", None, None, reason)] if numbers else []


def _files_in(directory: Path, record: str | Path | None) -> tuple[Path, str | Path | None]:
    """Return the certificate in the directory of a release, and its private record unless another was given."""
    for journal in journals(directory):
        finish_journal(journal)
    certificates = sorted(path for path in directory.glob("*certificate.json") if not path.name.startswith("."))
    if len(certificates) != 1:
        raise DataError(
            f"the directory {str(directory)!r} holds {len(certificates)} certificates. Name the certificate itself."
        )
    private = certificates[0].with_name(certificates[0].name.removesuffix("certificate.json") + "private.json")
    return certificates[0], record if record is not None else private if private.is_file() else None


def _check_release(stated: Certificate, data: Path, private: Record | None, engine: str | None) -> list[Check]:
    """Check the claims about the released file and the further tables."""
    claims = stated.release
    if not data.is_file():
        raise DataError(f"there is no file {str(data)!r}: give the released file.")
    digest = file_hash(data)
    checks = [Check("SHA-256 of the file", claims.sha256, digest, digest == claims.sha256)]
    for further in stated.tables:
        path = data.with_name(further.file)
        digest_of_further = file_hash(path) if path.is_file() else None
        agrees = digest_of_further == further.sha256
        checks.append(Check(f"SHA-256 of {further.file}", further.sha256, digest_of_further, agrees))
        if agrees:
            checks.append(_check_content(path))
            checks += _check_further_table(further, read_released(path, engine), stated)
    checks.append(_check_content(data))
    table = with_roles(read_released(data, engine), stated.roles)
    checks.append(Check("rows", claims.rows, len(table), len(table) == claims.rows))
    columns = list(table.names)
    # a role for a column that the file lacks would be a quasi-identifier that nothing counted
    complete = columns == claims.columns and stated.roles.declared <= set(columns)
    checks.append(Check("columns", claims.columns, columns, complete))
    checks += _check_roles(stated, columns)
    if table.schema.quasi:
        # if every cell is * the file does not show whether the records were suppressed or generalised
        suppressed = len(table) if table.classes.all_suppressed else table.suppressed()
        agrees = claims.suppressed in ({0, suppressed} if table.classes.all_suppressed else {suppressed})
        checks.append(Check("suppressed records", claims.suppressed, suppressed, agrees))
    table = _with_persons(table, private)
    required = _check_requirements(stated.requirements, table, stated)
    checks += required
    further_claims = [claim for further in stated.tables for claim in further.requirements]
    checks.append(_check_all_hold(stated, [check for check in checks if check.required], further_claims))
    checks += [check_risk(claim, table, claim.counted or stated.counted) for claim in stated.risks]
    wrong = {check.claim for check in checks if check.passed is False}
    checks += _check_with_second_implementation(stated, data, private, wrong)
    checks += _check_statements(stated)
    # conditions on some of the records, which the release does not identify
    checks += [
        Check(condition.claim, condition.value, None, None, "needs a repetition", required=True)
        for condition in stated.conditions
    ]
    return checks


def _check_content(file: Path) -> Check:
    """Check that a released file holds its table only: nothing that another program would show, and this one not."""
    hidden = hidden_content(file)
    return Check(f"nothing besides the table in {file.name}", "nothing", ", ".join(hidden) or "nothing", not hidden)


def _check_requirements(claims: Sequence[Requirement], table: Table, stated: Certificate) -> list[Check]:
    checks = [check_requirement(claim, table, claim.counted or stated.counted) for claim in claims]
    met = [claim for claim, check in zip(claims, checks, strict=True) if check.passed]
    return [replace(check, required=True) for check in [*checks, *check_missing(met, table)]]


def _check_all_hold(stated: Certificate, required: list[Check], further: list[Requirement]) -> Check:
    """Check that every requirement holds; open while one of them could not be computed again."""
    if not stated.requirements and stated.holds:
        return Check(ALL_HOLD, stated.holds, None, None, "the certificate states no requirement", required=True)
    met = all(claim.holds for claim in (*stated.requirements, *further))
    if stated.holds != met or any(check.passed is False for check in required):
        return Check(ALL_HOLD, stated.holds, False, False)
    still_open = [check.claim for check in required if check.passed is None]
    if still_open:
        return Check(ALL_HOLD, stated.holds, None, None, f"depends on {', '.join(still_open)}")
    return Check(ALL_HOLD, stated.holds, met, True)


def _check_statements(stated: Certificate) -> list[Check]:
    """Check the statements about the work: refuted where the file or the catalogue can, otherwise open."""
    checks = []
    for claim in stated.requirements:
        if claim.wish and not not_buildable_because("model", claim):
            model = build("model", claim.part)
            if not protects(model):
                note = "the requirement bounds the best class only"
                checks.append(Check(f"meaning of {claim.part}", claim.wish, None, False, note))
            wish = describe(model)
            if wish != claim.wish:
                checks.append(Check(f"wording of {claim.part}", claim.wish, wish, False))
        if claim.evidence or claim.reason:
            checks.append(Check(f"evidence of {claim.part}", "stated", None, None, STATED_BY_PUBLISHER))
    uses = [step.use for step in stated.steps]
    unknown = [use for use in uses if use not in parts("method")]
    if unknown:
        checks.append(Check("steps", ", ".join(uses), None, False, f"there is no method {', '.join(unknown)}"))
    used = [find("method", use) for use in uses if use not in unknown]
    if stated.formal and not any(issubclass(method, Formal) for method in used):
        checks.append(Check("formal", "a formal guarantee", None, False, "no step has a formal guarantee"))
    if isinstance(stated.left_out, list):
        released = [name for name in stated.release.columns if name in stated.left_out]
        if released:
            note = "a column that was left out is released"
            checks.append(Check("left_out", ", ".join(released), "released", False, note))
    refuted = {check.claim for check in checks}
    spec = stated.spec()
    for name in STATED:
        value = spec.get(name)
        if value and name not in refuted:
            count = f"{len(value)} entries" if isinstance(value, list) else "stated"
            checks.append(Check(name, count, None, None, STATED_BY_PUBLISHER))
    return checks


def _check_roles(stated: Certificate, columns: list[str]) -> list[Check]:
    """List the released columns that no requirement counts: those without a role, or with one that is not counted."""
    roles = stated.roles
    counted = {*roles.quasi, *roles.sensitive, *roles.insensitive}
    by_role = {role: [getattr(roles, role)] for role in SINGLE_ROLES}
    by_role |= {"identifier": roles.identifiers, "kept": [kept.column for kept in stated.kept]}
    by_role["without a role"] = columns
    checks = []
    for role, named in by_role.items():
        others = [name for name in columns if name in named and name not in counted]
        counted |= set(others)
        claim = "columns without a role" if named is columns else f"columns stated as {role}"
        if others:
            checks.append(Check(claim, ", ".join(others), None, None, "no requirement counts them", required=True))
    return checks


def _check_further_table(stated: FurtherTable, table: Table, certificate: Certificate) -> list[Check]:
    """Check the shape, requirements and risks of a further table; each claim names the file.

    A table with the columns of the main one must meet the same requirements.
    """
    shape, computed_shape = [stated.rows, *stated.columns], [len(table), *table.names]
    checks = [Check("rows and columns", shape, computed_shape, shape == computed_shape)]
    if set(certificate.release.columns) == set(table.names):
        wanted = {claim.part for claim in certificate.requirements}
    else:
        wanted = set()
        reason = "other columns than the main table: needs the private record and the original"
        checks.append(Check("protection", "stated by its method", None, None, reason, required=True))
    unstated = sorted(wanted - {claim.part for claim in stated.requirements})
    if unstated:
        note = "required of the main table only, though this one has the same columns"
        checks.append(Check("requirements", ", ".join(unstated), None, False, note, required=True))
    table = with_roles(table, certificate.roles)
    checks += _check_requirements(stated.requirements, table, certificate)
    checks += [check_risk(claim, table, claim.counted or certificate.counted) for claim in stated.risks]
    return [replace(check, claim=f"{check.claim} of {stated.file}") for check in checks]


def _check_with_second_implementation(
    stated: Certificate, data: Path, private: Record | None, wrong: set[str]
) -> list[Check]:
    """Check with the second implementation the claims that the first one did not refute."""
    claims = [
        (build(kind, claim.part), claim)
        for kind, section in (("model", stated.requirements), ("risk", stated.risks))
        for claim in section
        if not not_buildable_because(kind, claim) and claim.part not in wrong
    ]
    verdicts = [verdict for verdict in check_file(claims, data, stated, private) if verdict.agrees is not None]
    if not verdicts:
        return []
    note = "from a sample of the classes" if any(verdict.sampled for verdict in verdicts) else ""
    checked, agreeing = [v.part for v in verdicts], [v.part for v in verdicts if v.agrees]
    return [Check(SECOND_CHECK, ", ".join(checked), ", ".join(agreeing), checked == agreeing, note)]


def _with_persons(table: Table, private: Record | None) -> Table:
    """Return the released table with a person column from the private record, where the file has none."""
    import polars as pl

    if table.schema.person is not None or private is None:
        return table
    try:
        persons = released_persons(private, len(table))
    except DataError:
        raise
    except (ValueError, zlib.error):
        raise DataError("the private record is damaged: its persons cannot be read.") from None
    if persons is None or len(persons) != len(table):
        return table  # another file, as its hash shows
    name = "person"
    while name in table.names:
        name += "_"
    owners = pl.Series(name, persons).replace(NO_PERSON, None)
    columns = (*table.schema.columns, Column(name, frozenset({Role.PERSON})))
    return read(table.polars().with_columns(owners), Schema(columns, table.schema.rest))


def _check_record(stated: Certificate, private: Record) -> list[Check]:
    """Check the commitments that the private record opens, and that it belongs to this certificate."""
    checks = [
        Check(
            f"commitment to the {name.replace('_', ' ')}",
            stated.commitments.get(name),
            value,
            value == stated.commitments.get(name),
        )
        for name, value in commitments_of(private).items()
    ]
    digest = hashlib.sha256(canonical(stated.content())).hexdigest()
    checks.append(Check("certificate of this record", private.certificate, digest, digest == private.certificate))
    return checks


def _digests(certificate: Certificate) -> str:
    """Return the SHA-256 of every file of records, the main one first."""
    return " ".join([certificate.release.sha256, *(table.sha256 for table in certificate.tables)])


def _repeat_run(
    stated: Certificate, private: Record, original: Path, directory: Path, engine: str | None
) -> list[Check]:
    """Run the policy of the record again on the original and compare the bytes."""
    if not original.is_file():
        raise DataError(f"there is no original {str(original)!r}: give the file that the release was made of.")
    digest = file_hash(original)
    checks = [Check("SHA-256 of the input", private.input.sha256, digest, digest == private.input.sha256)]
    policy = Policy.from_record(private, directory)
    if policy.input.path is not None and not policy.input.path.is_file():
        # the release was moved: its hierarchy files are then expected next to the original
        policy = Policy.parse(private.policy, original.parent)
    names = [step.name for step in private.steps]
    steps = tuple(step for step in policy.steps if step.name in names)
    if any(isinstance(step.method, Formal) for step in steps):
        return [*checks, Check("repetition", None, None, None, "noise with a formal guarantee cannot be repeated")]
    settings = {"seed": int(private.seed, 16), "testing": True, "streams": private.streams}
    with tempfile.TemporaryDirectory() as temporary:
        target = {"path": Path(temporary) / stated.release.file, "report": False}
        again = policy.model_copy(
            update={
                "input": policy.input.model_copy(update={"path": original, "url": None}),
                "steps": steps,
                "history": History(),  # earlier releases decide whether it may be written, not what is written
                "run": policy.run.model_copy(update=settings),
                "output": policy.output.model_copy(update=target),
            }
        )
        repeated = run(again, engine=engine).public
    assert isinstance(repeated, Certificate)
    differing = [
        name
        for name in ("requirements", "risks", "losses", "attacks")
        if not claims_agree(getattr(stated, name), getattr(repeated, name))
    ]
    compared = (name for name in (*STATED, "tables") if name not in NOT_REPEATED)
    plain_stated, plain_repeated = stated.spec(), repeated.spec()
    differing += [name for name in compared if not are_equal(plain_stated.get(name), plain_repeated.get(name))]
    numbers = f"other {', '.join(differing)}" if differing else "the same"
    digests, digests_again = _digests(stated), _digests(repeated)
    return [
        *checks,
        Check("repetition gives the same numbers", "the same", numbers, not differing),
        Check("repetition gives the same bytes", digests, digests_again, digests_again == digests),
    ]
