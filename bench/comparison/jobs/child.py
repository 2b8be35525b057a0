"""What every job of the comparison does, whatever environment it runs in: only the standard library is needed here.

A job file has a dictionary of functions that take the path of a table; it is called as FILE TASK WARM PATH. The
function runs on the small table WARM first, so that imports and compiled code are loaded, then on PATH, counted.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any


def spent() -> float:
    """CPU seconds of this process, of children that ended, and of those that run (the virtual machine of Spark)."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    tick = os.sysconf("SC_CLK_TCK")
    running = sum(sum(map(int, fields[11:13])) for fields in map(_stat, descendants())) / tick
    return time.process_time() + ended.ru_utime + ended.ru_stime + running


def peak() -> float:
    """The largest resident memory in MB: of this process, and of children that run.

    Not what getrusage tells: that begins with the memory of the process that started this one.
    """
    return sum(_high_water(pid) for pid in [os.getpid(), *descendants()])


def descendants() -> list[int]:
    """Processes below this one."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        fields = _stat(int(place.name))
        if fields:
            parents[int(place.name)] = int(fields[1])
    below, new = set(), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - below
        below |= new
    return sorted(below)


def _stat(pid: int) -> list[str]:
    """The fields after the name of the program: state, parent, …; none of a process that has gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []


def _high_water(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main(jobs: dict[str, Callable[[str], Any]], *packages: str) -> None:
    """Run the job that the command line names and print what it took."""
    task, warm, path = sys.argv[1:4]
    job = jobs[task]
    job(warm)
    cpu, wall = spent(), time.monotonic()
    answer = job(path)
    measured = {"cpu": spent() - cpu, "wall": time.monotonic() - wall, "memory": peak(), "answer": answer}
    print(json.dumps({**measured, "versions": {name: metadata.version(name) for name in packages}}, default=str))
