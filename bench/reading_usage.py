"""What a process and the processes that it started took: CPU seconds and the largest resident memory of each."""

import os
import resource
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def usage() -> dict[str, float]:
    """CPU seconds (user and system) of this process and its children, and the largest resident memory in MB.

    The memory is VmHWM, which starts anew with each program, not ``ru_maxrss``, which a child inherits from the
    process that forked it.
    """
    used, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime + ended.ru_utime + ended.ru_stime
    living = _descendants(os.getpid())
    cpu += sum(_cpu(process) for process in living)
    others = {"others": sum(_most(process) for process in living)} if living else {}
    return {"cpu": round(cpu, 2), "memory": _most(os.getpid()), **others}


def _most(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def _cpu(process: int) -> float:
    """Its own, and that of its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def _descendants(process: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                fields = (place / "stat").read_text("utf-8").rpartition(")")[2].split()
            except OSError:  # it has ended meanwhile
                continue
            parents.setdefault(int(fields[1]), []).append(int(place.name))
    below, open_ones = [], [process]
    while open_ones:
        children = parents.get(open_ones.pop(), [])
        below += children
        open_ones += children
    return below


__all__ = ["usage"]
