"""Celosia beside its peers and the bare engines, in one run: python -m bench [options], or python -m bench SUBJECT ….

Without a subject the comparison is measured, task by task, into build/bench/results.json and a page with charts,
build/bench/index.html. Peers are installed in environments of their own below build/bench; one that cannot be had is
left out with its reason. ``--keep`` also writes docs/assets/benchmarks.json, from which the documentation is made.
A SUBJECT is a script of this directory (classes, gateway, scale, …): it runs as it is. Reference data are looked for
beside the project (``../shared``).
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench._calibration import calibration

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent / "shared"
KEPT = HERE.parent / "docs" / "assets" / "benchmarks.json"


def arguments(name: str, place: Path) -> list[str]:
    """What a script wants to be told: the adult files, and the grown table of a million rows."""
    adult = SHARED / "data" / "adult"
    if name in {"assess", "classes"}:
        grown = place / "grown.csv"
        if not grown.exists():
            grow = [sys.executable, SHARED / "tools" / "grow_adult.py", adult / "adult.csv", grown, "1000000"]
            subprocess.run([str(word) for word in grow], check=True)
        return [str(grown)] if name == "assess" else [str(grown), str(adult)]
    if name == "generalise":
        return [str(adult)]
    if name == "gateway":
        return [str(SHARED / "data" / "adult.data")]
    return []


def subjects(names: list[str]) -> None:
    """Run scripts, each in a process of its own."""
    place = Path(tempfile.mkdtemp())
    print(f"calibration job: {calibration():.3f} s CPU")
    try:
        for name in names:
            print(f"\n== {name}", flush=True)
            if not SHARED.exists():
                print("skipped: the reference data are not beside the project")
                continue
            subprocess.run([sys.executable, str(HERE / f"{name}.py"), *arguments(name, place)], check=False)
    finally:
        shutil.rmtree(place)
    print(f"\ncalibration job: {calibration():.3f} s CPU")


def comparison(given: argparse.Namespace) -> None:
    """Measure, and write the numbers and the page."""
    from bench.comparison.environments import BUILD
    from bench.comparison.floors import measured_floors
    from bench.comparison.outside import ARX, SDCMICRO, with_paths
    from bench.comparison.page import write_page
    from bench.comparison.running import run, write
    from bench.comparison.tasks import TASKS

    wanted = given.tasks.split(",") if given.tasks else [task.name for task in TASKS]
    outside = {ARX: given.arx, SDCMICRO: given.sdcmicro}
    tasks = with_paths([task for task in TASKS if task.name in wanted], outside)
    out = BUILD / "results.json"
    found = run(tasks, given.rows, given.seconds, out)
    if "floors" in wanted or not given.tasks:
        found["floors"] = measured_floors(found.get("floors", []))
    if SHARED.exists() and ("reference" in wanted or not given.tasks):
        said = subprocess.run(
            [sys.executable, "-m", "bench.comparison.reference"], stdout=subprocess.PIPE, text=True, check=True
        )
        found["reference"] = json.loads(said.stdout.splitlines()[-1])
    write(found, out)
    write_page(found, BUILD / "index.html")
    print(f"written: {out} and {BUILD / 'index.html'}")
    if given.keep:
        shutil.copy(out, KEPT)
        print(f"kept: {KEPT}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("subjects", nargs="*", help="scripts of this directory; the comparison when none is named")
    parser.add_argument("--tasks", help="only these tasks, parted by commas; also `floors` and `reference`")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the largest table")
    parser.add_argument("--seconds", type=float, default=150.0, help="CPU seconds that one job may be expected to take")
    parser.add_argument("--arx", type=Path, help="the jar of ARX; a JDK is needed to run it")
    parser.add_argument("--sdcmicro", type=Path, help="the Rscript of an R that has sdcMicro and data.table")
    parser.add_argument("--keep", action="store_true", help="keep the results for the documentation")
    given = parser.parse_args()
    subjects(given.subjects) if given.subjects else comparison(given)


if __name__ == "__main__":
    main()
