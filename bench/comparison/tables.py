"""The tables that are compared on: people with eight quasi-identifiers, and numbers that depend on each other."""

from __future__ import annotations

from pathlib import Path

from bench.scale import SIZES, grow

WARM = {"people": 600, "numbers": 12_000}
"""Rows of the table that a job runs on before it is counted: so many that all of its kernels are used."""
NUMBERS = ("v", "w", "x", "y", "z")

__all__ = ["NUMBERS", "SIZES", "WARM", "table"]


def table(kind: str, rows: int, place: Path) -> Path:
    """The file of a table, made when it is not there: Parquet, or CSV for those who read nothing else."""
    path = place / f"{kind}-{rows}.parquet"
    if not path.exists():
        place.mkdir(parents=True, exist_ok=True)
        grow(path, rows) if kind == "people" else draw_numbers(path, rows)
    return path


def draw_numbers(path: Path, rows: int) -> None:
    """Log-normal columns with a common part: skewed like incomes."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(42)
    common = rng.normal(size=rows)
    pl.DataFrame({name: np.exp(0.6 * common + 0.8 * rng.normal(size=rows)) for name in NUMBERS}).write_parquet(path)
