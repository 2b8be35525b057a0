"""Index of all reproductions: statements checked in each document, matches, and differences with their reasons."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from celosia_reproduce import declared, experiments, write_report
from celosia_reproduce.statements import brief, reasons

NAME = "index"


def run(name: str, out: Path, **settings: object) -> dict[str, Any]:
    """Run an experiment, and enter its result and processor time into the index of the directory ``out``."""
    begun = time.process_time()
    result = declared(name).reproduce(out=out, **settings)
    rows = {row["experiment"]: row for row in entries(out)}
    if "counts" in result:  # an experiment on other data has no printed numbers to compare
        rows[name] = entry(name, result, time.process_time() - begun)
        write(out, [rows[experiment] for experiment in experiments() if experiment in rows])
    return result


def entry(name: str, result: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Return the row of an experiment, from the statements that it checked."""
    return {
        "experiment": name,
        "document": declared(name).document,
        "page": f"{name}.html",
        "seconds": round(seconds, 1),
        "counts": result["counts"],
        "match within": result["match within"],
        "unit": declared(name).unit,
        "nearest to print": result.get("nearest to print"),
        "why not": reasons(result["statements"]),
    }


def entries(out: Path) -> list[dict[str, Any]]:
    """Return the rows in the index of a directory."""
    path = Path(out) / f"{NAME}.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["experiments"] if path.exists() else []
    return rows


def write(out: Path, rows: list[dict[str, Any]]) -> None:
    """Write ``index.html`` and ``index.json``."""
    from celosia.release.report.environment import templates

    environment = templates().overlay()
    environment.filters["brief"] = brief
    template = environment.from_string((resources.files(__package__) / "index.html.j2").read_text("utf-8"))
    missing = [declared(name) for name in experiments() if name not in {row["experiment"] for row in rows}]
    html = template.render(heading="The source documents, run again", code="en", rows=rows, missing=missing)
    write_report(NAME, out, html, {"experiments": rows})


REPRODUCED = """\
# The source documents, run again

Celosia grew out of documents that print numbers. `celosia reproduce NAME` repeats one of them, `make reproduce` all: it
writes one page per document, an index over them, `build/reproduced/index.html`, and the numbers of this page. *Printed*
is what the document prints, *derived* what only follows from it, *print* what compares printed numbers with each other
and runs nothing of ours. Two numbers match when they lie apart by at most *within*, the widest distance in a document.
Where a document chose at random, or does not tell how, *match* is the default choice and *nearest* the choice that lies
nearest to print.

| document | experiment | printed | match | within | nearest | differ | derived | match | print | match | time |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{rows}

Time is that of the processor{dash}. All but the textbook read reference files that are not part of the project.
"""
DASH = "; a dash where a row was taken over from an earlier run that did not keep it"


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """Return the index as a page of the documentation."""
    table, blocks = [], []
    for row in rows:
        own, nearest = row["counts"]["printed"], row["nearest to print"]
        near = nearest["printed"]["come out"] if nearest else "–"
        apart = [
            row["counts"][origin][name] for origin in ("derived", "consistency") for name in ("checked", "come out")
        ]
        time_taken = f"{row['seconds']:.0f} s" if row["seconds"] else "–"
        within = f"{brief(row['match within'])} {row['unit']}".strip()
        cells = (row["document"], f"`{row['experiment']}`", own["checked"], own["come out"], within, near)
        table.append(_line(*cells, own["differ"], *apart, time_taken))
        reasoned = [
            _line(
                why["why"],
                why["statements"],
                f"{why['example']['where']}: {why['example']['what']}",
                brief(why["example"]["stated"]),
                brief(why["example"]["computed"]),
            )
            for why in row["why not"]
        ]
        if reasoned:
            head = "| why | statements | one of them | printed | recomputed |\n|---|---:|---|---|---|"
            blocks.append("\n".join([f"## What differs in {row['experiment']}", "", head, *reasoned]))
    dash = "" if all(row["seconds"] for row in rows) else DASH
    return REPRODUCED.format(rows="\n".join(table), dash=dash) + "\n" + "\n\n".join(blocks) + "\n"


def _line(*cells: object) -> str:
    """Format a row of a Markdown table, with bars in cells escaped."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
