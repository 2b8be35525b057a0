"""The report of a publication as one page that opens offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GROUPS = {"all": "all", "blocking": "blocking owners", "others": "other owners"}


def page(report: Mapping[str, Any]) -> str:
    """Render a report; names of inferences, columns and counts only."""
    import jinja2

    from celosia.report.page import templates

    environment = templates().overlay(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader("celosia.consent", "templates"), jinja2.PackageLoader("celosia.report", "templates")]
        )
    )
    rows = []
    for name, one in report["measured"].items():
        for group, label in GROUPS.items():
            attack, loss = one.get("p_reid", {}).get(group), one["losses"].get(group)
            if loss is None:
                continue
            rows.append(
                {
                    "rule": name,
                    "group": label,
                    "p": f"{attack['value']:.1%}" if attack else "…",
                    "interval": f"{attack['low']:.1%} – {attack['high']:.1%}" if attack else "…",
                    "baseline": f"{attack['baseline']:.1%}" if attack else "…",
                    "gcp": f"{loss['gcp']:.2%}",
                    "altered": f"{loss['altered']:.1%}",
                }
            )
    return environment.get_template("publication.html.j2").render(
        report=report, rows=rows, code="en", heading="Publication that honours blocks"
    )
