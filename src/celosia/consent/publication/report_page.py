"""Report of a publication as one HTML page that needs no network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GROUPS = {"all": "all", "blocking": "blocking", "others": "other"}
UNKNOWN = "…"
FACTS = {
    "X": "largest X of a record",
    "blocked rows": "rows whose owner blocks something",
    "left out": "rows left out",
    "raised": "rows made coarser than k alone asks for",
    "joined": "rows that show several places at once",
    "exchanged": "rows that exchanged values",
    "untrue rows": "rows with a value that is not theirs",
    "coarse among finer": "rows that show a coarse place among finer ones",
    "of them blocked": "of these, rows whose owner blocks something",
    "blocked in all": "of all, rows whose owner blocks something",
    "blocked who show it": "of blocking owners' rows, those that show a coarse place among finer ones",
    "suppressed": "rows suppressed",
    "short": "rows in a smaller class than asked for",
}
"""Descriptions of facts whose names are too short for a report."""


def page(report: Mapping[str, Any], certificate: str = "certificate.json", warning: str = "") -> str:
    """Render a report: names of inferences and columns, and counts. ``certificate`` is a file in the same folder."""
    import jinja2

    from celosia.release.report.environment import templates

    environment = templates().overlay(
        loader=jinja2.ChoiceLoader(
            [
                jinja2.PackageLoader("celosia.consent", "templates"),
                jinja2.PackageLoader("celosia.release.report", "templates"),
            ]
        )
    )
    return environment.get_template("publication.html.j2").render(
        report=report,
        rows=_effect(report["measured"]),
        file=_file(report),
        facts={FACTS.get(name, name): _format(value) for name, value in report["facts"].items()},
        certificate=certificate,
        warning=warning,
        withheld=report.get("withheld", ""),
        public=report.get("edition") == "public",
        code="en",
        heading="Publication that honours blocks",
    )


def _effect(measured: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return rows with the attack and the losses, for each rule and group of owners."""
    rows = []
    for name, measures in measured.items():
        for group, label in GROUPS.items():
            attack, loss = measures.get("p_reid", {}).get(group, {}), measures["losses"].get(group)
            if loss is None:
                continue
            rows.append(
                {
                    "rule": name,
                    "group": label,
                    "p": _percent(attack.get("value")),
                    "interval": f"{attack['low']:.1%} – {attack['high']:.1%}" if "low" in attack else UNKNOWN,
                    "baseline": _percent(attack.get("baseline")),
                    "gcp": _percent(loss["gcp"], 2),
                    "altered": _percent(loss["altered"]),
                }
            )
    return rows


def _percent(value: float | None, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{value:.{digits}%}"


def _file(report: Mapping[str, Any]) -> dict[str, object]:
    """Return α and CM of the whole file, before and under each rule."""
    if not report["before"]:
        return {}
    stages = {"before": report["before"], **report["measured"]}
    return {
        "labels": list(report["before"]["cm"]),
        "rows": [
            {
                "stage": name,
                "alpha": f"{measures['alpha']:.2%}",
                "cm": [f"{value:.1%}" for value in measures["cm"].values()],
            }
            for name, measures in stages.items()
        ],
    }


def _format(value: object) -> str:
    """Format a fact; a float is a share in percent."""
    return f"{value:.1%}" if isinstance(value, float) else str(value)
