"""Explore the census file: at least 60 candidates × 5 seeds, in units of a calibration job; killed and resumed.

    python bench/explore.py [census.csv]

The file has 1080 records × 13 numeric columns and is looked for beside the project when it is not given. Nine columns
are protected, the four that IPSO and FCRM predict from stay (split S1 of Cano Franco 2009); risk and loss are measured
on the nine.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _calibration import calibration

S1 = ["AFNLWGT", "EMCONTRB", "FEDTAX", "STATETAX", "TAXINC", "INTVAL", "FICA", "WSALVAL", "ERNVAL"]
TRIED = [
    {"use": "microaggregate", "vary": {"k": [3, 4, 5, 6, 7, 8, 10, 15, 20, 30]}},
    {"use": "rank-swap", "vary": {"window": [0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3]}},
    {"use": "noise", "vary": {"p": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]}},
    {"use": "correlated-noise", "vary": {"p": [0.01, 0.05, 0.1, 0.2, 0.5]}},
    {"use": "multiplicative-noise", "vary": {"p": [0.01, 0.05, 0.1, 0.2]}},
    {"use": "orthogonal-mask", "vary": {"p": [0.05, 0.1, 0.2, 0.5]}},
    {"use": "individual-ranking", "vary": {"k": [3, 5, 10, 20]}},
    {"use": "projection-microaggregate", "vary": {"k": [3, 5, 10]}},
    {"use": "shuffle"},
    {"use": "ipso", "vary": {"variant": ["A", "B", "C"]}},
    {"use": "fcrm", "vary": {"c": [2, 3, 4, 5, 6, 8, 10, 12, 15]}},
    {
        "steps": [
            {"use": "microaggregate", "vary": {"k": [3, 5]}},
            {"use": "rank-swap", "vary": {"window": [0.05, 0.1]}},
        ]
    },
]
CHILD = """
import sys
sys.path.insert(0, {here!r})
from explore import found
found({census!r}, {store!r})
"""


def found(census: str, store: str | None = None):
    import celosia

    table = celosia.read(census, celosia.Schema.of(quasi=S1))
    return celosia.explore(table, TRIED, seeds=5, seed=2009, workers=2, store=store)


def cpu() -> float:
    return sum(
        resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def main(census: str) -> None:
    before = calibration()
    start, wall = cpu(), time.monotonic()
    result = found(census)
    spent, wall = cpu() - start, time.monotonic() - wall
    unit = (before + calibration()) / 2
    print(f"{len(result.points)} candidates, {result.evaluated} evaluations, {len(result.failed)} failed")
    print(f"CPU {spent:.1f} s = {spent / unit / 2:.1f} calibration jobs on each of two cores (wall {wall:.1f} s)")
    best = {}
    for point in sorted(result.points, key=result.score):
        best.setdefault(point.candidate.family, point)
    front = {id(p) for p in result.frontier}
    print("\nbest score of each method (risk and loss in percent); * on the frontier")
    for family, point in best.items():
        print(
            f"  {result.score(point):6.2f}{'*' if id(point) in front else ' '} "
            f"{100 * point.risk.mean:6.2f} {100 * point.loss.mean:6.2f}  {family:28s} {point.label}"
        )
    for limit in (0.05, 0.1, 0.2):
        print(f"risk at most {limit:.0%}: {result.best(max_risk=limit).label}")
    resumed(census)


def resumed(census: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        store = Path(place) / "tried.jsonl"
        code = CHILD.format(here=str(Path(__file__).parent), census=census, store=str(store))
        process = subprocess.Popen([sys.executable, "-c", code])
        while not store.exists() or store.read_text().count("\n") < 150:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kept = store.read_text().count('"key"')
        again = found(census, str(store))
        print(f"\nkilled after {kept} evaluations; the second run knew {again.known} and added {again.evaluated}")


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared/data/census.csv"
    if given.exists():
        main(str(given))
    else:
        print(f"needs the census file; {given} is not there")
