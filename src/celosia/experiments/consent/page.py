"""The page of the experiment: figures 8.1 to 8.4 redrawn, differences, analysis of variance; it opens offline."""

from __future__ import annotations

from importlib import resources
from typing import Any

from celosia.experiments.consent.experiment import GROUPS, RULES, Results, magnitudes, others_cost
from celosia.release.report.charts import bars


def page(found: Results, report: dict[str, Any]) -> str:
    """Render the page."""
    from celosia.release.report.page import templates

    tables = [
        {"name": "Paired differences of P_reid, standard(k) minus the rule, 99 % intervals", "rows": magnitudes(found)},
        {"name": "What the rules cost owners who block nothing (GCP)", "rows": others_cost(found)},
        {"name": "Analysis of variance of P_reid of blocking owners", "rows": report["anova"]},
        {"name": "Assumptions of the analysis", "rows": [report["assumptions"]]},
    ]
    if report["adult"]:
        tables.append({"name": "Adult: accuracy and what guessing reaches", "rows": report["adult"]})
    template = templates().from_string((resources.files(__package__) / "page.html.j2").read_text("utf-8"))
    return str(
        template.render(
            heading="Preferences over inferences, run again",
            code="en",
            plan=found.plan,
            summary=report["summary"],
            answers=report["questions"],
            figures=_figures(found),
            tables=tables,
        )
    )


def _figures(found: Results) -> list[str]:
    """8.1 P_reid of all, 8.2 of blocking owners, 8.3 the difference, 8.4 altered rows; by k, one bar per rule."""
    labels = [f"k {k}, knows {e:.0%}" for k in found.plan.k for e in found.plan.external]

    def by_rule(group: str) -> list[tuple[str, list[float | None]]]:
        g = GROUPS.index(group)
        mean = found.p_reid[..., g].mean(axis=0)
        return [(rule, [float(v) for v in mean[:, :, j].ravel()]) for j, rule in enumerate(RULES)]

    standard = RULES.index("standard")
    gain = found.p_reid[:, :, :, [standard], 1].mean(axis=0) - found.p_reid[..., 1].mean(axis=0)
    differences: list[tuple[str, list[float | None]]] = [
        (rule, [float(v) for v in gain[:, :, j].ravel()]) for j, rule in enumerate(RULES)
    ]
    altered: list[tuple[str, list[float | None]]] = [
        (rule, [float(v) for v in found.altered[:, :, j, 0].mean(axis=0)]) for j, rule in enumerate(RULES)
    ]
    return [
        bars("Figure 8.1: P_reid of everybody", labels, by_rule("all")),
        bars("Figure 8.2: P_reid of blocking owners", labels, by_rule("blocking")),
        bars("Figure 8.3: how much lower for blocking owners than standard(k)", labels, differences),
        bars("Figure 8.4: altered rows (CM of the thesis)", [f"k {k}" for k in found.plan.k], altered),
    ]
