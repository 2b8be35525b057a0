"""k-anonymity and prosecutor risk against the bare group-by of the same engine, in one run.

usage: python bench/assess.py TABLE   (a CSV or Parquet file; all its columns are quasi-identifiers)
"""

import argparse
import resource
import time

import duckdb
import polars as pl

import celosia

parser = argparse.ArgumentParser()
parser.add_argument("table")
given = parser.parse_args()
frame = pl.read_csv(given.table, separator=";") if given.table.endswith("csv") else pl.read_parquet(given.table)
keys = frame.columns
schema = celosia.Schema.of(quasi=keys)


def cpu(job) -> float:
    job()
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        job()
        best = min(best, time.process_time() - start)
    return best


relation = duckdb.from_arrow(frame)
bare = {
    "polars": lambda: frame.lazy().group_by(keys).len().collect(engine="streaming"),
    "duckdb": lambda: relation.aggregate(", ".join(f'"{k}"' for k in keys) + ", count(*) AS n").pl(),
}
for name, source in {"polars": frame, "duckdb": relation}.items():
    ours = cpu(lambda source=source: celosia.assess(celosia.read(source, schema), ["k-anonymity(k=5)"]))
    base = cpu(bare[name])
    print(f"{name}: assess {ours:.3f} s CPU, bare group-by {base:.3f} s, ratio {ours / base:.2f}")
print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
