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

ROOT = Path(__file__).resolve().parents[2]
COUNTS = ROOT / "build" / "trust"
KEPT = ROOT / "docs" / "assets" / "trust.json"


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


def gather() -> None:
    """Bring what the suites wrote into the documentation; a suite that was not run keeps its rows."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    fresh = {path.stem: json.loads(path.read_text("utf-8")) for path in COUNTS.glob("*.json")}
    whole = dict(sorted({**kept, **fresh}.items()))
    KEPT.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    gather()
