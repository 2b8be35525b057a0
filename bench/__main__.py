"""Run the benchmarks, each in a process of its own: python -m bench [NAME …].

Reference data are looked for beside the project (``../shared``); a benchmark whose data or peer are missing says so.
Results are ratios measured in one run on one machine.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench._calibration import calibration

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent / "shared"


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


def main() -> None:
    wanted = sys.argv[1:] or sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("_"))
    place = Path(tempfile.mkdtemp())
    print(f"calibration job: {calibration():.3f} s CPU")
    try:
        for name in wanted:
            print(f"\n== {name}", flush=True)
            if not SHARED.exists():
                print("skipped: the reference data are not beside the project")
                continue
            subprocess.run([sys.executable, str(HERE / f"{name}.py"), *arguments(name, place)], check=False)
    finally:
        shutil.rmtree(place)
    print(f"\ncalibration job: {calibration():.3f} s CPU")


if __name__ == "__main__":
    main()
