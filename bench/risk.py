"""Record-level risks and linkage: CPU time against sdcMicro's stated times, and how the time grows.

    python bench/risk.py [rows [keys.csv.gz]]

Their CPU seconds are those of a machine where the calibration job (a fixed loop) takes 1.15 s; ours are put on that
scale by running the same loop before and after. The table is made like theirs: six or eight keys of a household
survey, each redrawn from its margin for a tenth of the records; or grown in that way from the first eight columns of a
given file.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import polars as pl
from _calibration import calibration

import celosia
from celosia.risk.attacks.linking.distance_linkage import DistanceLinkage
from celosia.risk.bases.nearest import nearest
from celosia.risk.individual_risk import IndividualRisk
from celosia.risk.suda import Suda

REFERENCE = 1.15
SDCMICRO = {"individual risk, 6 keys": 2.4, "individual risk, 6 keys, 1 % missing": 7.9, "suda, 8 keys": 6.2}
WANTED = {"individual risk, 6 keys": 5, "individual risk, 6 keys, 1 % missing": 10, "suda, 8 keys": 2}


def survey(n: int, seed: int = 1) -> pl.DataFrame:
    """Keys with the margins of the household survey that sdcMicro's times were measured on."""
    rng = np.random.default_rng(seed)
    margins = {
        "urbrur": [0.78, 0.22],
        "roof": [0.015, 0.55, 0.004, 0.40, 0.005, 0.026],
        "walls": [0.002, 0.36, 0.638],
        "water": [0.14, 0.12, 0.46, 0.13, 0.02, 0.02, 0.02, 0.04, 0.05],
        "electcon": [0.62, 0.004, 0.006, 0.37],
        "relat": [0.22, 0.17, 0.51, 0.03, 0.01, 0.02, 0.02, 0.015, 0.005],
        "sex": [0.5, 0.5],
    }
    # households of a village look alike: draw 400 kinds of record, then redraw a tenth of each key
    kinds = {name: rng.choice(len(p), 400, p=np.array(p) / sum(p)) for name, p in margins.items()}
    kinds["age"] = np.minimum(rng.gamma(1.6, 16, 400).astype(int), 95)
    row = rng.integers(0, 400, n)
    columns = {}
    for name, values in kinds.items():
        column = values[row].astype(np.int64)
        again = rng.random(n) < 0.1
        if name == "age":
            column[again] = np.minimum(rng.gamma(1.6, 16, again.sum()).astype(int), 95)
        else:
            p = np.array(margins[name])
            column[again] = rng.choice(len(p), again.sum(), p=p / p.sum())
        columns[name] = column
    return pl.DataFrame({**columns, "weight": np.full(n, 100.0)})


def grown(path: str, n: int, seed: int = 1) -> pl.DataFrame:
    """The keys of a file, resampled, each redrawn from its margin for a tenth of the records."""
    rng = np.random.default_rng(seed)
    data = pl.read_csv(path)
    row = rng.integers(0, len(data), n)
    columns = {}
    for name in data.columns[:8]:
        values = data[name].to_numpy()
        column = values[row].copy()
        again = rng.random(n) < 0.1
        column[again] = rng.choice(values, again.sum())
        columns[name] = column
    return pl.DataFrame({**columns, "weight": np.full(n, 100.0)})


def cpu(work, repeats: int = 3) -> float:
    """Least CPU seconds of a few runs, after one that compiles."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def exponent(sizes, seconds) -> float:
    """Slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    before = calibration()
    data = grown(sys.argv[2], n) if len(sys.argv) > 2 else survey(n)
    six, eight = data.columns[:6], data.columns[:8]
    rng = np.random.default_rng(2)
    holes = data.with_columns(
        pl.when(pl.Series(rng.random(n) < 0.01)).then(None).otherwise(pl.col(name)).alias(name) for name in six
    )
    wild = celosia.Schema.of(quasi=six, weight="weight", missing=dict.fromkeys(six, "wildcard"))
    ours = {
        "individual risk, 6 keys": cpu(
            lambda: IndividualRisk().records(celosia.read(data, celosia.Schema.of(quasi=six, weight="weight")))
        ),
        "individual risk, 6 keys, 1 % missing": cpu(lambda: IndividualRisk().records(celosia.read(holes, wild))),
        "suda, 8 keys": cpu(lambda: Suda().records(celosia.read(data, celosia.Schema.of(quasi=eight)))),
    }
    scale = REFERENCE / ((before + calibration()) / 2)
    print(f"calibration job {REFERENCE / scale:.2f} s here, {REFERENCE} s on the reference machine; {n} records")
    for name, seconds in ours.items():
        theirs = SDCMICRO[name] * n / 1_000_000
        ratio = theirs / (seconds * scale)
        verdict = "met" if ratio >= WANTED[name] else "missed"
        print(
            f"{name:40s} {seconds * scale:6.2f} s  sdcMicro {theirs:5.1f} s  {ratio:5.1f} times less"
            f"  (wanted {WANTED[name]}: {verdict})"
        )

    print("\ndistance linkage, 5 numeric columns, each file of n records, noise of 30 % of the standard deviation")
    sizes, times = (25_000, 50_000, 100_000), []
    for size in sizes:
        x = rng.normal(size=(size, 5))
        y = x + 0.3 * rng.normal(size=x.shape)
        times.append(cpu(lambda x=x, y=y: nearest(x, y, np.arange(len(x))), repeats=1))
        print(f"  n = {size:7d}  {times[-1]:6.2f} s CPU, {times[-1] / (REFERENCE / scale):5.2f} calibration jobs")
    names = list("abcde")
    before_table, after_table = (celosia.read(pl.DataFrame(z, schema=names)) for z in (x, y))
    start = time.process_time()
    value = DistanceLinkage().value(before_table, after_table)
    jobs = (time.process_time() - start) / (REFERENCE / scale)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"  as a risk of two tables of {sizes[-1]}: {jobs:.2f} jobs (wanted 5), value {value:.4f}")
    print(f"  growth exponent {exponent(sizes, times):.2f}; peak memory of all of this run {memory:.2f} GB (wanted 2)")

    print("\nsuda, growth with the records")
    sizes, times = (100_000, 300_000, 1_000_000), []
    for size in sizes:
        part = data[: min(size, n)]
        times.append(cpu(lambda part=part: Suda().value(celosia.read(part, celosia.Schema.of(quasi=eight))), repeats=1))
    print(
        "  " + "  ".join(f"{s}: {t:.2f} s" for s, t in zip(sizes, times, strict=True)),
        f" exponent {exponent(sizes, times):.2f}",
    )


if __name__ == "__main__":
    main()
