"""Check a release, before it is written, against earlier releases about the same people.

Two releases may each meet their requirements and together disclose a person. The attacks on several releases
(composition, differencing, averaging) are run on the table to be released; if one of them reaches more with the
earlier releases than without, the new release breaks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.schema import Schema
from celosia.errors import DataError, InputError, RequirementError
from celosia.parts import Attack, ComparesReleases, Model, build, parts, search_hints
from celosia.release.evidence.certificate import HistoryCheck, PublicStep, Roles, load_certificate, load_record
from celosia.release.evidence.findings import Finding, measure_threat
from celosia.release.evidence.public import Disclosure
from celosia.release.evidence.release import Release
from celosia.release.evidence.seal import file_hash
from celosia.table import Table, read_released
from celosia.table.derive import with_provenance
from celosia.table.source import open_source

if TYPE_CHECKING:
    from celosia.release.policy.policy import Policy

ROLES = ("identifiers", "quasi", "sensitive", "insensitive")
SINGLE_ROLES = ("weight", "household", "stratum", "person")
CERTIFICATE = "certificate.json"


def open_release(source: object) -> Table:
    """Read an earlier release as its readers do: its file, with the roles and the steps of its certificate.

    ``source`` is a certificate, a released file, a frame, a table or a
    :class:`~celosia.release.evidence.release.Release`. If the private record is next to the certificate, the
    hierarchies of its policy are used too, which resolve generalised cells.
    """
    if isinstance(source, Release):
        return source.table
    if not isinstance(source, str | Path) or not str(source).endswith(CERTIFICATE):
        return open_source(source)
    path = Path(source)
    certificate = load_certificate(path)
    data = path.with_name(certificate.release.file)
    if not data.is_file():
        raise DataError(f"the earlier release {path.name!r} has no file {data.name!r} beside it.")
    if file_hash(data) != certificate.release.sha256:
        raise DataError(f"{data.name!r} is not the file that {path.name!r} certifies: its hash is another one.")
    table = with_roles(read_released(data), certificate.roles)
    table = _with_hierarchies(table, path)
    return with_provenance(table, history=tuple(_entry(step) for step in certificate.steps))


def with_roles(table: Table, stated: Roles) -> Table:
    """Return the released table with the roles that a certificate states for its columns."""
    spec = stated.spec()
    roles: dict[str, Any] = {key: [name for name in spec.get(key, []) if name in table.names] for key in ROLES}
    singles = {key: spec[key] for key in SINGLE_ROLES if spec.get(key) in table.names}
    missing = {name: how for name, how in stated.missing.items() if name in table.names}
    return table.with_schema(Schema.of(**roles, **singles, missing=missing))


def _entry(step: PublicStep) -> dict[str, Any]:
    """Convert a step of a certificate to an entry of a table's history."""
    return {"step": step.use, "parameters": step.parameters, **step.evidence}


def _with_hierarchies(table: Table, certificate: Path) -> Table:
    """Return the table with the hierarchies of its policy, if the private record is next to the certificate."""
    from celosia.release.policy.policy import Policy

    private = certificate.with_name(certificate.name.removesuffix(CERTIFICATE) + "private.json")
    if not private.is_file():
        return table
    policy = Policy.from_record(load_record(private), certificate.parent)
    schema = table.schema
    for name in (n for n in policy.schema.names if n in schema):
        try:
            declared = policy.schema.hierarchy(name)
        except InputError:  # its file was moved: cells are then parsed from their labels
            continue
        if declared is not None and not declared.from_data():
            schema = schema.change(name, hierarchy=declared)
    return table.with_schema(schema)


def measure_together(original: Table, protected: Table, earlier: Sequence[object], k: int = 2) -> tuple[Finding, ...]:
    """Measure the attacks on a release and earlier ones; a finding that does not apply has the reason."""
    tables = [open_release(source) for source in earlier]
    findings = []
    for cls in _attacks():
        fewest = {"k": k} if "k" in cls.model_fields else {}
        attack: Attack = build("attack", {"use": cls.name, "earlier": tables, **fewest})
        findings.append(measure_threat(attack, original, protected))
    return tuple(findings)


def _attacks() -> list[type[Attack]]:
    """Attacks on several releases, first those that count the remaining records."""
    attacks = [cls for cls in parts("attack").values() if issubclass(cls, Attack) and issubclass(cls, ComparesReleases)]
    return sorted(attacks, key=lambda cls: ("k" not in cls.model_fields, cls.name))


def blocking_reasons(findings: Sequence[Finding]) -> list[str]:
    """Sentences on how a release breaks earlier ones, with counts only; empty if it does not."""
    measured = [finding for finding in findings if finding.value is not None]
    return [reason for finding in measured for reason in finding.part.blocking_reasons(finding.evidence)]


def is_unchecked(findings: Sequence[Finding]) -> bool:
    """Return whether no attack applied to the releases, so that they could not be compared."""
    return all(finding.value is None for finding in findings)


def check_history(original: Table, protected: Table, policy: Policy) -> tuple[Finding, ...]:
    """Check a policy's ``[history]``; raise if the release breaks an earlier one and this is not acknowledged."""
    history = policy.history
    if not history.releases:
        return ()
    findings = measure_together(original, protected, history.releases, fewest_remaining(history.k, policy.require))
    reasons = blocking_reasons(findings)
    if is_unchecked(findings) and not history.acknowledge:
        raise RequirementError(
            "this release could not be compared with the earlier ones; nothing was written. "
            f"{' '.join(finding.reason for finding in findings)} Give their certificates with the private records "
            "beside them, or the reason why it may be published in [history] acknowledge."
        )
    if reasons and not history.acknowledge:
        raise RequirementError(
            f"this release breaks {len(history.releases)} earlier one(s); nothing was written. {_sentence(reasons)} "
            "Recode as before (same hierarchies, same levels), release fewer columns, keep the noise of the earlier "
            "release, or give the reason why it may be published in [history] acknowledge."
        )
    return findings


def fewest_remaining(k: int | None, require: Sequence[Model]) -> int:
    """Fewest records that must remain for a person: ``k``, or the class size that the policy requires, or 2."""
    return max([2, *(search_hints(model).smallest_size() for model in require)]) if k is None else k


def commitments(policy: Policy) -> dict[str, str]:
    """Hashes of the certificates or files of the earlier releases, which a certificate commits to."""
    return {f"earlier_release_{i + 1}": file_hash(Path(path)) for i, path in enumerate(policy.history.releases)}


def public_check(findings: Sequence[Finding], policy: Policy, disclosure: Disclosure, *, formal: bool) -> HistoryCheck:
    """Return the certificate's entry for the check; under a formal guarantee without numbers of the original."""
    check = HistoryCheck(checked=list(commitments(policy)))
    if formal:
        return check
    reasons = blocking_reasons(findings)
    check.attacks, check.broken = [disclosure.claim(finding) for finding in findings], bool(reasons)
    if reasons or is_unchecked(findings):
        check.acknowledged = policy.history.acknowledge
    return check


def _sentence(reasons: Sequence[str]) -> str:
    text = "; ".join(reasons) + "."
    return text[0].upper() + text[1:]
