"""The table beside ARX and sdcMicro, from what `python tools/compared.py` measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parent / "assets" / "compared.json"
PAGE = """\
# Beside ARX and sdcMicro

The same jobs on the same files. The numbers of ARX {arx} (Java) and sdcMicro {sdcmicro} (R) were recorded on a reference machine;
Celosia {celosia} was measured by `python tools/compared.py`. Times are CPU seconds of the job alone, after a first run, and those of
the peers are scaled by a calibration job, so that they are what this machine would have needed. A dash: the tool does not do this.

{table}

How to move is under [Come from ARX](../how-to/coming-from-arx.md) and [Come from sdcMicro](../how-to/coming-from-sdcmicro.md);
[the source documents, run again](reproductions.md) compares with printed numbers.
"""


def measured() -> dict[str, Any]:
    """What was measured, and with which versions."""
    found: dict[str, Any] = json.loads(MEASURED.read_text("utf-8"))
    return found


def table(jobs: list[dict[str, Any]]) -> str:
    """The jobs as rows, the tools as columns."""
    rows = [
        f"| {job['job']} | {_cell(job, 'ARX')} | {_cell(job, 'sdcMicro')} | **{_cell(job, 'Celosia')}** |"
        for job in jobs
    ]
    return "| job | ARX | sdcMicro | Celosia |\n|---|---|---|---|\n" + "\n".join(rows)


def _cell(job: dict[str, Any], who: str) -> str:
    took = job["took"].get(who)
    if took is None:
        return "—"
    if isinstance(took, str):
        return took
    result = job.get("result", {}).get(who)
    return f"{_seconds(took)}" + (f", {result}" if result else "")


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def page() -> str:
    """The page of the reference."""
    found = measured()
    return PAGE.format(**found["versions"], table=table(found["jobs"]))


def short() -> str:
    """The table of the README: the jobs that are marked for it."""
    return table([job for job in measured()["jobs"] if job["first"]])
