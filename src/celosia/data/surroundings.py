"""Environment of Celosia: versions, optional libraries, engines, memory, disk space, compiled kernels."""

from __future__ import annotations

import importlib.metadata as metadata
import os
import platform
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

_REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)[^;]*(;.*extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"])?")
_INNER = frozenset({"all", "dev", "docs"})
"""Extras that contain others, or that only developers need."""


def surroundings() -> dict[str, Any]:
    """Describe the environment for a bug report, without paths of data or values of environment variables."""
    from celosia.data.engines import ENGINES, installed_engines
    from celosia.parts.registry import plug_ins

    needed, extras = _libraries()
    installed = installed_engines()
    kernels, writable = _kernels()
    return {
        "celosia": metadata.version("celosia"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}",
        "cores": os.cpu_count(),
        "memory": {"total": _memory("MemTotal"), "free": _memory("MemAvailable")},
        "free_temporary_space": shutil.disk_usage(tempfile.gettempdir()).free,
        "plug_ins": list(plug_ins().values()),
        "engines": {name: name in installed for name in ENGINES},
        "java": shutil.which("java") is not None,
        "libraries": needed,
        "extras": extras,
        "kernels": {"compiled": kernels, "cached": writable},
    }


def _libraries() -> tuple[dict[str, str | None], dict[str, dict[str, str | None]]]:
    """Return the version (None if absent) of each required library, and of those of each extra."""
    needed: dict[str, str | None] = {}
    extras: dict[str, dict[str, str | None]] = {}
    for line in metadata.requires("celosia") or ():
        stated = _REQUIREMENT.match(line)
        if stated is None or stated["name"] == "celosia" or stated["extra"] in _INNER:
            continue
        libraries = needed if stated["extra"] is None else extras.setdefault(stated["extra"], {})
        libraries[stated["name"]] = _version(stated["name"])
    return needed, extras


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def _memory(line: str) -> int | None:
    """Return bytes of memory by the line of ``/proc/meminfo``; on other systems only the total is known."""
    stated = Path("/proc/meminfo")
    if stated.exists():
        sizes = re.findall(rf"^{line}:\s+(\d+) kB", stated.read_text("ascii"), re.MULTILINE)
        return int(sizes[0]) * 1024 if sizes else None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if line == "MemTotal" else None


def _kernels() -> tuple[int, bool]:
    """Return the number of compiled kernels in the cache, and whether the cache is writable."""
    package = Path(__file__).parents[1]
    return sum(1 for _ in package.rglob("*.nbi")), os.access(package / "kernels", os.W_OK)
