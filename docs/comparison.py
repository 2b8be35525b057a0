"""The tables of the README that are not written by hand: beside ARX and sdcMicro, and what there is.

The first is from what `make bench` measured (docs/assets/benchmarks.json), the second from the catalogue of parts.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parent / "assets" / "benchmarks.json"
PEERS = ("ARX", "sdcMicro")
LARGER_IS_BETTER = {"loss": False, "cells": False, "granularity": True}
"""What the results are measured in, and whether more of it is better."""
KINDS = {
    "method": ("protection methods", ("generalise", "microaggregate", "rank-swap", "sequential-trees")),
    "model": ("requirements", ("k-anonymity", "l-diversity", "t-closeness", "population-uniqueness")),
    "risk": ("risks", ("prosecutor", "marketer", "individual-risk", "suda")),
    "attack": ("attacks, run against your own release", ("distance-linkage", "membership", "definetti")),
    "loss": ("measures of information loss", ("domain-loss", "hellinger", "propensity")),
    "mechanism": ("mechanisms of differential privacy", ("laplace", "discrete-gaussian", "exponential")),
}


def table() -> str:
    """One row per job: CPU seconds and what came out, those of the peer as this machine would have needed them."""
    rows = json.loads(MEASURED.read_text("utf-8"))["reference"]
    lines = [f"| {row['what']}, {row['rows']:,} records | {' | '.join(_cells(row))} |" for row in rows]
    return "| job | ARX | sdcMicro | Celosia |\n|---|---|---|---|\n" + "\n".join(lines)


def capabilities() -> str:
    """About how many parts of each kind there are, so that a new one changes no page, and some of them."""
    from celosia.parts import find, parts

    lines = []
    for kind, (what, examples) in KINDS.items():
        named = ", ".join(f"`{find(kind, name).name}`" for name in examples)
        number = len(parts(kind)) - 1
        step = 10 if number >= 10 else 5
        lines.append(f"| more than **{number // step * step}** {what} | {named} … |")
    return "| there are | such as |\n|---|---|\n" + "\n".join(lines)


def _cells(row: dict[str, Any]) -> list[str]:
    scaled = row["ratio"] * row["ours"]
    better = _better(row["our result"], row["their result"])
    theirs = _cell(scaled, row["their result"], faster=scaled < row["ours"], better=better == "theirs")
    ours = _cell(row["ours"], row["our result"], faster=row["ours"] < scaled, better=better == "ours")
    return [*(theirs if row["tool"].startswith(peer) else "–" for peer in PEERS), ours]


def _better(ours: str, theirs: str) -> str:
    """Whose result is better, by the number that both state first; nobody's where they are equal.

    >>> _better("granularity 0.5080, 0 suppressed", "granularity 0.5441, 4,424 suppressed")
    'theirs'
    >>> _better("796 cells", "3,695 cells"), _better("loss 0.573, 0 suppressed", "loss 0.573, 0 suppressed")
    ('ours', '')
    """
    unit = next((unit for unit in LARGER_IS_BETTER if unit in ours and unit in theirs), None)
    if unit is None:
        return ""
    one, other = (float(re.search(r"[\d.]+", text.replace(",", ""))[0]) for text in (ours, theirs))  # type: ignore[index]
    if one == other:
        return ""
    return "ours" if (one > other) == LARGER_IS_BETTER[unit] else "theirs"


def _cell(seconds: float, result: str, *, faster: bool, better: bool) -> str:
    shown = f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
    if result and better:
        first, _, rest = result.partition(",")
        whole = "cells" in result
        result = f"**{result}**" if whole else f"**{first}**" + (f",{rest}" if rest else "")
    time = f"**{shown}**" if faster else shown
    return f"{time}: {result}" if result else time
