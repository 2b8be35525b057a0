"""All tasks, contestant by contestant and size by size, into one dictionary that is written after each task."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from bench._calibration import calibration
from bench.comparison.environments import BUILD, NotThere, interpreter
from bench.comparison.measuring import JOBS, Failed, exponent, measured
from bench.comparison.tables import WARM, table
from bench.comparison.tasks import Contestant, Task

FORM = "celosia benchmarks 1"
ENOUGH = 150.0
"""CPU seconds that one job may be expected to take, unless told otherwise; a larger table is then left out."""
PATIENCE = 1500.0
"""Seconds on the clock after which a job is stopped."""


def machine() -> dict[str, Any]:
    """Where this is measured."""
    import os

    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": (names or [platform.processor()])[0],
        "cores": os.cpu_count(),
        "memory": f"{memory:.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "calibration": round(calibration(), 2),
        "date": time.strftime("%Y-%m-%d"),
    }


def versions() -> dict[str, str]:
    """What is installed here."""
    return {name: metadata.version(name) for name in ("celosia", "polars", "duckdb", "pyspark", "numpy", "numba")}


def compare(task: Task, largest: int, enough: float, known: dict[str, str]) -> dict[str, Any]:
    """The results of one task; versions of peers are added to those known."""
    results, skipped = [], []
    for contestant in task.contestants:
        try:
            rows, left_out = climb(task, contestant, largest, enough, known)
        except NotThere as reason:
            rows, left_out = [], str(reason)
        results += rows
        if left_out:
            skipped.append({"who": contestant.who, "reason": left_out})
    growth = {
        contestant.who: exponent([(row["rows"], row["cpu"]) for row in results if row["who"] == contestant.who])
        for contestant in task.contestants
    }
    return {
        "name": task.name,
        "title": task.title,
        "what": task.what,
        "floors": [contestant.who for contestant in task.contestants if contestant.floor],
        "results": results,
        "exponents": {who: slope for who, slope in growth.items() if slope is not None},
        "limit": task.limit,
        "skipped": skipped,
    }


def climb(
    task: Task, contestant: Contestant, largest: int, enough: float, known: dict[str, str]
) -> tuple[list[dict[str, Any]], str]:
    """One contestant on larger and larger tables, until one would take too long; and why it stopped before the last."""
    call = contestant.call or (interpreter(contestant.peer) if contestant.peer else sys.executable,)
    rows: list[dict[str, Any]] = []
    for size in contestant.sizes:
        if size > largest:
            break
        if rows:
            slope = exponent([(row["rows"], row["cpu"]) for row in rows]) or 1.0
            expected = rows[-1]["cpu"] * (size / rows[-1]["rows"]) ** max(1.0, slope)
            if expected > enough:
                return rows, f"{size:,} rows would take about {expected:,.0f} s CPU"
        files = [given(task.table, n, contestant) for n in (WARM[task.table], size)]
        try:
            took = measured([*call, JOBS / contestant.file, contestant.job, *files], PATIENCE)
        except Failed as reason:
            return rows, f"{size:,} rows: {reason}"
        known |= took.pop("versions")
        numbers = {name: round(took[name], 3) for name in ("cpu", "wall")} | {"memory": round(took["memory"])}
        rows.append({"who": contestant.who, "rows": size, **numbers, "answer": took["answer"]})
        said = f"{took['cpu']:9.2f} s CPU {took['memory']:7.0f} MB"
        print(f"{task.name:18} {contestant.who:18} {size:>11,} {said}", flush=True)
    return rows, ""


def given(kind: str, rows: int, contestant: Contestant) -> Path:
    """The file that a contestant reads."""
    path = table(kind, rows, BUILD / "tables")
    if contestant.peer is None and not contestant.call:
        return path
    plain = path.with_suffix(".csv")
    if not plain.exists():
        import polars as pl

        pl.scan_parquet(path).sink_csv(plain)
    return plain


def run(tasks: Iterable[Task], largest: int, enough: float, out: Path) -> dict[str, Any]:
    """Run tasks, and keep in ``out`` what other runs on the same machine found."""
    held: dict[str, Any] = json.loads(out.read_text("utf-8")) if out.exists() else {}
    found = {"form": FORM, **held, "machine": machine(), "versions": {**held.get("versions", {}), **versions()}}
    for task in tasks:
        kept = {each["name"]: each for each in found.get("tasks", [])}
        kept[task.name] = compare(task, largest, enough, found["versions"])
        found["tasks"] = list(kept.values())
        write(found, out)
    return found


def write(found: dict[str, Any], out: Path) -> None:
    """Write the results."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
