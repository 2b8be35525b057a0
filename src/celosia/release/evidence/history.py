"""Earlier releases about the same people: what a new one and they tell together, before it is written.

Two releases may each keep their requirements and still give somebody away together. The attacks on several releases
(composition, differencing, averaging) are run on the table as it would leave; when one of them reaches more with the
earlier releases than without, the new release breaks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
from celosia.table.source import open_source

if TYPE_CHECKING:
    from celosia.release.policy.policy import Policy

ROLES = ("identifiers", "quasi", "sensitive", "insensitive")
SINGLE_ROLES = ("weight", "household", "stratum", "person")
CERTIFICATE = "certificate.json"


def open_release(source: Any) -> Table:
    """An earlier release as a reader has it: its file, under the roles and with the steps of its certificate.

    ``source`` is a certificate, a released file, a frame, a table or a
    :class:`~celosia.release.evidence.release.Release`. With its private record beside it the hierarchies of its policy
    are known too: what a generalised cell stands for.
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
    return replace(table, history=tuple(_entry(step) for step in certificate.steps))


def with_roles(table: Table, stated: Roles) -> Table:
    """Return the released table with the roles of a certificate, as far as its columns were released."""
    spec = stated.spec()
    roles: dict[str, Any] = {key: [name for name in spec.get(key, []) if name in table.names] for key in ROLES}
    singles = {key: spec[key] for key in SINGLE_ROLES if spec.get(key) in table.names}
    missing = {name: how for name, how in stated.missing.items() if name in table.names}
    return table.with_schema(Schema.of(**roles, **singles, missing=missing))


def _entry(step: PublicStep) -> dict[str, Any]:
    """Convert a step of a certificate to an entry of a table's history."""
    return {"step": step.use, "parameters": step.parameters, **step.evidence}


def _with_hierarchies(table: Table, certificate: Path) -> Table:
    """The table with the hierarchies of its policy, where the private record is beside the certificate."""
    from celosia.release.policy.policy import Policy

    private = certificate.with_name(certificate.name.removesuffix(CERTIFICATE) + "private.json")
    if not private.is_file():
        return table
    policy = Policy.recorded(load_record(private), certificate.parent)
    schema = table.schema
    for name in (n for n in policy.schema.names if n in schema):
        try:
            declared = policy.schema.hierarchy(name)
        except InputError:  # its file has moved: the cells are then read by what they say
            continue
        if declared is not None and not declared.from_data():
            schema = schema.change(name, hierarchy=declared)
    return table.with_schema(schema)


def against(original: Table, protected: Table, earlier: Sequence[Any], k: int = 2) -> tuple[Finding, ...]:
    """What a release and earlier ones tell together; an attack that has no meaning for them says why."""
    tables = [open_release(source) for source in earlier]
    findings = []
    for cls in _attacks():
        fewest = {"k": k} if "k" in cls.model_fields else {}
        attack: Attack = build("attack", {"use": cls.name, "earlier": tables, **fewest})
        findings.append(measure_threat(attack, original, protected))
    return tuple(findings)


def _attacks() -> list[type[Attack]]:
    """The attacks on several releases, first those that count who is left."""
    together = [
        cls for cls in parts("attack").values() if issubclass(cls, Attack) and issubclass(cls, ComparesReleases)
    ]
    return sorted(together, key=lambda cls: ("k" not in cls.model_fields, cls.name))


def broken(findings: Sequence[Finding]) -> list[str]:
    """How a release breaks earlier ones, in words; empty when it does not. Counts only."""
    measured = [finding for finding in findings if finding.value is not None]
    return [way for finding in measured for way in finding.part.blocking_reasons(finding.evidence)]


def unchecked(findings: Sequence[Finding]) -> bool:
    """Whether no attack had a meaning for the releases: then nothing is known about them together."""
    return all(finding.value is None for finding in findings)


def checked(original: Table, leaving: Table, policy: Policy) -> tuple[Finding, ...]:
    """The check of a policy's ``[history]``; refuses a release that breaks an earlier one and is not acknowledged."""
    history = policy.history
    if not history.releases:
        return ()
    findings = against(original, leaving, history.releases, least(history.k, policy.require))
    ways = broken(findings)
    if unchecked(findings) and not history.acknowledge:
        raise RequirementError(
            "this release could not be compared with the earlier ones; nothing was written. "
            f"{' '.join(finding.reason for finding in findings)} Give their certificates with the private records "
            "beside them, or the reason why it may be published in [history] acknowledge."
        )
    if ways and not history.acknowledge:
        raise RequirementError(
            f"this release breaks {len(history.releases)} earlier one(s); nothing was written. {_sentence(ways)} "
            "Recode as before (same hierarchies, same levels), release fewer columns, keep the noise of the earlier "
            "release, or give the reason why it may be published in [history] acknowledge."
        )
    return findings


def least(k: int | None, require: Sequence[Model]) -> int:
    """The fewest records that must be left: as given, or what the policy requires of each release, or 2."""
    return max([2, *(search_hints(model).smallest_size() for model in require)]) if k is None else k


def commitments(policy: Policy) -> dict[str, str]:
    """Return the hashes of the certificates or files of the earlier releases, which a certificate commits to."""
    return {f"earlier_release_{i + 1}": file_hash(Path(path)) for i, path in enumerate(policy.history.releases)}


def public_check(findings: Sequence[Finding], policy: Policy, disclosure: Disclosure, *, formal: bool) -> HistoryCheck:
    """Return the check as a certificate states it; a formal guarantee allows no number measured on the original."""
    check = HistoryCheck(checked=list(commitments(policy)))
    if formal:
        return check
    ways = broken(findings)
    check.attacks, check.broken = [disclosure.claim(finding) for finding in findings], bool(ways)
    if ways or unchecked(findings):
        check.acknowledged = policy.history.acknowledge
    return check


def _sentence(ways: Sequence[str]) -> str:
    text = "; ".join(ways) + "."
    return text[0].upper() + text[1:]
