"""Reports of releases: self-contained HTML pages, in two editions and three languages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.io.atomic import replace_file
from celosia.release.report.page import render, tables_page
from celosia.show.look import LANGUAGES

if TYPE_CHECKING:
    from celosia.release.evidence.findings import Comparison
    from celosia.release.verify.verification import Verification

__all__ = ["LANGUAGES", "certificate_page", "comparison_page", "render", "tables_page", "verification_page"]


def comparison_page(comparison: Comparison, path: Path) -> None:
    """Write a comparison as a page, with the tables that a terminal shows."""
    tables = [{"title": b.title, "headings": b.headings, "rows": b.rows} for b in comparison.blocks()]
    _write(path, tables_page("Comparison", tables))


def verification_page(verification: Verification, certificate: Path, path: Path) -> None:
    """Write the result of a verification as a page, with the certificate (or the one in that directory) below it."""
    from celosia.release.evidence.certificate import load_certificate

    if certificate.is_dir():
        certificate = next(file for file in certificate.glob("*certificate.json") if not file.name.startswith("."))
    rows = [[c.claim, c.verdict, _as_text(c.stated), _as_text(c.found)] for c in verification]
    verdict = verification.sentence[0].upper() + verification.sentence[1:]
    table = {"title": "Checks", "headings": ["claim", "verdict", "stated", "found"], "rows": rows}
    tables = [table, *_certificate_tables(load_certificate(certificate).content())]
    _write(path, tables_page(f"Verification of {certificate.name}", tables, verdict=verdict, good=verification.holds))


def certificate_page(certificate: dict[str, Any], path: Path) -> None:
    """Write a certificate as a page for people."""
    verdict = "Every requirement holds." if certificate["holds"] else "A requirement does not hold."
    tables = _certificate_tables(certificate)
    _write(path, tables_page("Certificate", tables, verdict=verdict, good=bool(certificate["holds"])))


def _certificate_tables(certificate: dict[str, Any]) -> list[dict[str, Any]]:
    """Tables of a certificate, one per section."""
    plain = [[_words(k), _as_text(v)] for k, v in certificate.items() if not isinstance(v, dict | list)]
    tables = [{"title": "The certificate", "headings": ["", ""], "rows": plain}]
    for key, value in certificate.items():
        if isinstance(value, dict):
            rows = [[_words(k), _as_text(v)] for k, v in value.items()]
            tables.append({"title": _words(key), "headings": ["", ""], "rows": rows})
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            rows = [[_as_text(entry.get("part") or entry.get("name")), _details(entry)] for entry in value]
            tables.append({"title": _words(key), "headings": ["", ""], "rows": rows})
        elif isinstance(value, list) and value:
            tables.append({"title": _words(key), "headings": [""], "rows": [[_as_text(value)]]})
    return tables


def _words(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _details(entry: dict[str, Any]) -> str:
    return "; ".join(f"{k}: {_as_text(v)}" for k, v in entry.items() if k not in {"part", "name"})


def _as_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_as_text(v)}" for k, v in value.items()) or "—"
    if isinstance(value, list):
        return ", ".join(map(_as_text, value)) or "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = "—" if value is None else str(value)
    return f"{text[:16]}…" if len(text) == 64 and " " not in text else text  # shorten a hash


def _write(path: Path, text: str) -> None:
    with replace_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
