"""Repetition of a publication from its private record, the database, the catalogue and the choices of its time."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables
from celosia.consent.protection.protection import Design, class_sizes
from celosia.consent.publication.release import certify
from celosia.consent.publication.request import Publication, Request, activations, carry_out
from celosia.consent.rules.rules import Catalogue
from celosia.errors import CelosiaError, ParameterError
from celosia.release.evidence.certificate import Certificate, CertificateDraft, Record
from celosia.release.evidence.seal import file_hash
from celosia.release.verify.claims import TOLERANCE
from celosia.release.verify.verification import Check
from celosia.release.verify.verify import Repeat

if TYPE_CHECKING:
    import polars as pl


NEW = {"created", "celosia", "commitments", "release"}
"""Entries of a certificate that a repetition does not compare; the file is compared by its hash."""


def repetition(
    source: str | pl.DataFrame,
    catalogue: Catalogue,
    store: Preferences,
    hierarchies: Mapping[str, Any] | None = None,
) -> Repeat:
    """Return the function with which :func:`celosia.verify` repeats a publication; ``hierarchies`` are no files."""

    def repeat(stated: Certificate, private: Record) -> list[Check]:
        if not private.request:
            return [Check("repetition", None, None, None, "no consent request made this release: it has a policy")]
        request = _request(private, hierarchies or {})
        past = Past(store, str(private.moment), default=private.default == "block")
        try:
            matching = activations(request, source, catalogue)
            rerun = carry_out(request, source, catalogue, past, matching, int(private.seed, 16))
        except CelosiaError as error:
            return [Check("repetition", None, None, False, str(error))]
        return _compare(stated, private, rerun, _has_deletion(store, str(private.moment)))

    return repeat


def _request(private: Record, hierarchies: Mapping[str, Any]) -> Request:
    """Return the request and its design from the private record."""
    request: dict[str, Any] = private.request
    stored = {**request, "hierarchies": {**request["hierarchies"], **hierarchies}}
    lacking = [column for column, hierarchy in stored["hierarchies"].items() if hierarchy is None]
    if lacking:
        raise ParameterError(f"the hierarchy of {lacking[0]!r} is no file: give it to repeat the request.")
    return Request(**_tuples(stored), design=Design(**_tuples(private.design)))


def _tuples(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}


def _compare(stated: Certificate, private: Record, rerun: Publication, deleted: bool) -> list[Check]:
    origin, committed = rerun.origin, private.committed
    checks = [
        _same("SHA-256 of the result of the query", str(private.input.sha256), origin.input),
        _same("SHA-256 of the catalogue of inferences", committed["catalogue"], origin.catalogue),
        _same("SHA-256 of the choices of that day", committed["preferences"], origin.preferences),
    ]
    if deleted and not checks[-1].passed:
        reason = "somebody has deleted their record since, as is their right"
        return [*checks[:-1], Check(checks[-1].claim, checks[-1].stated, origin.preferences, None, reason)]
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / stated.release.file
        certificate = certify(rerun, file)
        digest = file_hash(file)
    old, new = ({k: v for k, v in claims.items() if k not in NEW} for claims in (stated.spec(), certificate.spec()))
    differing = [name for name in {**old, **new} if not _agree(old.get(name), new.get(name))]
    same = f"differs in {', '.join(differing)}" if differing else "the same"
    return [
        *checks,
        *_unverifiable_checks(stated, certificate, rerun),
        _same("repetition gives the same bytes", stated.release.sha256, digest),
        _same("repetition gives the same certificate", "the same", same),
    ]


def _unverifiable_checks(stated: Certificate, certificate: CertificateDraft, rerun: Publication) -> list[Check]:
    """Check what the file does not show: counts of persons, and the classes of blocking owners."""
    repeated = {claim.counted: claim.value for claim in certificate.requirements if claim.counted}
    checks = [
        Check(claim.part, claim.value, repeated.get(claim.counted), repeated.get(claim.counted) == claim.value)
        for claim in stated.requirements
        if claim.counted
    ]
    design, table = rerun.request.design, rerun.protected.table
    if design.rule == "exchange":  # the condition is not on a class size of the table
        return checks
    size, kept = class_sizes(table)
    for condition in stated.conditions:
        rows = rerun.marks.rows.get(condition.inference)
        mine = size[kept & rows[table.ids()]] if rows is not None else size[:0]
        least = float(mine.min()) if len(mine) else None
        wanted: Any = condition.value
        checks.append(Check(condition.claim, wanted, least, least is None or least >= wanted))
    return checks


def _same(claim: str, stated: str, repeated: str) -> Check:
    return Check(claim, stated, repeated, stated == repeated)


def _agree(stated: object, repeated: object) -> bool:
    """Return whether two plain values agree, numbers within the rounding of another machine."""
    if isinstance(stated, dict) and isinstance(repeated, dict):
        return stated.keys() == repeated.keys() and all(_agree(value, repeated[name]) for name, value in stated.items())
    if isinstance(stated, list) and isinstance(repeated, list):
        return len(stated) == len(repeated) and all(map(_agree, stated, repeated))
    if isinstance(stated, float) and isinstance(repeated, float):
        return abs(stated - repeated) <= TOLERANCE * max(1.0, abs(stated))
    return bool(stated == repeated)


def _has_deletion(store: Preferences, moment: str) -> bool:
    """Return whether an owner has deleted their record since a moment."""
    import sqlalchemy as sa

    from celosia.consent.owners.tables import tables

    t = tables().trail
    with store.engine.connect() as connection:
        query = sa.select(t.c.number).where(t.c.what == "deletion", t.c.at > moment).limit(1)
        return connection.execute(query).first() is not None


# Choices of data subjects at an earlier moment, to repeat a publication of that time.


class Past(Preferences):
    """Store as it was at a moment, without owners who have deleted their record since.

    Aliases of owners have no history: they are those of today.
    """

    def __init__(self, store: Preferences, moment: str, *, default: bool) -> None:
        self._engine = store.engine
        self._moment, self._default = moment, default

    @property
    def default(self) -> bool:
        """Whether an owner who had not answered counted as blocking."""
        return self._default

    def exceptions(self, inference: str) -> set[str]:
        """Return the owners whose last choice before the moment differed from the default."""
        import sqlalchemy as sa

        t = tables().changes
        then = (t.c.inference == inference) & (t.c.at <= self._moment)
        last = sa.select(sa.func.max(t.c.number)).where(then).group_by(t.c.owner)
        query = sa.select(t.c.owner).where(t.c.number.in_(last), t.c.block.is_(not self._default))
        with self._engine.connect() as connection:
            return set(connection.execute(query).scalars())
