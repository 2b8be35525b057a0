"""A whole run by phase, against group-by and write of the bare engine: job × size × engine.

usage: python bench/phases.py [ROWS …] [--rounds 3] [--engines polars,duckdb] [--steps generalise,mondrian] [--persons]

Prints one table: CPU seconds (user and system) of the run and of the bare engine, their ratio, the largest resident
memory and its ratio, the number of queries that Polars collected, and the share of each phase in the CPU time. The
tables are those of ``scale.py``. Every run is a process of its own; rounds are interleaved, and the least CPU time of
each job counts, because other work on the machine can only lengthen it. The fixed job of ``_calibration.py`` is timed
before and after.
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

PHASES = {
    "read": ("materialise", "check_input"),
    "method": (),
    "guard": ("select_output",),
    "measures": ("assess_table", "compare"),
    "evidence": ("_certificate", "_record"),
    "write": ("_write_data",),
    "check": ("check_release",),
    "report": (),
}
"""Functions of ``celosia.release.run`` by phase; those of ``method`` and ``report`` are elsewhere."""
STEPS: dict[str, dict[str, Any]] = {
    "generalise": {"use": "generalise", "suppress": 0.01, "budget_nodes": 200},
    "local-generalise": {"use": "local-generalise"},
    "local-suppress": {"use": "local-suppress", "k": 3},
    "mondrian": {"use": "mondrian"},
    "pram": {"use": "pram", "columns": ["sex", "race"]},
    "sequential-trees": {"use": "sequential-trees"},
}


class Spent:
    """CPU seconds of the process by phase: of nested phases the inner one counts."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._stack = ["start"]
        self._last = 0.0

    def turn(self, phase: str | None) -> None:
        """Enter a phase, or leave the current one."""
        now = time.process_time()
        self.seconds[self._stack[-1]] += now - self._last
        self._last = now
        if phase is None:
            self._stack.pop()
        else:
            self._stack.append(phase)

    def count(self, owner: Any, name: str, phase: str) -> None:
        """Count the time of a function as one of a phase."""
        function: Callable[..., Any] = getattr(owner, name)

        @functools.wraps(function)
        def counted(*given: Any, **named: Any) -> Any:
            self.turn(phase)
            try:
                return function(*given, **named)
            finally:
                self.turn(None)

        setattr(owner, name, counted)


def child(engine: str, step: str, place: Path) -> dict[str, Any]:
    """Run one policy, or the bare engine, and measure it."""
    import polars as pl
    import pyarrow.parquet as pq
    from reading_usage import usage  # beside this file, which is run as a program here
    from scale import SIZES, bare

    path, out = place / "table.parquet", place / f"out-{os.getpid()}.parquet"
    spent, collects = Spent(), Counter[str]()
    if step == "bare":
        bare(engine, path, out)
        return {**usage(), "phases": {}, "collects": 0}
    import celosia
    from celosia.release import plan, report, run

    for phase, names in PHASES.items():
        for name in names:
            spent.count(run, name, phase)
    spent.count(plan.Plan, "run", "method")
    report.render  # noqa: B018  (loads the function)
    spent.count(report, "render", "report")
    collect = pl.LazyFrame.collect

    def counted(frame: pl.LazyFrame, *given: Any, **named: Any) -> Any:
        collects["all"] += 1
        return collect(frame, *given, **named)

    pl.LazyFrame.collect = counted  # type: ignore[method-assign]
    person = {"person": "person"} if "person" in pq.read_schema(path).names else {}
    prefixes = {name: {"use": "prefixes", "step": 1} for name in ("school", "country", "job")}
    sections = {
        "input": {"path": str(path)},
        "schema": {
            "quasi": list(SIZES),
            "sensitive": ["pay"],
            **person,
            "hierarchies": {"age": {"use": "intervals", "width": 5}, **prefixes},
        },
        "require": [] if step in {"pram", "sequential-trees", "local-suppress"} else ["k-anonymity(k=5)"],
        "step": [STEPS[step]],
        "output": {"path": str(out), "overwrite": True},
        "run": {"seed": 1, "testing": True, "engine": engine},
    }
    celosia.run(celosia.Policy.of(sections, place))
    spent.turn(None)
    return {**usage(), "phases": dict(spent.seconds), "collects": collects["all"]}


def measured(engine: str, step: str, place: Path) -> dict[str, Any]:
    """Measure one job in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "--child", engine, step, str(place)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def row(engine: str, step: str, rows: int, own: dict[str, Any], base: dict[str, Any]) -> str:
    """One line of the table."""
    whole = sum(own["phases"].values())
    shares = " ".join(f"{100 * own['phases'].get(phase, 0) / whole:4.0f}" for phase in ("start", *PHASES))
    numbers = f"{own['cpu']:7.2f} {base['cpu']:6.2f} {own['cpu'] / base['cpu']:6.1f}"
    memory = f"{own['memory']:7.0f} {own['memory'] / base['memory']:5.1f}"
    return f"{step:17} {rows:9,} {engine:7} {numbers} {memory} {own['collects']:5}  {shares}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", default="polars,duckdb")
    parser.add_argument("--steps", default="generalise")
    parser.add_argument("--persons", action="store_true")
    asked = parser.parse_args()
    from _calibration import calibration  # beside this file, which is run as a program here
    from scale import grow

    print(f"calibration job: {calibration():.3f} s CPU")
    heads = f"{'CPU':>7} {'bare':>6} {'ratio':>6} {'MiB':>7} {'ratio':>5} {'coll.':>5}"
    names = " ".join(f"{name[:4]:>4}" for name in ("start", *PHASES))
    print(f"{'job':17} {'rows':>9} {'engine':7} {heads}  {names}  (shares in %)")
    for rows in asked.rows:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            grow(place / "table.parquet", rows, persons=asked.persons)
            jobs = [(e, step) for e in asked.engines.split(",") for step in ("bare", *asked.steps.split(","))]
            rounds = [{job: measured(*job, place) for job in jobs} for _ in range(asked.rounds)]
            least = {job: min((found[job] for found in rounds), key=lambda each: each["cpu"]) for job in jobs}
            for engine, step in jobs:
                if step != "bare":
                    print(row(engine, step, rows, least[engine, step], least[engine, "bare"]), flush=True)
    print(f"calibration job: {calibration():.3f} s CPU")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(sys.argv[2], sys.argv[3], Path(sys.argv[4]))))
    else:
        main()
