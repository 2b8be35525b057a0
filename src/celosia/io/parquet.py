"""Parquet files, read lazily."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from celosia.errors import DataError
from celosia.io.facts import FileFacts, Scan
from celosia.io.filetypes import FileType, existing, flat, register

if TYPE_CHECKING:
    import polars as pl


def scan(path: str | Path, *, columns: Sequence[str] | None = None) -> Scan:
    """Open a Parquet file as a lazy scan; ``columns`` keeps some of them."""
    import polars as pl

    file = existing(path)
    try:
        frame = pl.scan_parquet(file)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{file.name} is not a Parquet file, or a damaged one.") from error
    if columns is not None:
        frame = frame.select(list(columns))
    return Scan(flat(frame, file.name), FileFacts("parquet", source=file), str(file))


def write(
    frame: pl.LazyFrame,
    draft: Path,
    facts: FileFacts | None,  # noqa: ARG001
    *,
    compression: Literal["zstd", "snappy", "lz4", "gzip", "uncompressed"] = "zstd",
) -> None:
    """Write a Parquet file as a stream."""
    frame.sink_parquet(draft, compression=compression)


register(FileType("parquet", (".parquet", ".pq"), "Apache Parquet", scan, write))
