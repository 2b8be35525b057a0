"""What the core installs is enough for the main job, and what it lacks is said with the name of the extra."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
MOST_BYTES = 600_000_000
MOST_SECONDS = 0.1
"""What an installation without extras may take on a disk, and what ``import celosia`` may take of a processor."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {"scipy", "sklearn", "pandas", "pyarrow", "duckdb", "sqlglot", "opendp", "pyspark", "sqlalchemy", "IPython"}
WITHOUT = f"import sys\nsys.modules.update(dict.fromkeys({sorted(EXTRAS)!r}))\n"  # as if they were not there
MAIN_JOB = """
import polars as pl, numpy as np, celosia
rng = np.random.default_rng(1)
people = pl.DataFrame({"name": [f"P{i}" for i in range(200)], "age": rng.integers(18, 90, 200), "sex": rng.choice(["f", "m"], 200)})
schema = celosia.Schema.of(identifiers=["name"], quasi=["age", "sex"], hierarchies={"age": "intervals(width=10)"})
table = celosia.read(people, schema)
safe = table.protect("drop", "generalise(require=[k-anonymity(k=5)], suppress=0.05)")
print(safe.assess(["k-anonymity(k=5)"]).holds, safe.report("report.html"))
print(table.protect("microaggregate(k=3)", "noise(p=0.1)", "rank-swap(window=0.1)").names)
"""
NEEDS_MORE = """
import polars as pl, celosia
table = celosia.read(pl.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 5.0]}), celosia.Schema.of(quasi=["a", "b"]))
try:
    celosia.compare(table, table, [], ["distance-linkage"])
except celosia.CelosiaError as error:
    print(type(error).__name__, error)
"""


def python(code: str, place: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, cwd=place, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_main_job_needs_no_extra(tmp_path: Path) -> None:
    holds, names = python(MAIN_JOB, tmp_path).splitlines()
    assert holds == "True report.html"
    assert names == "('name', 'age', 'sex')"


def test_what_is_missing_is_said_with_the_name_of_the_extra(tmp_path: Path) -> None:
    text = python(NEEDS_MORE, tmp_path)
    assert text.startswith("MissingExtra a calculation with scipy")
    assert "celosia[scipy]" in text


def test_no_library_of_an_extra_is_in_the_core() -> None:
    core = {re.split(r"[<>=\[]", each)[0].lower() for each in PROJECT["dependencies"]}
    assert not core & {"scipy", "scikit-learn", "pandas", "pyarrow", "duckdb", "sqlalchemy", "opendp", "pyspark"}


def core() -> dict[str, importlib.metadata.Distribution]:
    """Every distribution that an installation without extras brings, by name."""
    needed: dict[str, importlib.metadata.Distribution] = {}
    wanted = [Requirement(text) for text in PROJECT["dependencies"]]
    while wanted:
        one = wanted.pop()
        if one.name in needed:
            continue
        needed[one.name] = importlib.metadata.distribution(one.name)
        further = map(Requirement, needed[one.name].requires or ())
        asked = [{"extra": extra} for extra in ("", *one.extras)]
        wanted += [each for each in further if each.marker is None or any(map(each.marker.evaluate, asked))]
    return needed


def test_the_core_is_small() -> None:
    """By the sizes that the records of the installed distributions state."""
    sizes = {name: sum(file.size or 0 for file in each.files or ()) for name, each in core().items()}
    assert {"polars", "numpy", "llvmlite", "pydantic-core"} <= sizes.keys(), "what they need in turn is counted"
    own = sum(path.stat().st_size for path in (ROOT / "src").rglob("*") if "__pycache__" not in path.parts)
    assert MOST_BYTES / 4 < sum(sizes.values()) + own <= MOST_BYTES, sorted(sizes.items(), key=lambda each: -each[1])[
        :5
    ]


def cpu_seconds(code: str, executable: str = sys.executable) -> float:
    """The least CPU time of five new interpreters that run a piece of code."""
    told = [executable, "-c", f"{code}\nimport time; print(time.process_time())"]
    return min(float(subprocess.run(told, capture_output=True, text=True, check=True).stdout) for _ in range(5))


def test_the_import_is_light() -> None:
    bare, light, heavy = cpu_seconds(""), cpu_seconds("import celosia"), cpu_seconds("import polars")
    assert light - bare <= MOST_SECONDS
    assert light <= 4 * bare, "hardly more than an interpreter with nothing in it"
    assert heavy > 4 * bare, "what is measured can be seen"


FIRST_LINES = """
import celosia
safe = celosia.read("people.csv", celosia.Schema.of(quasi=["age", "zip"])).protect("mondrian(require=k-anonymity(k=2))")
print(safe.report("report.html"))
"""


@pytest.mark.long
def test_a_fresh_machine_gets_to_a_report_in_three_lines(tmp_path: Path) -> None:
    """A wheel, an environment with nothing in it, `pip install`, and Python to a report."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(tmp_path / "wheel"), str(ROOT)], check=True)
    (wheel,) = (tmp_path / "wheel").glob("celosia-*.whl")
    place = tmp_path / "fresh"
    venv.create(place, with_pip=False)
    (python,) = (path for path in place.glob("*/python*") if path.stem == "python")
    pinned = ["-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "--python", str(python), "install", *pinned, str(wheel)], check=True)
    (packages,) = place.glob("**/site-packages")
    used = sum(entry.stat().st_blocks * 512 for entry in packages.rglob("*") if not entry.is_symlink())
    print(f"fresh installation: {used / 1e6:.0f} MB in {sum(1 for _ in packages.glob('*.dist-info'))} distributions")
    assert used <= MOST_BYTES
    rows = "".join(f"{20 + i % 7},{1000 + i % 5}\n" for i in range(70))
    (tmp_path / "people.csv").write_text(f"age,zip\n{rows}")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    told = [str(python), "-c", FIRST_LINES]
    done = subprocess.run(told, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "<!doctype html>" in (tmp_path / "report.html").read_text("utf-8")[:100]
    taken = cpu_seconds("import celosia", str(python)) - cpu_seconds("", str(python))
    print(f"fresh import: {taken:.3f} s of CPU time more than a bare interpreter")
    assert taken <= MOST_SECONDS
