"""The page over all reproductions: what was checked in each document, what comes out, what differs and why."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from celosia.experiments import declared, experiments, write_report
from celosia.experiments.statements import brief, reasons

NAME = "index"


def run(name: str, out: Path, **settings: Any) -> dict[str, Any]:
    """Run an experiment, and enter what came out and how long it took into the index of the directory ``out``.

    Time is that of the processor: on a machine with nothing else to do the same as on the clock.
    """
    begun = time.process_time()
    result = declared(name).reproduce(out=out, **settings)
    rows = {row["experiment"]: row for row in entries(out)}
    if "counts" in result:  # not when an experiment ran on data of its reader: no document prints anything of these
        rows[name] = entry(name, result, time.process_time() - begun)
        write(out, [rows[known] for known in experiments() if known in rows])
    return result


def entry(name: str, result: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The row of an experiment, from the statements that it checked."""
    return {
        "experiment": name,
        "document": declared(name).document,
        "page": f"{name}.html",
        "seconds": round(seconds, 1),
        "counts": result["counts"],
        "nearest to print": result.get("nearest to print"),
        "why not": reasons(result["statements"]),
    }


def entries(out: Path) -> list[dict[str, Any]]:
    """The rows that the index of a directory has."""
    path = Path(out) / f"{NAME}.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["experiments"] if path.exists() else []
    return rows


def write(out: Path, rows: list[dict[str, Any]]) -> None:
    """Write ``index.html`` and ``index.json``."""
    from celosia.release.report.page import templates

    environment = templates().overlay()
    environment.filters["brief"] = brief
    template = environment.from_string((resources.files(__package__) / "index.html.j2").read_text("utf-8"))
    missing = [declared(name) for name in experiments() if name not in {row["experiment"] for row in rows}]
    html = template.render(heading="The source documents, run again", code="en", rows=rows, missing=missing)
    write_report(NAME, out, html, {"experiments": rows})
