"""The demonstration's policy at any number of rows: Spark in local mode beside Polars, same numbers, same records.

usage: python bench/cluster.py [ROWS [ENGINE …]]   (1 000 000; polars spark:local[2])

Every run is a process of its own. CPU time is that of the process and of the Java that it starts; memory is the
largest resident one of each (VmHWM). Spark has 4 GB, and brings at most RESULT to the driver in one result: a step
that would bring the table is stopped there. Names that begin with SPARK_ say it otherwise (SPARK_RESULT=128m,
SPARK_MEMORY=6g). The seconds of the phases are of the clock, so on a machine that others use they tell only where the
time went.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PIECE = 600_000
"""Persons that are drawn at once; they make about a million visits."""
RESULT, MEMORY = os.environ.get("SPARK_RESULT", "64m"), os.environ.get("SPARK_MEMORY", "4g")


def grow(place: Path, rows: int) -> None:
    """The demonstration's register with so many visits, hierarchies and policy; Parquet, which all engines scan."""
    import polars as pl
    import pyarrow.parquet as pq

    from celosia.demo.prepare import POLICY, SEED, population, prepare

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
    phases: dict[str, float] = {}

    def tell(phase: str, _share: float) -> None:
        phases.setdefault(phase.partition(":")[0], round(time.monotonic() - start, 1))

    start = time.monotonic()
    jobs = started(engine)
    certificate = celosia.run(folder / f"{out}.toml", overwrite=True, progress=tell).certificate
    stated = {
        "levels": certificate["steps"][0]["evidence"]["levels"],
        "suppressed": certificate["release"]["suppressed"],
        **{
            claim["part"]: claim["value"] for what in ("requirements", "risks", "losses") for claim in certificate[what]
        },
    }
    took = {**usage(), **jobs(), "begins": phases}
    print(json.dumps({**took, "file": out, "sha256": certificate["release"]["sha256"], "stated": stated}))


def started(engine: str) -> Callable[[], dict[str, int]]:
    """Start the session of Spark with its limits; what is given back tells how many jobs it has run."""
    if not engine.startswith("spark"):
        return dict
    from celosia.data.engines.spark_session import session

    running = session(
        engine.partition(":")[2] or None,
        {"spark.driver.maxResultSize": RESULT, "spark.driver.memory": MEMORY},
    )
    scheduler = running.sparkContext._jsc.sc().dagScheduler()  # noqa: SLF001 - the tracker forgets old jobs
    return lambda: {"jobs": int(scheduler.nextJobId())}


def records(path: Path) -> Any:
    """Every different record of a release with how often it occurs, in an order of its own."""
    import polars as pl

    rows = pl.scan_csv(path, infer_schema=False)
    return rows.group_by(pl.all()).len("records").sort(pl.all()).collect(engine="streaming")


def same(place: Path, one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two runs state the same and released the same records: by their bytes, or counted."""
    if one["stated"] != other["stated"]:
        return False
    return one["sha256"] == other["sha256"] or records(place / one["file"]).equals(records(place / other["file"]))


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
        agreed = len(told) == len(engines) and all(same(Path(place), told[0], one) for one in told)
        print("same numbers and same records" if agreed else "they differ", flush=True)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()
