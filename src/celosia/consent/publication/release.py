"""Release of a publication: data, certificate, private record and reports, written atomically."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from celosia import __version__
from celosia.consent.publication.edition import public_report
from celosia.data.io import write
from celosia.errors import OutputError
from celosia.parts import build
from celosia.release.evidence.certificate import (
    CERTIFICATE_FORMAT,
    RECORD_FORMAT,
    CertificateDraft,
    Condition,
    Input,
    RecordDraft,
    ReleasedTable,
    Requirement,
    Roles,
)
from celosia.release.evidence.findings import measure_model, measure_threat
from celosia.release.evidence.history import with_roles
from celosia.release.evidence.plain_data import plain, pretty_json
from celosia.release.evidence.row_map import pack_rows
from celosia.release.evidence.seal import draft_files, file_hash, finish_interrupted, fresh_key, now, seal
from celosia.release.output.write import writer_options
from celosia.release.run import SMALLEST_SEED
from celosia.table import read
from celosia.table.frames import visible_frame

if TYPE_CHECKING:
    from celosia.consent.publication.request import Publication
    from celosia.release.evidence.signature import Signer
    from celosia.table import Table

FILES = {
    "data": "data.csv",
    "certificate": "certificate.json",
    "record": "private.json",
    "report": "report.json",
    "page": "report.html",
    "internal": "internal.html",
}
BIGGER = {
    "inference": "class size of owners who block {}",
    "class": "class size of owners who block {}",
    "coarser": "class size of owners who block {}",
    "control": "class size of owners who block {}",
    "exchange": "class size within which owners who block {} exchange",
}
"""Quantity that k + X bounds under each rule; ``standard`` has no X."""


def write_files(
    publication: Publication, out: str | Path, *, overwrite: bool = False, signer: Signer | None = None
) -> dict[str, Path]:
    """Write the files of a release into a directory, all or none.

    The private record and the internal page have mode 0600.
    """
    from celosia.consent.publication.report_page import page

    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    paths = {name: out / file for name, file in FILES.items()}
    finish_interrupted(paths)
    taken = [path.name for path in paths.values() if path.exists()]
    if taken and not overwrite:
        raise OutputError(f"{', '.join(taken)} exist already in {str(out)!r}. Give another place, or overwrite.")
    shown = public_report(publication)
    with draft_files(paths, overwrite=overwrite) as drafts:
        draft = certify(publication, drafts["data"])
        digest = file_hash(drafts["data"])
        certificate, record = seal(draft, private_record(publication), paths["data"].name, digest, signer=signer)
        drafts["certificate"].write_bytes(pretty_json(certificate.spec()))
        drafts["record"].write_bytes(pretty_json(record.spec()))
        text = json.dumps(plain(shown), indent=1, ensure_ascii=False)
        drafts["report"].write_text(text, encoding="utf-8")
        warning = certificate.test
        drafts["page"].write_text(page(shown, warning=warning), encoding="utf-8")
        drafts["internal"].write_text(page(publication.report, warning=warning), encoding="utf-8")
    return paths


def certify(publication: Publication, path: Path) -> CertificateDraft:
    """Write the data, and return the certificate, measured on the written file."""
    write(visible_frame(publication.table), path, type="csv", overwrite=True, **writer_options(path))
    request, shown = publication.request, plain(public_report(publication))
    roles = Roles.model_validate(publication.table.schema.spec())
    table = with_roles(read(path), roles)
    certificate = CertificateDraft(
        format=CERTIFICATE_FORMAT,
        celosia=__version__,
        created=now(),
        made_by="celosia consent request",
        release=ReleasedTable(rows=len(table), columns=list(table.names), suppressed=int(table.suppressed())),
        roles=roles,
        counted="records",
        left_out=[request.owner, *request.identifiers],
        guard=plain(publication.report["guard"]),
        holds=publication.holds,
        requirements=_requirements(publication, table),
        conditions=_conditions(publication),
        risks=[measure_threat(build("risk", "uniqueness"), table, table).claim()],
        parameters=plain(
            asdict(request.design) | {"external": request.external, "default": publication.origin.default}
        ),
        inferences=[{k: v for k, v in block.items() if k != "description"} for block in shown["blocks"]],
        owners=shown["owners"],
        owners_who_block=shown["owners who block"],
        rows_marked=shown["rows marked"],
        facts=shown["facts"],
        before=shown["before"],
        measured=shown["measured"],
        withheld=shown["withheld"],
        order="shuffled",
    )
    if publication.origin.seed < SMALLEST_SEED:
        certificate.test = "made with a small seed, which can be guessed: not for publication"
    return certificate


def private_record(publication: Publication) -> RecordDraft:
    """Return the private record, with all that repeats the release, and the whole report."""
    request, origin = publication.request, publication.origin
    return RecordDraft(
        format=RECORD_FORMAT,
        celosia=__version__,
        created=now(),
        seed=f"{origin.seed:032x}",
        key=fresh_key().hex(),
        request={
            "sql": request.sql,
            "owner": request.owner,
            "quasi": list(request.quasi),
            "identifiers": list(request.identifiers),
            "sensitive": list(request.sensitive),
            "dialect": request.dialect or origin.dialect,
            "key": request.key,
            # a hierarchy that is no file must be provided again to repeat the release
            "hierarchies": {c: str(h) if isinstance(h, str | Path) else None for c, h in request.hierarchies.items()},
            "external": request.external,
            "acknowledge": dict(request.acknowledge),
            "measure": request.measure,
        },
        design=plain(asdict(request.design)),
        committed={"query": origin.query, "catalogue": origin.catalogue, "preferences": origin.preferences},
        input=Input(sha256=origin.input, rows=len(publication.original)),
        moment=origin.moment,
        default=origin.default,
        rows=pack_rows(origin.rows),
        report=plain(publication.report),
    )


def _requirements(publication: Publication, table: Table) -> list[Requirement]:
    """Return the requirement of k for everybody, counted in records, and in persons if a person has several."""
    design, facts = publication.request.design, publication.protected.evidence
    verdict = measure_model(build("model", {"use": "k-anonymity", "k": design.k}), table).requirement()
    if publication.original.schema.person is None:
        return [verdict]
    value = plain(facts["smallest class"])
    return [verdict, verdict.model_copy(update={"value": value, "holds": True, "counted": "persons"})]


def _conditions(publication: Publication) -> list[Condition]:
    """Return the requirement for the owners who block each inference; it does not depend on their number."""
    design = publication.request.design
    if design.rule not in BIGGER:
        return []
    bigger = BIGGER[design.rule]
    return [
        Condition(
            inference=block["inference"],
            claim=f"{bigger.format(block['inference'])}, at least",
            value=plain(design.k + block["X"]),
        )
        for block in publication.report["blocks"]
        if block["X"] or design.rule != "inference"  # there, X is about quasi-identifiers only
    ]
