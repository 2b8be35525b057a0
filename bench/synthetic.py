"""Synthetic records of adult: trees and copula against CART and copula packages.

    python bench/synthetic.py adult.data [--synthpop PYTHON]

Half of the file is used, the other half is the control: 10 columns, 16 280 records. Reported: CPU seconds, mean total
variation of one-way and two-way tables (numbers in tenths), share of rows that equal a unique row of the half that was
used. With --synthpop (an interpreter that has synthpop-py) the peer runs in the same minute; otherwise its stated
numbers are shown, as are those of SDV, whose environment is several gigabytes: CPU seconds of a machine where the
calibration job takes 1.15 s.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from _calibration import calibration

import celosia
from celosia.loss import Contingency
from celosia.methods import DpSynthesis, GaussianCopula, SequentialTrees
from celosia.risk import CopiedUniques

REFERENCE = 1.15
STATED = {"synthpop-py, stated": (8.6, 0.006, 0.016, 0.242), "SDV copula, stated": (14.0, 0.055, 0.160, 0.005)}
NAMES = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
         "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class"]  # fmt: skip
COLUMNS = [n for n in NAMES if n not in ("fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss")]
PEER = """
import sys, time, pandas as pd
from synthpop import Synthesiser
data = pd.read_csv(sys.argv[1], keep_default_na=False)
start = time.process_time()
s = Synthesiser(random_seed=1); s.fit(data); made = s.generate()
print(time.process_time() - start)
made.to_csv(sys.argv[2], index=False)
"""


def halves(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    frame = pl.read_csv(path, has_header=False, new_columns=NAMES).drop_nulls("salary-class")
    frame = frame.with_columns(pl.col(pl.String).str.strip_chars()).select(COLUMNS)
    frame = frame.cast({"age": pl.Int64, "hours-per-week": pl.Int64})
    order = np.random.default_rng(0).permutation(len(frame))
    return frame[order[:16280]], frame[order[16280:]]


def report(name: str, cpu: float | None, train: pl.DataFrame, made: pl.DataFrame) -> tuple[float, float, float]:
    original, release = celosia.read(train), celosia.read(made.select(train.columns).cast(dict(train.schema)))
    tables = Contingency(order=2).parts(original, release)
    one, two = tables["1-way"]["mean"], tables["2-way"]["mean"]
    copied = CopiedUniques().value(original, release)
    show(name, cpu, one, two, copied)
    return one, two, copied


def show(name: str, cpu: float | None, one: float, two: float, copied: float) -> None:
    print(f"{name:34} {'' if cpu is None else f'{cpu:7.2f}':>7} {one:8.4f} {two:8.4f} {copied:8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--synthpop", help="an interpreter that has synthpop-py")
    given = parser.parse_args()
    train, control = halves(given.data)
    speed = calibration()
    print(f"calibration {speed:.2f} s (reference {REFERENCE})")
    print(f"{'':34} {'CPU s':>7} {'1-way':>8} {'2-way':>8} {'copied':>8}")
    report("other real people", None, train, control)
    rng = np.random.default_rng(1)
    report(
        "independent columns", None, train, train.select(pl.col(c).gather(rng.permutation(len(train))) for c in COLUMNS)
    )
    values = {c: train[c].unique().sort().to_list() for c in COLUMNS if train[c].dtype == pl.String}
    schema = celosia.Schema.of(bounds={"age": (17, 90), "hours-per-week": (1, 99)})
    methods = {
        "sequential-trees": SequentialTrees(),
        "sequential-trees(leaf=100)": SequentialTrees(leaf=100),
        "sequential-trees(leaf=5)": SequentialTrees(leaf=5),
        "gaussian-copula": GaussianCopula(),
        "dp-synthesis(epsilon=1)": DpSynthesis(epsilon=1, values=values),
        "dp-synthesis(epsilon=10)": DpSynthesis(epsilon=10, values=values),
    }
    celosia.protect(celosia.read(train.head(200)), SequentialTrees(), seed=1)  # imports are not counted, for nobody
    found = {}
    for name, method in methods.items():
        table = celosia.read(train, schema)
        start = time.process_time()
        made = celosia.protect(table, method, seed=1).polars()
        cpu = time.process_time() - start
        found[name] = (cpu, *report(name, cpu, train, made))
    peers = {name: (cpu * speed / REFERENCE, *rest) for name, (cpu, *rest) in STATED.items()}
    if given.synthpop:
        with tempfile.TemporaryDirectory() as place:
            source, target = Path(place) / "train.csv", Path(place) / "made.csv"
            train.write_csv(source)
            run = subprocess.run(
                [given.synthpop, "-c", PEER, source, target], check=True, capture_output=True, text=True
            )
            cpu = float(run.stdout.split()[-1])
            peers["synthpop-py"] = (cpu, *report("synthpop-py", cpu, train, pl.read_csv(target)))
    for name, numbers in peers.items():
        if "stated" in name:
            show(name, *numbers)
    tree, copula = found["sequential-trees"], found["gaussian-copula"]
    peer = peers.get("synthpop-py", peers["synthpop-py, stated"])
    sdv = peers["SDV copula, stated"]
    print(f"trees: {peer[0] / tree[0]:.1f} times less CPU, {tree[2] / peer[2]:.2f} of the two-way error and "
          f"{tree[3] / peer[3]:.2f} of the copied rows of synthpop-py")  # fmt: skip
    print(f"copula: {sdv[0] / copula[0]:.0f} times less CPU and {copula[2] / sdv[2]:.2f} of the two-way error of SDV")
    print(f"calibration {calibration():.2f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
