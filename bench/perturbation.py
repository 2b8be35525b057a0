"""Perturbation: CPU time against sdcMicro's, growth with the number of records, and what quality and scale modes gain.

    python bench/perturbation.py             about a minute
    python bench/perturbation.py --large     also ten million records in scale mode

sdcMicro 5.8.1 needed, in CPU seconds on a machine where the calibration job below takes 1.15 s: mdav 61.1 (100 000
records, 3 columns, k = 3), rankSwap 57.8 (1 000 000 records, 3 columns), pram 24.7 (1 000 000 records, 2 columns).
Ratios are corrected by the calibration job, run here before and after.
"""

from __future__ import annotations

import math
import resource
import sys
import time

import numpy as np
import polars as pl
from _calibration import calibration

import celosia
from celosia.kernels.neighbours.blocks import in_blocks
from celosia.kernels.neighbours.mdav import mdav
from celosia.kernels.neighbours.regroup import error, improve
from celosia.methods.swapping.pram import Pram
from celosia.methods.swapping.rank_swap import RankSwap

REFERENCE = 1.15
THEIRS = {"mdav": 61.1, "rank swap, per column": 57.8 / 3, "pram, per column": 24.7 / 2}


def timed(work, repeat=1):
    """Result and least CPU seconds."""
    best = math.inf
    for _ in range(repeat):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return result, best


def log_normal(n, d, seed=0):
    x = np.exp(np.random.default_rng(seed).normal(size=(n, d)))
    x -= x.mean(axis=0)
    x /= x.std(axis=0)
    return x


def exponent(times):
    (n, a), *_, (m, b) = times.items()
    return math.log(b / a) / math.log(m / n)


def main() -> None:
    rng = np.random.default_rng(0)
    warm = log_normal(12_000, 5)
    improve(warm[:200], mdav(warm[:200], 3), 3, 1, rng)
    in_blocks(warm, 3)
    small = celosia.read(pl.DataFrame({"x": warm[:100, 0], "c": np.arange(100) % 5}))
    celosia.protect(small, RankSwap(columns=["x"]), Pram(columns=["c"]), seed=1)
    before = calibration()
    ours = {}

    times, losses = {}, {}
    for n in (50_000, 100_000, 200_000):
        x = log_normal(n, 5)
        group, times[n] = timed(lambda x=x: mdav(x, 3), 2)
        losses[n] = error(x, group) / x.size
        print(f"MDAV exact, {n:>7} × 5, k = 3: {times[n]:6.2f} CPU s, loss {100 * losses[n]:.3f} %")
    ours["mdav"] = times[100_000]
    print(f"  exponent 50 000 → 200 000: {exponent(times):.2f}")

    whole = log_normal(100_000, 5)
    start, _ = timed(lambda: mdav(whole, 3))
    for rounds in (30, 100):
        found, spent = timed(lambda r=rounds: improve(whole, start, 3, r, np.random.default_rng(1)))
        share = error(whole, found) / error(whole, start)
        print(f"quality mode, 100 000 × 5, {rounds:>3} rounds: {spent:6.2f} CPU s, {share:.3f} of MDAV's loss")

    blocks = {}
    for n in (100_000, 1_000_000, *([10_000_000] if "--large" in sys.argv else [])):
        x = log_normal(n, 5)
        group, blocks[n] = timed(lambda x=x: in_blocks(x, 3))
        against = f", {error(x, group) / x.size / losses[n]:.3f} of MDAV's loss" if n in losses else ""
        print(f"scale mode, {n:>8} × 5: {blocks[n]:6.2f} CPU s{against}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"  exponent: {exponent(blocks):.2f}; peak memory {peak:.1f} GB")

    n = 1_000_000
    numbers = pl.DataFrame({name: np.exp(rng.normal(size=n)) for name in "xyz"})
    labels = pl.DataFrame({name: rng.choice(list("abcdefgh"), n) for name in "cd"})
    swap, pram = RankSwap(columns=["x", "y", "z"], window=0.05), Pram(columns=["c", "d"])
    _, spent = timed(lambda: celosia.protect(celosia.read(numbers), swap, seed=1).polars(), 4)
    ours["rank swap, per column"] = spent / 3
    _, spent = timed(lambda: celosia.protect(celosia.read(labels), pram, seed=1).polars(), 4)
    ours["pram, per column"] = spent / 2

    now = (before + calibration()) / 2
    print(f"calibration job: {now:.2f} s here, {REFERENCE} s there")
    for name, theirs in THEIRS.items():
        here = theirs * now / REFERENCE
        print(f"{name}: {ours[name]:.3f} CPU s; sdcMicro would need {here:.1f}; {here / ours[name]:.0f} times less")


if __name__ == "__main__":
    main()
