"""A whole run on a table that is not kept in memory, against scan + group-by + write of the bare engine, in one run.

usage: python bench/scale.py [ROWS [POLARS_OR_DUCKDB … [MEMORY]]]   (10 000 000, both engines, 1GB for DuckDB)

The table has eight quasi-identifiers and a sensitive column with the sizes and skews of a census file, all drawn from
one seed. Every job is a process of its own, so that its CPU time and its largest resident memory (VmHWM, not
``ru_maxrss``, which begins with that of the parent) are its own. Ratios are of CPU seconds in one run: on a machine
that others use as well, wall time says nothing.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = {"sex": 2, "age": 74, "race": 5, "status": 7, "school": 16, "country": 41, "sector": 8, "job": 14}
PIECE = 1_000_000
CHANCE = 0.03
"""How often a column is independent of the others: it decides how many combinations there are."""


def grow(path: Path, rows: int) -> None:
    """Write the table piece by piece: columns depend on a common type of person, and on nothing with some chance."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(42)
    drawn = {name: rng.geometric(min(0.6, 2.5 / size), 30_000) - 1 for name, size in SIZES.items()}
    people = {name: np.minimum(codes, SIZES[name] - 1) for name, codes in drawn.items()}
    people["pay"] = (rng.random(30_000) < 0.25).astype(np.int64)
    labels = {name: [f"{name} {i:02d}" for i in range(size)] for name, size in {**SIZES, "pay": 2}.items()}
    writer = None
    for start in range(0, rows, PIECE):
        count = min(PIECE, rows - start)
        person = rng.integers(0, 30_000, count)
        columns = {}
        for name, values in people.items():
            codes = np.where(rng.random(count) < CHANCE, values[rng.integers(0, 30_000, count)], values[person])
            plain = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), labels[name]).cast(pa.string())
            columns[name] = pa.array(codes + 17) if name == "age" else plain
        batch = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, batch.schema, compression="zstd")
        writer.write_table(batch)
    writer.close()


def bare(engine: str, path: Path, out: Path) -> None:
    """Group by the eight columns, then write the table."""
    keys = list(SIZES)
    if engine == "polars":
        import polars as pl

        pl.scan_parquet(path).group_by(keys).len().collect(engine="streaming")
        pl.scan_parquet(path).sink_parquet(out)
    else:
        import duckdb

        rows = duckdb.connect(config={"memory_limit": "1GB", "temp_directory": str(out.parent)}).read_parquet(str(path))
        rows.aggregate(", ".join(f'"{key}"' for key in keys) + ", count(*) AS n").pl()
        rows.write_parquet(str(out))


def whole(engine: str, path: Path, out: Path, memory: str) -> str:
    """The run of a policy: the hash of what was written."""
    import celosia

    sections = {
        "input": {"path": str(path)},
        "schema": {
            "quasi": list(SIZES),
            "sensitive": ["pay"],
            "hierarchies": {
                "age": {"use": "intervals", "width": 5},
                **{name: {"use": "prefixes", "step": 1} for name in ("school", "country", "job")},
            },
        },
        "require": ["k-anonymity(k=5)"],
        "step": [{"use": "generalise", "suppress": 0.01, "budget_nodes": 200}],
        "output": {"path": str(out), "overwrite": True},
        "run": {"seed": 1, "testing": True, "engine": engine, **({"memory": memory} if engine == "duckdb" else {})},
    }
    return str(celosia.run(celosia.Policy.of(sections, path.parent)).certificate["release"]["sha256"])


def measure(engine: str, path: Path) -> str:
    """k-anonymity alone."""
    import celosia

    table = celosia.read(path, celosia.Schema.of(quasi=list(SIZES)), engine=engine)
    return str(celosia.assess(table, ["k-anonymity(k=5)"]).models[0].value)


def grouped(engine: str, path: Path) -> None:
    keys = list(SIZES)
    if engine == "polars":
        import polars as pl

        pl.scan_parquet(path).group_by(keys).len().collect(engine="streaming")
    else:
        import duckdb

        duckdb.read_parquet(str(path)).aggregate(", ".join(f'"{key}"' for key in keys) + ", count(*) AS n").pl()


def child(job: str, engine: str, place: str, memory: str) -> None:
    from reading_usage import usage  # beside this file, which is run as a program here

    path, out = Path(place) / "table.parquet", Path(place) / f"out-{job}-{engine}.parquet"
    jobs = {
        "bare": lambda: bare(engine, path, out),
        "run": lambda: whole(engine, path, out, memory),
        "group-by": lambda: grouped(engine, path),
        "assess": lambda: measure(engine, path),
    }
    start = time.monotonic()
    answer = jobs[job]()
    print(json.dumps({**usage(), "wall": time.monotonic() - start, "answer": answer}))


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    engines = [word for word in sys.argv[2:] if word in {"polars", "duckdb"}] or ["polars", "duckdb"]
    memory = next((word for word in sys.argv[2:] if word[0].isdigit()), "1GB")
    with tempfile.TemporaryDirectory() as place:
        growing = [sys.executable, __file__, "--grow", str(Path(place) / "table.parquet"), str(rows)]
        subprocess.run(growing, check=True)
        for engine in engines:
            for plain, ours in (("group-by", "assess"), ("bare", "run")):
                told = {}
                for job in (plain, ours):
                    command = [sys.executable, __file__, "--child", job, engine, place, memory]
                    there = {**os.environ, "TMPDIR": place}
                    done = subprocess.run(command, capture_output=True, text=True, env=there, check=False)
                    if done.returncode:
                        print(f"{engine} {job} failed: {done.stderr[-300:]}")
                        break
                    told[job] = json.loads(done.stdout.splitlines()[-1])
                    used = told[job]
                    print(
                        f"{engine:7} {job:9} {used['cpu']:7.1f} s CPU {used['wall']:7.1f} s "
                        f"{used['memory']:7.0f} MB  {(used['answer'] or '')[:12]}",
                        flush=True,
                    )
                else:
                    cpu, size = (told[ours][what] / told[plain][what] for what in ("cpu", "memory"))
                    print(f"{engine:7} {ours} / {plain}: {cpu:.2f} of the CPU, {size:.2f} of the memory", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    elif sys.argv[1:2] == ["--grow"]:
        grow(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
