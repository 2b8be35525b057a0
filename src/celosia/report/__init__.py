"""The report of a release: one HTML page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from celosia.release import Release


def render(release: Release, *, edition: Literal["external", "internal"], language: str = "en") -> str:
    """The report as a page."""
    rows = "".join(f"<tr><td>{escape(str(k))}</td><td>{escape(str(v))}</td></tr>" for k, v in release.certificate.items())
    return f"<!doctype html><html lang={language}><title>{edition}</title><table>{rows}</table></html>"


def comparison_page(comparison: Any, path: Path) -> None:
    """Write a comparison as a page."""
    path.write_text(f"<!doctype html><pre>{escape(str(comparison.spec()))}</pre>", encoding="utf-8")


def verification_page(checks: list[Any], certificate: Path, path: Path) -> None:
    """Write the result of a verification as a page."""
    rows = "".join(f"<tr><td>{escape(c.claim)}</td><td>{escape(c.verdict)}</td></tr>" for c in checks)
    path.write_text(f"<!doctype html><h1>{escape(certificate.name)}</h1><table>{rows}</table>", encoding="utf-8")
