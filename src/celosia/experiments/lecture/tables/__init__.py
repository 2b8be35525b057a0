"""The tables that the lecture prints, as it prints them."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def printed_tables() -> dict[str, pl.DataFrame]:
    """Every printed table by name; cells are texts."""
    import polars as pl

    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith(".tsv")]
    return {
        file.name.removesuffix(".tsv"): pl.read_csv(file.read_bytes(), separator="\t", infer_schema_length=0)
        for file in sorted(files, key=lambda file: file.name)
    }
