"""Attacks by a reader of the certificate: against brute force on the reference files, and on a million records."""

import resource
import time
from pathlib import Path

import numpy as np
import polars as pl
from _calibration import calibration

import celosia

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
WINDOWS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2)


def brute_force(original: np.ndarray, protected: np.ndarray, window: float) -> float:
    """Right links of the intersection of windows, from an n × n comparison of each column."""
    n = len(original)
    possible = np.ones((n, n), bool)
    for x, y in zip(original.T, protected.T, strict=True):
        first, last = (y[None, :] < x[:, None]).sum(axis=1), (y[None, :] <= x[:, None]).sum(axis=1) - 1
        low, high = (y[None, :] < y[:, None]).sum(axis=1), (y[None, :] <= y[:, None]).sum(axis=1) - 1
        possible &= np.maximum(low[None, :] - last[:, None], first[:, None] - high[None, :]) <= int(window * n + 1e-9)
    return float((np.diag(possible) / np.maximum(possible.sum(axis=1), 1)).mean())


def windows(name: str, columns: int) -> None:
    data = pl.read_csv(DATA / f"{name}.csv")[:, -columns:]
    table = celosia.read(data)
    for window in WINDOWS:
        told = []
        for step in ("uniform", "normal", "buckets"):
            method = celosia.methods.RankSwap(columns=data.columns, window=window, step=step)
            protected = celosia.protect(table, method, seed=1)
            found = celosia.risk.RankIntersection().evidence(table, protected)
            told.append(f"{step} {found['value']:.3f}")
            if step == "uniform":
                second = brute_force(data.to_numpy(), protected.polars().to_numpy(), window)
                told.append(f"(brute force {second:.3f}, single {found['single']:.3f}, nearest {found['control']:.3f})")
        print(f"{name} window {window:.0%}: " + " ".join(told), flush=True)


def million(n: int = 1_000_000, columns: int = 10) -> None:
    rng = np.random.default_rng(1)
    names = [f"c{i}" for i in range(columns)]
    x = rng.normal(size=(n, columns)) @ rng.normal(size=(columns, columns))
    job = pl.Series("job", rng.integers(0, 50, n)).cast(pl.String)
    table = celosia.read(pl.DataFrame(x, schema=names).with_columns(job))
    everything = {"columns": names}
    steps = {
        "rank-intersection": ({"use": "rank-swap", **everything, "window": 0.05},),
        "group-intersection": ({"use": "individual-ranking", **everything, "k": 10},),
        "noise-linkage": ({"use": "noise", **everything, "p": 0.1},),
        "noise-reconstruction": ({"use": "noise", **everything, "p": 0.1},),
        "category-posterior": ({"use": "pram", "columns": ["job"]},),
        "coding-bounds": ({"use": "round", **everything, "base": 0.5},),
        "shuffle-regression": ({"use": "shuffle", "columns": names[:5], "given": names[5:]},),
        "moved-areas": ({"use": "record-swap", "geography": ["job"], "risk": ["c0"]},),
    }
    for attack, methods in steps.items():
        protected = celosia.protect(table, *methods, seed=1)
        before = calibration()
        start = time.process_time()
        found = celosia.parts.build("attack", attack).evidence(table, protected)
        spent = time.process_time() - start
        unit = (before + calibration()) / 2
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{attack} on {n:,} × {columns}: {spent:.1f} s CPU = {spent / unit:.1f} calibration jobs, "
            f"peak {peak:.1f} GB; "
            f"value {found['value']:.4f}, control {found['control']:.4f}, {found['records']:,} attacked",
            flush=True,
        )


if __name__ == "__main__":
    windows("census", 13)
    windows("eia", 10)
    million()
