"""The demonstration's policy at any number of rows: Spark in local mode beside Polars, same numbers, same bytes.

usage: python bench/cluster.py [ROWS [ENGINE …]]   (1 000 000; polars spark:local[2])

Every run is a process of its own. CPU time is that of the process and of the Java that it starts; memory is the
largest resident one of each (VmHWM). A session of Spark brings at most 256 MB to the driver in one result: a step
that would bring the table is stopped there.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PIECE = 600_000
"""Persons that are drawn at once; they make about a million visits."""


def grow(place: Path, rows: int) -> None:
    """The demonstration's register with so many visits, hierarchies and policy; Parquet, which all engines scan."""
    import polars as pl
    import pyarrow.parquet as pq

    from celosia.demo.population import population
    from celosia.demo.prepare import POLICY, SEED, prepare

    prepare(place, persons=200)
    (place / "policy.toml").write_text(POLICY.replace("original.csv", "original.parquet"), encoding="utf-8")
    writer, written = None, 0
    for piece in range(10**6):
        persons = min(PIECE, 200 + (rows - written) * 5 // 8)
        drawn = population(persons, SEED + piece)
        own = [pl.col(name) + f"-{piece}" for name in ("person", "household", "national_id")]
        batch = drawn.with_columns(own).head(rows - written).to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or pq.ParquetWriter(place / "original.parquet", batch.schema, compression="zstd")
        writer.write_table(batch)
        written += len(batch)
        if written == rows:
            break
    writer.close()


def child(engine: str, place: str) -> None:
    """One run; what it states and what it took."""
    from reading_usage import usage  # beside this file, which is run as a program here

    import celosia

    folder = Path(place)
    sections = (folder / "policy.toml").read_text("utf-8")
    out = f"release-{engine.partition(':')[0]}.csv"
    settings = f'\n[run]\nseed = 1\ntesting = true\nengine = "{engine}"\n'
    (folder / f"{out}.toml").write_text(sections.replace("release.csv", out) + settings, encoding="utf-8")
    certificate = celosia.run(folder / f"{out}.toml", overwrite=True).certificate
    stated = {
        "levels": certificate["steps"][0]["evidence"]["levels"],
        "suppressed": certificate["release"]["suppressed"],
        **{
            claim["part"]: claim["value"] for what in ("requirements", "risks", "losses") for claim in certificate[what]
        },
    }
    print(json.dumps({**usage(), "sha256": certificate["release"]["sha256"], "stated": stated}))


def main() -> None:
    """Grow the table, run on every engine, and compare."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    engines = sys.argv[2:] or ["polars", "spark:local[2]"]
    with tempfile.TemporaryDirectory() as place:
        grow(Path(place), rows)
        told = []
        for engine in engines:
            command = [sys.executable, __file__, "--child", engine, place]
            done = subprocess.run(
                command, capture_output=True, text=True, env={**os.environ, "TMPDIR": place}, check=False
            )
            if done.returncode:
                print(f"{engine} failed: {done.stderr[-600:]}")
                continue
            told.append(json.loads(done.stdout.splitlines()[-1]))
            print(f"{engine:16} {json.dumps({k: v for k, v in told[-1].items() if k != 'stated'})}", flush=True)
        print(json.dumps(told[0]["stated"], indent=1) if told else "")
        same = [(one["sha256"], one["stated"]) == (told[0]["sha256"], told[0]["stated"]) for one in told]
        print("same numbers and same bytes" if told and all(same) else "they differ", flush=True)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()
