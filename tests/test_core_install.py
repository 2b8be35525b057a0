"""What the core installs is enough for the main job, and what it lacks is said with the name of the extra."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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
