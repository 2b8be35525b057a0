"""What was tried against Celosia, counted by the tests that try it.

A suite calls :func:`tried` with its counts before it asserts that nothing failed; `make trust` gathers what all suites
wrote into ``docs/assets/trust.json``, which ``docs/promises/tried.md`` shows.

usage: python -m tests.trust.tried
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COUNTS = ROOT / "build" / "trust"
KEPT = ROOT / "docs" / "assets" / "trust.json"
Suites = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Tried:
    """One row of the table: a fault or attack, how often it was tried, and how often it did harm."""

    what: str
    """The fault or attack, in words for the documentation: "killed between two system calls of `run`"."""
    times: int
    failures: int
    harm: str = ""
    """What counts as a failure here: "a mixture under final names"."""


def tried(suite: str, rows: Iterable[Tried]) -> None:
    """Write the counts of a suite down; its rows of an earlier run are forgotten."""
    COUNTS.mkdir(parents=True, exist_ok=True)
    counted = [asdict(row) for row in rows]
    (COUNTS / f"{suite}.json").write_text(json.dumps(counted, indent=1, ensure_ascii=False) + "\n", "utf-8")


def gathered(kept: Suites, fresh: Suites) -> Suites:
    """What was counted anew with what was kept of suites that were not run; no row is there twice."""
    counted = {row["what"] for rows in fresh.values() for row in rows}
    others = {suite: [row for row in rows if row["what"] not in counted] for suite, rows in kept.items()}
    return dict(sorted({**{suite: rows for suite, rows in others.items() if rows}, **fresh}.items()))


def gather() -> None:
    """Bring what the suites wrote into the documentation."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    fresh = {path.stem: json.loads(path.read_text("utf-8")) for path in COUNTS.glob("*.json")}
    KEPT.write_text(json.dumps(gathered(kept, fresh), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    gather()
