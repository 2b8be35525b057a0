"""The gateway: questions per second, what it adds to plain DuckDB, and its error against SmartNoise SQL.

    python bench/gateway.py adult.data [--peer /path/to/venv/bin/python]

The peer is an environment with `smartnoise-sql`; without it only Celosia's own error is compared with the
analytic one.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import subprocess
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

NAMES = (
    "age workclass fnlwgt education education_num marital occupation relationship race sex gain loss hours country "
    "target"
)
EPSILON = 0.5
WORKLOAD = {
    "count": "SELECT COUNT(*) AS n FROM person WHERE age >= 40",
    "sum": "SELECT SUM(age) AS n FROM person",
    "histogram": "SELECT education, sex, COUNT(*) AS n FROM person GROUP BY education, sex",
}
DRAWS = {"count": 2000, "sum": 2000, "histogram": 100}
PEER_DRAWS = {"count": 300, "sum": 300, "histogram": 30}

PEER = r"""
import json, sys, time
import pandas as pd
from snsql import Privacy, from_connection
path, asked = sys.argv[1], json.loads(sys.argv[2])
frame = pd.read_csv(path)
columns = {"age": {"type": "int", "lower": 17, "upper": 90}, "education": {"type": "string"}, "sex": {"type": "string"}}
table = {"row_privacy": True, "censor_dims": False, "clamp_counts": False, "rows": len(frame), **columns}
privacy, metadata = Privacy(epsilon=asked["epsilon"], delta=1e-9), {"": {"": {"person": table}}}
reader = from_connection(frame[list(columns)], privacy=privacy, metadata=metadata)
out = {}
for name, sql in asked["workload"].items():
    start = time.process_time()
    rows = [reader.execute(sql)[1:] for _ in range(asked["draws"][name])]
    out[name] = {"rows": [[[str(x) for x in r[:-1]] + [float(r[-1])] for r in answer] for answer in rows],
                 "ms": (time.process_time() - start) / asked["draws"][name] * 1000}
print(json.dumps(out))
"""


def prepare(source: Path, place: Path) -> Path:
    path = place / "person.csv"
    with source.open() as file, path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(NAMES.split())
        writer.writerows([cell.strip() for cell in row] for row in csv.reader(file) if len(row) == 15)
    return path


def gateway(path: Path, place: Path):
    import duckdb

    from celosia.gateway.gateway import Gateway
    from celosia.gateway.ledger import Ledger
    from celosia.gateway.metadata import DatasetFacts

    education = sorted(row[0] for row in duckdb.sql(f"SELECT DISTINCT education FROM '{path}'").fetchall())
    columns = {
        "age": {"type": "integer", "bounds": [17, 90]},
        "hours": {"type": "integer", "bounds": [0, 100]},
        "education": {"type": "text", "categories": education},
        "sex": {"type": "text", "categories": ["Female", "Male"]},
    }
    tables = {"person": {"source": str(path), "columns": columns}}
    facts = DatasetFacts.of({"name": "adult", "epsilon": 900_000.0, "tables": tables})
    return Gateway(facts, Ledger.create(place / "ledger.db"), grid=0)


def questions(number: int) -> list[str]:
    return [f"SELECT COUNT(*) FROM person WHERE age >= {17 + i % 70} AND hours <> {i}" for i in range(number)]


def timed(job, asked: list[str]) -> tuple[list[float], list[float]]:
    """Wall and CPU milliseconds of each question."""
    wall, used = [], []
    for sql in asked:
        start, cpu = time.perf_counter(), time.process_time()
        job(sql)
        used.append((time.process_time() - cpu) * 1000)
        wall.append((time.perf_counter() - start) * 1000)
    return wall, used


def speed(opened, path: Path) -> None:
    import duckdb

    asked = questions(500)
    opened.ask("SELECT COUNT(*) FROM person", epsilon=0.1)
    wall, used = timed(lambda sql: opened.ask(sql, epsilon=0.001), asked)
    rate, per_cpu = 1000 * len(asked) / sum(wall), 1000 * len(asked) / sum(used)
    print(f"one client     {rate:6.0f} questions/s, {per_cpu:6.0f} per CPU second (at least 200)")
    start, cpu = time.perf_counter(), time.process_time()
    parts = [asked[i::8] for i in range(8)]
    threads = [
        threading.Thread(target=lambda part=part: [opened.ask(s, epsilon=0.002) for s in part]) for part in parts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, busy = time.perf_counter() - start, time.process_time() - cpu
    print(
        f"eight clients  {len(asked) / took:6.0f} questions/s, {len(asked) / busy:6.0f} per CPU second (at least 200)"
    )
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE person AS SELECT * FROM '{path}'")
    connection.execute("SET threads = 1")
    plain_wall, plain_used = timed(lambda sql: connection.execute(sql).fetchall(), asked)
    for name, ours, theirs in (("wall", wall, plain_wall), ("CPU", used, plain_used)):
        a, b = statistics.median(ours), statistics.median(theirs)
        print(
            f"median {name:4} a question: gateway {a:.2f} ms, plain DuckDB {b:.2f} ms, added {a - b:.2f} ms (at most 5)"
        )


def accuracy(opened, path: Path, peer: str | None) -> None:
    import duckdb

    from celosia.kernels.budget.noise import laplace_for

    exact = {}
    for name, sql in WORKLOAD.items():
        rows = duckdb.sql(sql.replace("FROM person", f"FROM '{path}'")).fetchall()
        exact[name] = {tuple(map(str, row[:-1])): float(row[-1]) for row in rows}
    best = {name: laplace_for(90 if name == "sum" else 1, EPSILON).mean_absolute for name in WORKLOAD}
    theirs = {}
    if peer:
        asked = json.dumps({"epsilon": EPSILON, "workload": WORKLOAD, "draws": PEER_DRAWS})
        done = subprocess.run(
            [peer, "-W", "ignore", "-c", PEER, str(path), asked], capture_output=True, text=True, check=True
        )
        theirs = json.loads(done.stdout.strip().splitlines()[-1])
    for name, sql in WORKLOAD.items():
        cpu = time.process_time()
        errors = []
        for _ in range(DRAWS[name]):
            for row in opened.ask(sql, epsilon=EPSILON, fresh=True).rows:
                key = tuple(str(v) for v in row.values() if not isinstance(v, dict))
                errors.append(abs(row["n"]["value"] - exact[name][key]))
        took = (time.process_time() - cpu) / DRAWS[name] * 1000
        ours = statistics.fmean(errors)
        line = f"{name:10} error {ours:.3f}, {ours / best[name]:.3f} of the analytic one"
        line += f" ({len(errors)} draws, {took:.1f} ms CPU)"
        if name in theirs:
            other = [abs(r[-1] - exact[name][tuple(r[:-1])]) for answer in theirs[name]["rows"] for r in answer]
            found = statistics.fmean(other)
            spread = statistics.stdev(other) / len(other) ** 0.5
            cpu_ms = theirs[name]["ms"]
            line += f"; SmartNoise {found:.3f} ± {spread:.3f} ({len(other)} draws, {cpu_ms:.1f} ms CPU)"
            line += f", ratio {ours / found:.3f}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--peer")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        path = prepare(given.data, Path(place))
        with closing(gateway(path, Path(place))) as opened:
            speed(opened, path)
            accuracy(opened, path, given.peer)


if __name__ == "__main__":
    main()
