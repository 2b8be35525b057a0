"""Reports: one self-contained HTML page each, in two editions and three languages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.io.atomic import replaced
from celosia.report.page import LANGUAGES, render, tables_page

if TYPE_CHECKING:
    from celosia.verbs import Comparison

__all__ = ["LANGUAGES", "certificate_page", "comparison_page", "render", "tables_page", "verification_page"]


def comparison_page(comparison: Comparison, path: Path) -> None:
    """Write a comparison as a page."""
    rows = [
        [f.part.name, "—" if f.value is None else f"{f.value:.6g}", f.reason or f.part.summary()]
        for f in comparison.losses
    ]
    attacks = [
        [f.part.name, "—" if f.value is None else f"{f.value:.6g}", f.reason or f.part.summary()]
        for f in comparison.risks
    ]
    tables: list[dict[str, Any]] = [
        {"title": "What was lost", "headings": ["measure", "value", "meaning"], "rows": rows}
    ]
    if attacks:
        tables.append({"title": "Risks", "headings": ["measure", "value", "meaning"], "rows": attacks})
    _write(path, tables_page("Comparison", tables))


def verification_page(checks: list[Any], certificate: Path, path: Path) -> None:
    """Write the result of a verification as a page."""
    rows = [[c.claim, c.stated, c.found, c.verdict] for c in checks]
    failed = sum(c.passed is False for c in checks)
    verdict = "Everything that could be checked holds." if not failed else f"{failed} claims do not hold."
    table = {"title": "", "headings": ["claim", "stated", "found", "verdict"], "rows": rows}
    _write(path, tables_page(f"Verification of {certificate.name}", [table], verdict=verdict, good=not failed))


def certificate_page(certificate: dict[str, Any], path: Path) -> None:
    """Write a certificate as a page for people."""
    sections = [
        {"title": key, "headings": ["", ""], "rows": [[k, v] for k, v in value.items()]}
        for key, value in certificate.items()
        if isinstance(value, dict)
    ]
    lists = [
        {"title": key, "headings": ["", ""], "rows": [[i + 1, v] for i, v in enumerate(value)]}
        for key, value in certificate.items()
        if isinstance(value, list) and value
    ]
    plain = [[k, v] for k, v in certificate.items() if not isinstance(v, dict | list)]
    tables = [{"title": "", "headings": ["", ""], "rows": plain}, *sections, *lists]
    verdict = "Every requirement holds." if certificate["holds"] else "A requirement does not hold."
    _write(path, tables_page("Certificate", tables, verdict=verdict, good=bool(certificate["holds"])))


def _write(path: Path, text: str) -> None:
    with replaced(path) as draft:
        draft.write_text(text, encoding="utf-8")
