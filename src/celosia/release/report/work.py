"""Sections of a report on how the release was made: steps, searches that stopped early, searched lattices."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celosia.parts import grammar
from celosia.release.report.grids import grid
from celosia.release.report.texts import description
from celosia.show.formats import number

if TYPE_CHECKING:
    from celosia.release.evidence.release import Release


def searches(release: Release, w: Mapping[str, Any], language: str) -> list[str]:
    """Sentences on the searches that stopped early: how good the result is, and what would help."""
    text = functools.partial(number, language=language)
    texts = []
    for entry in release.table.history:
        search = entry.get("search")
        if not search or search["complete"]:
            continue
        distance = w["search_unknown"]
        if search["gap"] is not None:
            distance = w["search_gap"].format(bound=text(search["bound"]), gap=text(search["gap"]))
        helps = "; ".join(w["advice"][name] for name in search["advice"])
        counts = {"judged": text(search["judged"]), "nodes": text(search["nodes"])}
        score = text(search["score"]) if isinstance(search["score"], int | float) else "—"
        texts.append(
            w["search_stopped"].format(step=entry["step"], score=score, distance=distance, helps=helps, **counts)
        )
    return texts


def step_facts(step: Mapping[str, Any], w: Mapping[str, Any], language: str) -> dict[str, str]:
    """Return the texts of a step: its specification, description, evidence, and the attacks that know the method."""
    from celosia.parts import attacks_reading, find

    readers = ", ".join(attacks_reading(step["use"]))
    spec = {k: v for k, v in step.items() if k not in {"name", "withheld", "evidence"}}
    evidence = {k: v for k, v in step.get("evidence", {}).items() if k != "step"}
    plain = {k: v for k, v in evidence.items() if isinstance(v, int | float | str | bool)}
    facts = ", ".join(f"{k} {number(v, language=language) if isinstance(v, float) else v}" for k, v in plain.items())
    return {
        "name": str(step["name"]),
        "written": grammar.show(spec),
        "meaning": description(find("method", step["use"]), w),
        "found": facts,
        "read": w["read_by"].format(attacks=readers) if readers else w["general_only"],
    }


def lattice_facts(lattice: Mapping[str, Any], w: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return the picture of an explored lattice, its best alternatives, and the loss by suppressed records."""
    from celosia.search.lattice.diagram import lattice_svg
    from celosia.search.lattice.explanation import alternatives, suppression_curve

    def text(value: object) -> str:
        return number(value, language=language) if isinstance(value, int | float) else "—"

    rows = [
        [
            ", ".join(f"{name} {level}" for name, level in zip(lattice["columns"], levels, strict=True)),
            text(score),
            text(suppressed),
            text(classes),
            w["chosen"] if levels == lattice["best"] else "",
        ]
        for levels, suppressed, classes, score, _ in alternatives(lattice)
    ]
    curve = [[text(int(point[0])), text(point[1])] for point in suppression_curve(lattice)[:20]]
    heads = [w["lattice_levels"], w["loss"], w["buys_suppressed"], w["classes"], ""]
    return {
        "svg": lattice_svg(lattice, w["nodes"]),
        "alternatives": grid(heads, rows, {1, 2, 3}),
        "curve": grid([w["buys_suppressed"], w["buys_loss"]], curve, {0, 1}) if curve else None,
    }
