"""How assessments, comparisons, tables and releases look in a terminal and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from celosia.release import Release
    from celosia.verbs import Assessment, Comparison, Finding


def rich_assessment(assessment: Assessment) -> RenderableType:
    """An assessment as a page for a terminal."""
    from rich.console import Group

    table = assessment.table
    head = f"{len(table)} records, {table.suppressed()} suppressed; quasi-identifiers: {', '.join(table.schema.quasi)}"
    blocks: list[Any] = [head]
    if assessment.models:
        blocks.append(_requirements(assessment.models))
    blocks.append(_numbers("Risks", assessment.risks))
    return Group(*blocks)


def rich_comparison(comparison: Comparison) -> RenderableType:
    """A comparison as a page for a terminal."""
    from rich.console import Group

    blocks = [_numbers("What was lost", comparison.losses)]
    if comparison.risks:
        blocks.append(_numbers("Risks", comparison.risks))
    return Group(*blocks)


def rich_release(release: Release) -> RenderableType:
    """A release as a page for a terminal."""
    from rich.console import Group

    verdict = "Every requirement holds." if release.holds else "A requirement does NOT hold: do not publish."
    paths = "\n".join(f"  {name:<12}{path}" for name, path in release.paths.items())
    return Group(
        verdict,
        rich_assessment(release.assessment),
        rich_comparison(release.comparison),
        f"Written:\n{paths}",
    )


def _requirements(findings: tuple[Finding, ...]) -> RenderableType:
    from rich.table import Table

    table = Table(title="Requirements", title_justify="left")
    for heading in ("model", "wanted", "measured", "holds"):
        table.add_column(heading)
    for finding in findings:
        table.add_row(finding.part.name, finding.part.wish(), f"{finding.value:g}", "yes" if finding.holds else "NO")
    return table


def _numbers(title: str, findings: tuple[Finding, ...]) -> RenderableType:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for heading in ("measure", "value", "meaning"):
        table.add_column(heading)
    for finding in findings:
        shown = "—" if finding.value is None else f"{finding.value:.6g}"
        table.add_row(finding.part.name, shown, finding.reason or finding.part.summary())
    return table
