"""What was done to make a release: the steps, searches that stopped early, the lattices that were searched."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celosia.parts import grammar
from celosia.release.report.grids import grid
from celosia.release.report.texts import meaning
from celosia.show.formats import number

if TYPE_CHECKING:
    from celosia.release.evidence.release import Release


def searches(release: Release, w: Mapping[str, Any], language: str) -> list[str]:
    """A sentence for each search that stopped early: how good its result is, and what would help."""
    say = functools.partial(number, language=language)
    texts = []
    for entry in release.table.history:
        search = entry.get("search")
        if not search or search["complete"]:
            continue
        distance = w["search_unknown"]
        if search["gap"] is not None:
            distance = w["search_gap"].format(bound=say(search["bound"]), gap=say(search["gap"]))
        helps = "; ".join(w["advice"][name] for name in search["advice"])
        counts = {"judged": say(search["judged"]), "nodes": say(search["nodes"])}
        score = say(search["score"]) if isinstance(search["score"], int | float) else "—"
        texts.append(
            w["search_stopped"].format(step=entry["step"], score=score, distance=distance, helps=helps, **counts)
        )
    return texts


def step_told(step: Mapping[str, Any], w: Mapping[str, Any], language: str) -> dict[str, str]:
    """A step: how it is written, what it does, what it reports, and which attacks read it."""
    from celosia.parts import attacks_reading, find

    readers = ", ".join(attacks_reading(step["use"]))
    spec = {k: v for k, v in step.items() if k not in {"name", "withheld", "evidence"}}
    evidence = {k: v for k, v in step.get("evidence", {}).items() if k != "step"}
    plain = {k: v for k, v in evidence.items() if isinstance(v, int | float | str | bool)}
    facts = ", ".join(f"{k} {number(v, language=language) if isinstance(v, float) else v}" for k, v in plain.items())
    return {
        "name": str(step["name"]),
        "written": grammar.show(spec),
        "meaning": meaning(find("method", step["use"]), w),
        "found": facts,
        "read": w["read_by"].format(attacks=readers) if readers else w["general_only"],
    }


def lattice_told(lattice: Mapping[str, Any], w: Mapping[str, Any], language: str) -> dict[str, Any]:
    """The explored lattice as a picture, the best alternatives, and the best loss by number of suppressed records."""
    from celosia.search.lattice.diagram import lattice_svg
    from celosia.search.lattice.explanation import alternatives, suppression_curve

    def say(value: Any) -> str:
        return number(value, language=language) if isinstance(value, int | float) else "—"

    rows = [
        [
            ", ".join(f"{name} {level}" for name, level in zip(lattice["columns"], levels, strict=True)),
            say(score),
            say(suppressed),
            say(classes),
            w["chosen"] if levels == lattice["best"] else "",
        ]
        for levels, suppressed, classes, score, _ in alternatives(lattice)
    ]
    curve = [[say(int(point[0])), say(point[1])] for point in suppression_curve(lattice)[:20]]
    heads = [w["lattice_levels"], w["loss"], w["buys_suppressed"], w["classes"], ""]
    return {
        "svg": lattice_svg(lattice, w["nodes"]),
        "alternatives": grid(heads, rows, {1, 2, 3}),
        "curve": grid([w["buys_suppressed"], w["buys_loss"]], curve, {0, 1}) if curve else None,
    }
