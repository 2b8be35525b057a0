"""A whole run on a table that is not kept in memory, against scan + group-by + write of the bare engine, in one run.

usage: python bench/scale.py [ROWS [POLARS_OR_DUCKDB … [MEMORY]]] [persons]   (10 000 000, both, 1GB for DuckDB)

The table has eight quasi-identifiers and a sensitive column with the sizes and skews of a census file, all drawn from
one seed. Three pairs of jobs: k-anonymity against the group-by of the eight columns, k-anonymity with l-diversity and
t-closeness against that of all nine, and a whole run against group-by and write. What was measured is compared with
what the bare engine counted; with one engine, the first tenth of the rows is released by both, and the bytes and the
numbers are compared. With ``persons`` there is a person column, six persons to ten rows, most of whom stay as they
are, and the whole run alone is measured.

Every job is a process of its own, so that its CPU time and its largest resident memory (VmHWM, not ``ru_maxrss``,
which begins with that of the parent) are its own. Ratios are of CPU seconds in one run: on a machine that others use
as well, wall time says nothing.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SIZES = {"sex": 2, "age": 74, "race": 5, "status": 7, "school": 16, "country": 41, "sector": 8, "job": 14}
PIECE = 1_000_000
ALL_THREE = ("k-anonymity(k=5)", "l-diversity(l=2)", "t-closeness(t=0.5)")
PAIRS = (("group-by", "assess"), ("group-by-9", "assess-klt"), ("bare", "run"))
SMALL = 100_000_000
"""Bytes of a file up to which DuckDB is measured without a limit, as the bare engine is used."""
CHANCE = 0.03
"""How often a column is independent of the others: it decides how many combinations there are."""


def grow(path: Path, rows: int, *, persons: bool) -> None:
    """Write the table piece by piece: columns depend on a common type of person, and on nothing with some chance.

    With ``persons`` the last rows of a piece belong to those of its first, with their values or by chance others.
    """
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
        own = np.arange(count)
        if persons:
            first = max(1, count * 6 // 10)
            own[first:] = rng.integers(0, first, count - first)
            columns["person"] = pa.array(own + start)
            same = np.where(rng.random(count) < CHANCE, np.arange(count), own)
        for name, values in people.items():
            codes = np.where(rng.random(count) < CHANCE, values[rng.integers(0, 30_000, count)], values[person])
            codes = codes[same] if persons and name in SIZES else codes
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
    """The run of a policy: the hash of what was written, and one of the numbers of its certificate."""
    import pyarrow.parquet as pq

    import celosia

    sections = {
        "input": {"path": str(path)},
        "schema": {
            "quasi": list(SIZES),
            "sensitive": ["pay"],
            **({"person": "person"} if "person" in pq.read_schema(path).names else {}),
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
    certificate = celosia.run(celosia.Policy.of(sections, path.parent)).certificate
    told = [certificate[part] for part in ("release", "requirements", "risks", "losses", "attacks", "checked")]
    told[0] = {name: fact for name, fact in told[0].items() if name != "file"}  # which tells the engine
    numbers = hashlib.sha256(json.dumps([told, certificate["steps"]], sort_keys=True).encode()).hexdigest()
    return f"{told[0]['sha256'][:16]} {numbers[:16]}"


def measure(engine: str, path: Path, memory: str | None, models: Sequence[str] = ("k-anonymity(k=5)",)) -> str:
    """k-anonymity alone, unless more is asked for."""
    import celosia

    schema = celosia.Schema.of(quasi=list(SIZES), sensitive=["pay"] if len(models) > 1 else [])
    found = celosia.assess(celosia.read(path, schema, engine=engine, memory=memory), models)
    risk = found.risks[0].evidence
    measured = " ".join(f"{finding.value:.6g}" for finding in found.models)
    return f"k {measured} classes {risk['classes']} unique {risk['unique']}"


def grouped(engine: str, path: Path, memory: str | None, keys: Sequence[str] = tuple(SIZES)) -> str | None:
    """The group-by; of the quasi-identifiers what k-anonymity and the risks follow from."""
    if engine == "polars":
        import polars as pl

        counted = pl.scan_parquet(path).group_by(keys).len("n").collect(engine="streaming")["n"]
    else:
        import duckdb

        limit = {} if memory is None else {"memory_limit": memory}
        connection = duckdb.connect(config={"temp_directory": str(path.parent), **limit})
        named = ", ".join(f'"{key}"' for key in keys)
        counted = connection.read_parquet(str(path)).aggregate(f"{named}, count(*) AS n").pl()["n"]
    if "pay" in keys:
        return None
    return f"k {counted.min()} classes {len(counted)} unique {(counted == 1).sum()}"


def child(job: str, engine: str, place: str, memory: str) -> None:
    from reading_usage import usage  # beside this file, which is run as a program here

    path, out = Path(place) / "table.parquet", Path(place) / f"out-{job}-{engine}.parquet"
    limit = memory if engine == "duckdb" and path.stat().st_size > SMALL else None
    jobs = {
        "bare": lambda: bare(engine, path, out),
        "run": lambda: whole(engine, path, out, memory),
        "group-by": lambda: grouped(engine, path, limit),
        "assess": lambda: measure(engine, path, limit),
        "group-by-9": lambda: grouped(engine, path, limit, [*SIZES, "pay"]),
        "assess-klt": lambda: measure(engine, path, limit, ALL_THREE),
    }
    start = time.monotonic()
    answer = jobs[job]()
    print(json.dumps({**usage(), "wall": time.monotonic() - start, "answer": answer}))


def done(job: str, engine: str, place: Path, memory: str) -> dict[str, Any] | None:
    """What a job took and found; None, and the reason in print, where it failed."""
    command = [sys.executable, __file__, "--child", job, engine, str(place), memory]
    there = {**os.environ, "TMPDIR": str(place)}
    ended = subprocess.run(command, capture_output=True, text=True, env=there, check=False)
    if ended.returncode:
        print(f"{engine} {job} failed: {ended.stderr[-300:]}")
        return None
    used = json.loads(ended.stdout.splitlines()[-1])
    print(
        f"{engine:7} {job:10} {used['cpu']:7.1f} s CPU {used['wall']:7.1f} s "
        f"{used['memory']:7.0f} MiB  {used['answer'] or ''}",
        flush=True,
    )
    return dict(used)


def agreed(what: str, answers: Sequence[str]) -> None:
    print(f"{what}: {'the same' if len(set(answers)) == 1 else 'DIFFERENT: ' + ', '.join(answers)}", flush=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    engines = [word for word in sys.argv[2:] if word in {"polars", "duckdb"}] or ["polars", "duckdb"]
    memory = next((word for word in sys.argv[2:] if word[0].isdigit()), "1GB")
    persons = [word for word in sys.argv[2:] if word == "persons"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        growing = [sys.executable, __file__, "--grow", str(place / "table.parquet"), str(rows), *persons]
        subprocess.run(growing, check=True)
        released = []
        for engine in engines:
            for plain, ours in PAIRS[-1:] if persons else PAIRS:
                base, own = (done(job, engine, place, memory) for job in (plain, ours))
                if base is None or own is None:
                    continue
                cpu, size = (own[what] / base[what] for what in ("cpu", "memory"))
                print(f"{engine:7} {ours} / {plain}: {cpu:.2f} of the CPU, {size:.2f} of the memory", flush=True)
                if ours == "assess":
                    agreed(f"{engine:7} numbers of assess and of the bare group-by", [base["answer"], own["answer"]])
                if ours == "run":
                    released.append(own["answer"])
        if len(engines) == 1 and not persons:
            released = on_a_tenth(place, rows, memory)
        agreed("bytes and numbers of the release on both engines", released)


def on_a_tenth(place: Path, rows: int, memory: str) -> list[str]:
    """What both engines release of the first tenth of the rows, in pieces as they were grown."""
    part = place / "tenth"
    part.mkdir()
    subprocess.run([sys.executable, __file__, "--grow", str(part / "table.parquet"), str(rows // 10)], check=True)
    found = [done("run", engine, part, memory) for engine in ("polars", "duckdb")]
    return [each["answer"] for each in found if each is not None]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    elif sys.argv[1:2] == ["--grow"]:
        grow(Path(sys.argv[2]), int(sys.argv[3]), persons="persons" in sys.argv[4:])
    else:
        main()
