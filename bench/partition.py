"""Mondrian, local suppression and anatomy against their peers, as ratios in one run.

Peers' CPU seconds were measured on an idle machine where the calibration job (a fixed pure-Python loop) took
1.15 s; they are scaled to this machine by running the same job here. Kernels are compiled before anything is timed.

    python bench/partition.py [directory with the reference data]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from _calibration import calibration

import celosia
from celosia.methods.generalisation.anatomise import Anatomise
from celosia.methods.generalisation.mondrian import Mondrian
from celosia.methods.suppression.local_suppress import LocalSuppress
from celosia.views.estimates import estimated_count

SHARED = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "../shared"
REFERENCE = 1.15
ADULT = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
]  # fmt: skip
QUASI = ["age", "education", "marital-status", "occupation", "sex", "native-country"]
K7 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def cpu(job: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = job()
    return time.process_time() - start, result


def adult() -> pl.DataFrame:
    frame = pl.read_csv(SHARED / "data/adult.data", has_header=False, new_columns=ADULT)
    return frame.drop_nulls().with_columns(pl.col(pl.String).str.strip_chars())


def mondrian(unit: float) -> None:
    data = adult().select(*QUASI, "income")
    schema = celosia.Schema.of(quasi=QUASI, sensitive=["income"])
    method = Mondrian(require=["k-anonymity(k=5)"])

    def run(frame: pl.DataFrame) -> celosia.Table:
        protected = celosia.protect(celosia.read(frame, schema), method)
        protected.polars()
        return protected

    run(data.head(500))
    seconds, table = cpu(lambda: run(data))
    peer = 33.4 / REFERENCE * unit
    print(f"mondrian adult k=5: {seconds:.3f} CPU s, anonypy {peer:.1f}: {peer / seconds:.0f} times less", end="; ")
    print(f"mean NCP {table.history[-1]['ncp']:.4f} (anonypy 0.0207), {table.history[-1]['classes']} classes")
    rng = np.random.default_rng(1)
    big = data[rng.integers(0, len(data), 1_000_000)]
    age = np.clip(big["age"].to_numpy() + rng.integers(-3, 4, len(big)), 17, 95)
    big = big.with_columns(pl.Series("age", age))
    seconds, table = cpu(lambda: run(big))
    print(f"mondrian 1 000 000 rows: {seconds:.1f} CPU s = {seconds / unit:.1f} calibration jobs (target 10)", end="; ")
    print(f"{table.history[-1]['classes']} classes")


def suppression(unit: float) -> None:
    names = {"testdata": "data/testdata.csv", "free1": "data/free1.csv"}
    frames = {name: pl.read_csv(SHARED / path, infer_schema_length=10_000) for name, path in names.items()}
    frames["hard"] = pl.read_csv(SHARED / "golden/sdcmicro/input_bench_n10000.csv.gz")
    free = ["REGION", "SEX", "AGE", "MARSTAT", "KINDPERS", "EDUC1"]
    cases = [
        ("testdata", K7[:5], 3, "wildcard", 8, None),
        ("testdata", K7, 2, "wildcard", 157, None),
        ("testdata", K7, 3, "wildcard", 293, None),
        ("testdata", K7, 5, "wildcard", 500, None),
        ("testdata", K7, 3, "conservative", 333, None),
        ("testdata", K7, 3, "category", None, None),
        ("free1", free, 3, "wildcard", 4388, None),
        ("free1", free, 3, "category", None, None),
        ("hard", [*K7, "age"], 3, "wildcard", 3695, 39.0),
        ("hard", [*K7, "age"], 3, "conservative", None, None),
        ("hard", [*K7, "age"], 3, "category", None, None),
    ]
    for name, keys, k, reading, cells, peer in cases:
        table = celosia.read(frames[name].select(keys), celosia.Schema.of(quasi=keys))
        celosia.protect(table, LocalSuppress(k=k, missing=reading))  # compiled
        seconds, done = cpu(lambda t=table, k=k, r=reading: celosia.protect(t, LocalSuppress(k=k, missing=r)))
        line = f"local-suppress {name}, {len(keys)} keys, k={k}, {reading}: {done.history[-1]['cells']} cells"
        line += f" (sdcMicro {cells})" if cells else ""
        line += f", {seconds:.3f} CPU s"
        if peer:
            line += f": {peer / REFERENCE * unit / seconds:.0f} times less than sdcMicro"
        if len(keys) == 7:
            budget = LocalSuppress(k=k, missing=reading, budget_seconds=20)
            proof = celosia.protect(table, budget).history[-1]
            line += f"; integer program: {proof['cells']} cells, at least {proof['lower_bound']:.0f}, "
            line += "proven" if proof["optimal"] else "not proven"
        print(line)


def anatomy() -> None:
    """Mean relative error of random count queries, from an anatomy and from boxes that meet the same l."""
    data = adult().filter(pl.col("occupation") != "?").select("age", "sex", "education-num", "occupation")
    data = data.with_columns(pl.col("education-num").cast(pl.Int64))
    bounds = {"age": (17, 90), "education-num": (1, 16)}
    schema = celosia.Schema.of(
        quasi=["age", "education-num", "sex"], sensitive=["occupation"], bounds=bounds,
        kinds={"age": "numeric", "education-num": "numeric"}, hierarchies={"sex": [["Male", "*"], ["Female", "*"]]},
    )  # fmt: skip
    table = celosia.read(data, schema)
    l = 4
    made = {
        "anatomy, near groups": celosia.protect(table, Anatomise(l=l), seed=1),
        "anatomy, buckets": celosia.protect(table, Anatomise(l=l, groups="buckets"), seed=1),
        "boxes (Mondrian)": celosia.protect(table, Mondrian(require=[f"alpha-k(k={l}, alpha={1 / l})"])),
    }
    rng = np.random.default_rng(5)
    queries = []
    for _ in range(60):
        low, first = int(rng.integers(20, 60)), int(rng.integers(3, 12))
        where = {"age": range(low, low + 10), "education-num": range(first, first + 4)}
        queries.append((where, {"occupation": str(data["occupation"][int(rng.integers(len(data)))])}))
    truth = np.array([estimated_count(table, where, value) for where, value in queries])
    large = truth >= 20
    for name, protected in made.items():
        told = np.array([estimated_count(protected, where, value) for where, value in queries])
        error = np.abs(told - truth)[large] / truth[large]
        print(f"count queries, l={l}, {name}: median relative error {np.median(error):.3f}, mean {error.mean():.3f}")


if __name__ == "__main__":
    before = calibration()
    mondrian(before)
    suppression(before)
    anatomy()
    print(f"calibration job: {before:.2f} s before, {calibration():.2f} s after")
