"""What the checked scan of a CSV file costs against a bare one, as CPU ratios: python bench/reading.py [rows]."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from celosia.data import io
from celosia.proposals import suggest


def cpu(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main(rows: int) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": [f"{z:05d}" for z in rng.integers(8001, 8999, rows)],
            "born": pl.Series(rng.integers(0, 20000, rows)).cast(pl.Date),
            "income": rng.lognormal(7, 1, rows).round(2),
            "job": rng.choice([f"occupation {i}" for i in range(40)], rows),
        }
    )
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "people.csv"
        frame.write_csv(path)
        keys = ["age", "sex", "zip", "job"]

        def count(scan: pl.LazyFrame) -> None:
            scan.group_by(keys).len().collect(engine="streaming")

        count(pl.scan_csv(path))  # the thread pool starts outside the measurement
        bare = cpu(lambda: count(pl.scan_csv(path)))
        opened = cpu(lambda: io.scan(path))
        checked = io.scan(path).frame
        grouped = cpu(lambda: count(checked))
        suggested = cpu(lambda: suggest(checked))
        size = path.stat().st_size / 1e6
    print(f"{rows} rows, {size:.0f} MB; CPU of a bare scan and group-by: {bare:.2f} s = 1.0")
    print(f"checks when a file is opened  {opened / bare:5.2f}")
    print(f"group-by on the checked scan  {grouped / bare:5.2f}")
    print(f"suggestions for six columns   {suggested / bare:5.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
