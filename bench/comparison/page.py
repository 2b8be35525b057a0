"""The results as a page with charts, and as a page of the documentation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

Found = Mapping[str, Any]

STRUCTURE = """\
The results are in [benchmarks.json](../assets/benchmarks.json). `machine` and `versions` say where they were measured.
`tasks` holds for each task its `results` (`who`, `rows`, `cpu` and `wall` in seconds, `memory` in MB at its largest,
`answer`), the fitted `exponents`, the `limit` that Celosia is held to, and who was `skipped` with the `reason`.
`reference` holds the comparisons with recorded times of ARX and sdcMicro, `floors` what is spent before any work.
"""
MEASURED = """\
`make bench` measures this on your machine. Every job is a process of its own, those of a peer in a virtual environment
of its own; each first does the same on a small table, so that imports and compiled code are not counted. *CPU* is the
time of the processor over all threads, from the file to the result. *Memory* is the most that the process ever held,
its libraries included. The *exponent* is fitted to CPU time over rows on logarithmic scales, from a hundredth of the
largest size on (1: twice the rows take twice the time).

This page: {date}, {processor}, {cores} cores, {memory}, {system}, Python {python}, on a machine that others used as
well. The calibration job, a loop in plain Python, takes {calibration} s there. {listed}.
"""
RECORDED = """\
Their CPU seconds were recorded on an idle machine where the calibration job takes 1.15 s, warm, for the search or the
function alone. Ours are of the whole method. *Less* is how many times less CPU Celosia takes, corrected by the
calibration job. Both results are on the same data; a granularity is the better the larger.
"""


def as_markdown(found: Found) -> str:
    """The page of the documentation."""
    blocks = ["# Benchmarks", intro(found), *reference(found)]
    for task in found.get("tasks", []):
        blocks += [f"## {task['title']}", task["what"], task_table(task), *left_out(task)]
    blocks += [*growth(found), *floors(found), "## The numbers", STRUCTURE.strip()]
    return "\n\n".join(blocks) + "\n"


def intro(found: Found) -> str:
    """How it was measured, and where."""
    listed = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return MEASURED.format(**found["machine"], listed=listed).strip()


def reference(found: Found) -> list[str]:
    """The comparison with ARX and sdcMicro."""
    if not found.get("reference"):
        return []
    rows = [
        f"| {row['tool']} | {row['what']} | {row['rows']:,} | {row['theirs']:g} s | {row['ours']:.2g} s | "
        f"{row['ratio']:g} × | {row['their result'] or '—'} | {row['our result'] or '—'} |"
        for row in found["reference"]
    ]
    head = "| tool | task | records | theirs | ours | less | their result | our result |"
    rule = "|---|---|---:|---:|---:|---:|---|---|"
    return ["## Against ARX and sdcMicro", RECORDED.strip(), "\n".join([head, rule, *rows])]


def task_table(task: Mapping[str, Any]) -> str:
    """Who took how long for how many rows; in brackets the multiple of what Celosia took."""
    who = list(dict.fromkeys(row["who"] for row in task["results"]))
    sizes = sorted({row["rows"] for row in task["results"]})
    cells = {(row["who"], row["rows"]): row for row in task["results"]}
    lines = [
        "| | " + " | ".join(f"{size:,} rows" for size in sizes) + " | memory | exponent |",
        "|---|" + "---:|" * (len(sizes) + 2),
    ]
    for name in who:
        own = [_cell(cells.get((name, size)), cells.get(("Celosia", size))) for size in sizes]
        largest = max(row["rows"] for row in task["results"] if row["who"] == name)
        slope = task["exponents"].get(name)
        shown = f"**{name}**" if name.startswith("Celosia") else name
        ends = [f"{cells[name, largest]['memory']:,} MB", "—" if slope is None else str(slope)]
        lines.append(f"| {' | '.join([shown, *own, *ends])} |")
    return "\n".join(lines)


def _cell(row: Mapping[str, Any] | None, celosia: Mapping[str, Any] | None) -> str:
    if row is None:
        return "—"
    ratio = f" ({row['cpu'] / celosia['cpu']:.2g} ×)" if celosia and row["who"] != "Celosia" and celosia["cpu"] else ""
    return f"{row['cpu']:.2f} s{ratio}"


def left_out(task: Mapping[str, Any]) -> list[str]:
    """Who stopped where, and why."""
    told = [f"{skipped['who']}: {skipped['reason']}" for skipped in task["skipped"]]
    return ["Not measured: " + "; ".join(told) + "."] if told else []


def growth(found: Found) -> list[str]:
    """The exponents of Celosia, beside those it is held to."""
    rows = [
        f"| {task['title']} | {task['exponents']['Celosia']} | {task['limit'] or '—'} |"
        for task in found.get("tasks", [])
        if "Celosia" in task["exponents"]
    ]
    head = "| task | exponent | at most |\n|---|---:|---:|\n"
    return ["## Growth", head + "\n".join(rows)] if rows else []


def floors(found: Found) -> list[str]:
    """What is spent before the work, and what could not be less."""
    rows = [
        f"| {row['what']} | {row['floor']} | {row['before']} | {row['now']} |{row.get('note', '')} |"
        for row in found.get("floors", [])
    ]
    head = "| what | floor | before | now | |\n|---|---:|---:|---:|---|\n"
    told = (
        "CPU time. The *floor* is what the libraries take that are needed in any case, measured in the same run. "
        "Kernels are compiled when they are first used, and kept for later processes; `celosia doctor --compile` "
        "compiles those of the common jobs at once."
    )
    return ["## Floors", told, head + "\n".join(rows)] if rows else []


def chart(task: Mapping[str, Any], number: str, name: str) -> str:
    """One line per contestant over the rows, both axes in powers of ten."""
    from celosia.show.charts import legend
    from celosia.show.plots import Axis, Plane, series

    who = list(dict.fromkeys(row["who"] for row in task["results"]))
    lines = {
        each: [
            (math.log10(row["rows"]), math.log10(max(row[number], 1e-3)))
            for row in task["results"]
            if row["who"] == each
        ]
        for each in who
    }
    points = [point for line in lines.values() for point in line]
    across = Axis("rows, power of ten", min(x for x, _ in points) - 0.1, max(x for x, _ in points) + 0.1)
    up = Axis(
        f"{name}, power of ten", math.floor(min(y for _, y in points)), math.ceil(max(y for _, y in points)) + 0.1
    )
    plane = Plane(across, up, height=300)
    marks = "".join(
        plane.line(line, f"line {series(i - 1)}") + plane.squares(line, series(i - 1))
        for i, line in enumerate(lines.values())
    )
    spoken = "; ".join(f"{row['who']} {row['rows']} rows {row[number]}" for row in task["results"])
    caption = f"{task['title']}: {name}"
    svg = plane.draw(marks, f"{caption}. {spoken}")
    return f"<figure>{legend(who)}{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def as_html(found: Found) -> str:
    """The page with charts."""
    from markdown_it import MarkdownIt

    from celosia.release.report.page import templates

    markdown = MarkdownIt("commonmark").enable("table")
    body = []
    for task in found.get("tasks", []):
        if not task["results"]:
            continue
        charts = chart(task, "cpu", "CPU seconds") + chart(task, "memory", "memory in MB")
        text = "\n\n".join([f"## {task['title']}", task["what"], task_table(task), *left_out(task)])
        body.append(markdown.render(text) + charts)
    first = "\n\n".join([intro(found), *reference(found)])
    last = "\n\n".join([*growth(found), *floors(found)])
    parts = [markdown.render(text) for text in (first, last)]
    source = (
        '{% extends "base.html.j2" %}{% block body %}<style>main{max-width:64rem}td{white-space:nowrap}'
        "figure{max-width:46rem}</style><h1>{{ heading }}</h1>{{ body|safe }}{% endblock %}"
    )
    page = templates().overlay().from_string(source)
    return page.render(heading="Benchmarks", code="en", body=parts[0] + "".join(body) + parts[1])


def write_page(found: Found, out: Path) -> None:
    """Write the page with charts."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(as_html(found), encoding="utf-8")
