"""Parquet files, read lazily."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from celosia.data.io.calendar import check_dates
from celosia.data.io.facts import FileFacts, Scan
from celosia.data.io.filetypes import FileType, existing_file, refuse_nested, register
from celosia.errors import DataError, UnknownName

if TYPE_CHECKING:
    import polars as pl

ROW_GROUP = 1 << 18
"""Rows of a row group; fixed, so that the bytes of a file do not depend on batches."""

CHECKED = 1 << 26
"""Bytes of the largest file that is decoded on opening, so that damage is detected before a run."""


def scan(path: str | Path, *, columns: Sequence[str] | None = None) -> Scan:
    """Open a Parquet file as a lazy scan, of some ``columns`` if given."""
    import polars as pl

    file = existing_file(path)
    try:
        frame = pl.scan_parquet(file, glob=False)
        if columns is not None:
            frame = frame.select(_check_columns(columns, frame.collect_schema().names()))
        for name in frame.collect_schema() if file.stat().st_size <= CHECKED else ():  # by column, to save memory
            frame.select(pl.col(name).null_count()).collect(engine="streaming")
        return check_dates(Scan(refuse_nested(frame, file.name), FileFacts("parquet", source=file), str(file)))
    except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException) as error:
        raise DataError(f"{file.name} is not a Parquet file, or a damaged one.") from error


def _check_columns(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    for column in columns:
        if column not in names:
            raise UnknownName.of("column", column, names)
    return list(columns)


def write(
    frame: pl.LazyFrame,
    draft: Path,
    facts: FileFacts | None,  # noqa: ARG001
    *,
    compression: Literal["zstd", "snappy", "lz4", "gzip", "uncompressed"] = "zstd",
) -> None:
    """Write a Parquet file as a stream."""
    frame.sink_parquet(draft, compression=compression, row_group_size=ROW_GROUP)


register(FileType("parquet", (".parquet", ".pq"), "Apache Parquet", scan, write))
