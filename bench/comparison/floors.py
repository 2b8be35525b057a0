"""What is spent before any work is done: the start of the process, a small run, the first use of compiled code.

Each is the least CPU time of a few processes. The floor is what the libraries take that are needed in any case.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PYTHON = (sys.executable, "-c")
POLICY = """\
[input]
path = "people.csv"
[schema]
quasi = ["sex", "age"]
sensitive = ["pay"]
[schema.hierarchies]
age = "intervals(width=5)"
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "generalise"
suppress = 0.05
[output]
path = "safe.csv"
overwrite = true
"""


def spent(command: Sequence[str], place: Path, repeats: int = 3, more: Mapping[str, str] | None = None) -> float:
    """The least CPU seconds of a command and what it starts."""
    best = float("inf")
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=place, env={**os.environ, **(more or {})}, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return best


def measured_floors(before: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
    """Floor and present state of each; what stands as *before* in earlier results is kept."""
    earlier = {row["what"]: row["before"] for row in before}
    celosia = str(Path(sys.executable).parent / "celosia")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        cells = [f"{'FM'[i % 2]},{20 + i % 37},{('low', 'high')[i % 3 == 0]}" for i in range(1000)]
        (place / "people.csv").write_text("\n".join(["sex,age,pay", *cells]) + "\n")
        (place / "policy.toml").write_text(POLICY)
        typer = spent((*PYTHON, "import typer, rich.console, rich.table"), place)
        engines = spent((*PYTHON, "import polars, numba, pydantic, jinja2, typer, narwhals"), place)
        run = (celosia, "run", "policy.toml")
        spent(run, place, 1)  # compiled code is there
        fresh = {"NUMBA_CACHE_DIR": str(place / "cache")}
        numbers = {
            "`celosia --help`": (typer, spent((celosia, "--help"), place), "floor: `import typer, rich`"),
            "`celosia run`, 1,000 rows, file, reports, certificate": (
                engines, spent(run, place), "floor: importing Polars, numba, pydantic, Jinja",
            ),
            "the same on a fresh machine": (engines, spent(run, place, 1, fresh), "kernels are compiled at first use"),
            "`celosia assess`, 1,000 rows": (
                engines, spent((celosia, "assess", "people.csv", "--quasi", "sex,age"), place), "",
            ),
        }  # fmt: skip
    return [
        {
            "what": what,
            "floor": f"{floor:.2f} s",
            "before": earlier.get(what, f"{now:.2f} s"),
            "now": f"{now:.2f} s",
            "note": f" {note}" if note else "",
        }
        for what, (floor, now, note) in numbers.items()
    ]
