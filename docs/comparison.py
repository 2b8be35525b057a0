"""The table beside ARX and sdcMicro, from what `make bench` measured (docs/assets/benchmarks.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parent / "assets" / "benchmarks.json"
PEERS = ("ARX", "sdcMicro")


def table() -> str:
    """One row per job: CPU seconds and what came out, those of the peer as this machine would have needed them."""
    rows = json.loads(MEASURED.read_text("utf-8"))["reference"]
    lines = [f"| {row['what']}, {row['rows']:,} records | {' | '.join(_cells(row))} |" for row in rows]
    return "| job | ARX | sdcMicro | Celosia |\n|---|---|---|---|\n" + "\n".join(lines)


def _cells(row: dict[str, Any]) -> list[str]:
    scaled = row["ratio"] * row["ours"]
    theirs = [_cell(scaled, row["their result"]) if row["tool"].startswith(peer) else "" for peer in PEERS]
    return [*theirs, f"**{_cell(row['ours'], '')}**" + (f": {row['our result']}" if row["our result"] else "")]


def _cell(seconds: float, result: str) -> str:
    shown = f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
    return f"{shown}: {result}" if result else shown
