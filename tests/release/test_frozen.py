"""Releases and certificate numbers of a matrix of methods, persons, weights, missing values and engines stay as recorded.

``tests/release/frozen.json`` has one entry per case: the SHA-256 of the released CSV file and the measured numbers. Every
engine must give the recorded entry, in memory or streamed. A change that alters an entry on purpose regenerates the file
with ``python -m tests.release.test_frozen`` and explains the difference in the changelog.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia.errors import CelosiaError
from celosia.release.run import run

FROZEN = Path(__file__).with_name("frozen.json")
ROWS = 240
POLICY = """
[input]
path = "people.parquet"
[schema]
quasi = ["sex", "age", "area"]
sensitive = ["disease", "pay"]
{roles}
[schema.hierarchies]
age = {{use = "intervals", width = 5}}
area = {{use = "prefixes"}}
{missing}
[[require]]
use = "k-anonymity"
k = 3
{diversity}
[[step]]
{step}
[measure]
risks = ["prosecutor", "individual-risk"]
losses = ["altered-records", "domain-loss"]
[output]
path = "safe.csv"
report = false
overwrite = true
[guard.acknowledge]
pay = "a made-up amount"
disease = "a made-up disease"
[run]
seed = 7
testing = true
"""
DIVERSITY = '[[require]]\nuse = "l-diversity"\nl = 2\ncolumn = "disease"'
STEPS = {
    "generalise": 'use = "generalise"\nsuppress = 0.1',
    "local-generalise": 'use = "local-generalise"\nsuppress = 0.1',
    "mondrian": 'use = "mondrian"',
    "tree-generalise": 'use = "tree-generalise"\ncolumns = ["age"]\nk = 3',
    "suppress-records": 'use = "suppress-records"',
    "local-suppress": 'use = "local-suppress"\nk = 3',
    "recode": 'use = "recode"\ncolumn = "age"\nlevel = 2',
    "microaggregate": 'use = "microaggregate"\ncolumns = ["pay"]\nk = 3',
    "rank-swap": 'use = "rank-swap"\ncolumns = ["pay"]\nwindow = 0.1',
    "noise": 'use = "noise"\ncolumns = ["pay"]\np = 0.1',
    "pram": 'use = "pram"\ncolumns = ["disease"]',
    "top-code": 'use = "top-code"\ncolumns = ["age"]\nvalue = 50',
    "gaussian-copula": 'use = "gaussian-copula"',
}
VARIANTS = {
    "rows": ("", "category"),
    "persons": ('person = "who"', "category"),
    "weights": ('weight = "w"', "category"),
    "persons and weights": ('person = "who"\nweight = "w"', "category"),
    "wildcard": ("", "wildcard"),
    "conservative": ("", "conservative"),
    "wildcard persons": ('person = "who"', "wildcard"),
}
ENGINES = ("memory", "streamed", "duckdb")
CASES = list(itertools.product(STEPS, VARIANTS))


def write_people(folder: Path) -> None:
    """Write a table with repeated persons, missing quasi-identifiers and weights."""
    rng = np.random.default_rng(11)
    sex = pl.Series(["F", "M", None]).gather(rng.choice(3, ROWS, p=[0.48, 0.48, 0.04]))
    pl.DataFrame(
        {
            "who": np.sort(rng.integers(0, ROWS * 2 // 3, ROWS)),
            "sex": sex,
            "age": rng.integers(20, 60, ROWS),
            "area": [f"{code:02d}" for code in rng.integers(10, 16, ROWS)],
            "disease": rng.choice(["flu", "cold", "gout"], ROWS),
            "pay": rng.integers(900, 4000, ROWS),
            "w": rng.integers(10, 60, ROWS) / 4,
        }
    ).write_parquet(folder / "people.parquet")


def release(folder: Path, step: str, variant: str, engine: str) -> dict[str, Any]:
    """Run one case; a refusal is part of what is recorded."""
    roles, reading = VARIANTS[variant]
    text = POLICY.format(
        roles=roles,
        missing=f'[schema.missing]\nsex = "{reading}"',
        diversity=DIVERSITY if reading == "category" else "",  # values are not counted in the other readings
        step=STEPS[step],
    )
    (folder / "policy.toml").write_text(text)
    try:
        done = run(folder / "policy.toml", engine="duckdb" if engine == "duckdb" else "polars")
    except CelosiaError as error:
        return {"refused": type(error).__name__}
    numbers = {
        section: {finding["part"]: finding.get("value") for finding in done.record[section][kind]}
        for section, kind in (("before", "requirements"), ("after", "requirements"), ("comparison", "losses"))
    }
    numbers["risks"] = {finding["part"]: finding.get("value") for finding in done.record["after"]["risks"]}
    digest = hashlib.sha256((folder / "safe.csv").read_bytes()).hexdigest()
    return {"sha256": digest, "suppressed": done.certificate["release"]["suppressed"], "numbers": numbers}


def stream_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no table be small enough to be kept in memory."""
    monkeypatch.setattr(importlib.import_module("celosia.data.engines.engine"), "RESIDENT", 1)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("step", "variant"), CASES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_release_is_the_recorded_one(step, variant, engine, tmp_path, monkeypatch):
    recorded = json.loads(FROZEN.read_text())[f"{step}, {variant}"]
    write_people(tmp_path)
    if engine == "streamed":
        stream_rows(monkeypatch)
    found = release(tmp_path, step, variant, engine)
    if "refused" in found and engine != "memory":
        pytest.skip("needs the table in memory")
    assert found.get("sha256") == recorded.get("sha256")
    assert found.get("refused") == recorded.get("refused")
    for section, values in recorded.get("numbers", {}).items():
        assert found["numbers"][section] == pytest.approx(values, rel=1e-12, nan_ok=True), section


def main() -> None:
    """Record every case anew, in memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(folder)
        recorded = {f"{step}, {variant}": release(folder, step, variant, "memory") for step, variant in CASES}
    FROZEN.write_text(json.dumps(recorded, indent=1) + "\n")
    refused = {case: entry["refused"] for case, entry in recorded.items() if "refused" in entry}
    print(f"{len(recorded)} cases, refused: {refused}", file=sys.stderr)


if __name__ == "__main__":
    main()
