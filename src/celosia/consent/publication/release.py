"""A publication as a release: data, public certificate, private record and reports, written together or not at all."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.consent.publication.edition import public
from celosia.data.io import write
from celosia.errors import OutputError
from celosia.parts import build
from celosia.release.evidence import evidence
from celosia.release.evidence.certificate import CERTIFICATE_FORMAT, RECORD_FORMAT
from celosia.release.evidence.history import with_roles
from celosia.release.leaving.writing import writer_options
from celosia.release.measuring import judge, measured
from celosia.release.running import SMALLEST_SEED
from celosia.table import read

if TYPE_CHECKING:
    from celosia.consent.publication.request import Publication
    from celosia.release.evidence.signing import Signer
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
    "class": "class size of owners who block {}",
    "coarser": "class size of owners who block {}",
    "control": "class size of owners who block {}",
    "exchange": "class size within which owners who block {} exchange",
}
"""What k + X bounds under each rule; ``standard`` knows no X."""


def write_files(
    publication: Publication, out: str | Path, *, overwrite: bool = False, signer: Signer | None = None
) -> dict[str, Path]:
    """Write a release into a directory: when one of its files fails none of them appears.

    The private record and the internal page can be read by their owner alone (mode 0600).
    """
    from celosia.consent.publication.report_page import page

    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    paths = {name: out / file for name, file in FILES.items()}
    evidence.settled(paths)
    taken = [path.name for path in paths.values() if path.exists()]
    if taken and not overwrite:
        raise OutputError(f"{', '.join(taken)} exist already in {str(out)!r}. Give another place, or overwrite.")
    shown = public(publication.report)
    with evidence.drafted(paths, overwrite=overwrite) as drafts:
        certificate = certified(publication, drafts["data"])
        digest = evidence.file_hash(drafts["data"])
        certificate, record = evidence.sealed(
            certificate, recorded(publication), paths["data"].name, digest, signer=signer
        )
        evidence.write_json(certificate, drafts["certificate"])
        evidence.write_json(record, drafts["record"])
        text = json.dumps(evidence.plain(shown), indent=1, ensure_ascii=False)
        drafts["report"].write_text(text, encoding="utf-8")
        warning = certificate.get("test", "")
        drafts["page"].write_text(page(shown, warning=warning), encoding="utf-8")
        drafts["internal"].write_text(page(publication.report, warning=warning), encoding="utf-8")
    return paths


def certified(publication: Publication, path: Path) -> dict[str, Any]:
    """Write the data, and the certificate about them: what it claims is measured on the file as others read it."""
    write(publication.table.visible(), path, type="csv", overwrite=True, **writer_options(path))
    request, shown = publication.request, public(publication.report)
    schema = publication.table.schema.spec()
    table = with_roles(read(path), schema)
    certificate = {
        "format": CERTIFICATE_FORMAT,
        "celosia": evidence.version(),
        "created": evidence.now(),
        "made by": "celosia consent request",
        "release": {"rows": len(table), "columns": list(table.names), "suppressed": table.suppressed()},
        "schema": schema,
        "counted": "records",
        "left_out": [request.owner, *request.identifiers],
        "guard": publication.report["guard"],
        "holds": publication.holds,
        "requirements": _requirements(publication, table),
        "conditions": _conditions(publication),
        "risks": [measured(build("risk", "uniqueness"), table).spec()],
        "parameters": asdict(request.design) | {"external": request.external, "default": publication.origin.default},
        "inferences": [{k: v for k, v in block.items() if k != "description"} for block in shown["blocks"]],
        **{name: shown[name] for name in ("owners", "owners who block", "rows marked", "facts", "before", "measured")},
        "withheld": shown["withheld"],
        "order": "shuffled",
    }
    if publication.origin.seed < SMALLEST_SEED:
        certificate["test"] = "made with a small seed, which can be guessed: not for publication"
    plain: dict[str, Any] = evidence.plain(certificate)
    return plain


def recorded(publication: Publication) -> dict[str, Any]:
    """The private record: enough for the publisher to make the release again, and the whole report."""
    request, origin = publication.request, publication.origin
    return {
        "format": RECORD_FORMAT,
        "celosia": evidence.version(),
        "created": evidence.now(),
        "seed": f"{origin.seed:032x}",
        "key": evidence.fresh_key().hex(),
        "request": {
            "sql": request.sql,
            "owner": request.owner,
            "quasi": list(request.quasi),
            "identifiers": list(request.identifiers),
            "sensitive": list(request.sensitive),
            "dialect": request.dialect or origin.dialect,
            "key": request.key,
            # a hierarchy that is no file must be given again
            "hierarchies": {c: str(h) if isinstance(h, str | Path) else None for c, h in request.hierarchies.items()},
            "external": request.external,
            "acknowledge": dict(request.acknowledge),
            "measure": request.measure,
        },
        "design": evidence.plain(asdict(request.design)),
        "committed": {"query": origin.query, "catalogue": origin.catalogue, "preferences": origin.preferences},
        "input": {"sha256": origin.input, "rows": len(publication.original)},
        "moment": origin.moment,
        "default": origin.default,
        "rows": evidence.pack_rows(origin.rows),
        "report": evidence.plain(publication.report),
    }


def _requirements(publication: Publication, table: Table) -> list[dict[str, Any]]:
    """What is required of everybody: k, in records as the file shows them, and in persons where owners have several."""
    design, facts = publication.request.design, publication.protected.evidence
    model = build("model", {"use": "k-anonymity", "k": design.k})
    verdict = judge(model, table).spec()
    if design.tree and "suppress" in design.strengthen:
        return [{**verdict, "value": facts["smallest number of candidates"], "holds": True, "counted": "candidates"}]
    if publication.original.schema.person is None:
        return [verdict]
    return [verdict, {**verdict, "value": facts["smallest class"], "holds": True, "counted": "persons"}]


def _conditions(publication: Publication) -> list[dict[str, Any]]:
    """What is required for owners who block an inference, whoever and however many they are."""
    design = publication.request.design
    if design.rule not in BIGGER:
        return []
    bigger = BIGGER[design.rule]
    return [
        {
            "inference": block["inference"],
            "claim": f"{bigger.format(block['inference'])}, at least",
            "value": design.k + block["X"],
        }
        for block in publication.report["blocks"]
    ]
