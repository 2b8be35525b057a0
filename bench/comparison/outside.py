"""Contestants that are no Python packages: ARX and sdcMicro, where a path to them is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.comparison.tasks import Contestant, Task

ARX, SDCMICRO = "ARX", "sdcMicro"
SIZES = (10_000, 100_000, 1_000_000)
DONE_BY = {
    ARX: {"generalise": SIZES, "local-generalise": SIZES},
    SDCMICRO: {
        "individual-risk": SIZES,
        "suda": SIZES,
        "rank-swap": SIZES,
        "microaggregate": SIZES,
    },
}


def with_paths(tasks: Sequence[Task], paths: Mapping[str, Path | None]) -> list[Task]:
    """The tasks, with those tools among the contestants whose path is given."""
    joined = []
    for task in tasks:
        for tool, path in paths.items():
            sizes = DONE_BY[tool].get(task.name)
            if path is not None and sizes:
                task = replace(task, contestants=(*task.contestants, contestant(tool, path, task.name, sizes)))
        joined.append(task)
    return joined


def contestant(tool: str, path: Path, job: str, sizes: tuple[int, ...]) -> Contestant:
    """A tool that is called in its own way."""
    if tool == ARX:
        return Contestant(tool, "WithArx.java", job, call=("java", "-cp", str(path.resolve())), sizes=sizes)
    return Contestant(tool, "with_sdcmicro.R", job, call=(str(path), "--vanilla"), sizes=sizes)
