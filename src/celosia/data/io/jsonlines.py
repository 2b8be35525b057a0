"""JSON lines: one record per line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from celosia.data.io.facts import FileFacts, Scan
from celosia.data.io.filetypes import FileType, existing, flat, register
from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl


def scan(path: str | Path) -> Scan:
    """Open a file of JSON lines as a lazy scan; types are inferred over all lines, mixed ones become text."""
    import polars as pl

    file = existing(path)
    if file.stat().st_size == 0:
        raise DataError(f"{file.name} is empty: there is no record.")
    try:
        frame = pl.scan_ndjson(file, infer_schema_length=None)
        schema = frame.collect_schema()
    except pl.exceptions.PolarsError as error:
        # The parser's message quotes the line, which holds cell values.
        raise DataError(f"{file.name} is not JSON lines: one object per line, on every line.") from error
    void = [name for name, dtype in schema.items() if dtype == pl.Null]
    return Scan(
        flat(frame.with_columns(pl.col(void).cast(pl.String)) if void else frame, file.name),
        FileFacts("jsonl", source=file),
        str(file),
    )


def write(frame: pl.LazyFrame, draft: Path, facts: FileFacts | None) -> None:  # noqa: ARG001
    """Write one JSON object per record; dates are written as ISO 8601 text."""
    frame.sink_ndjson(draft)


register(FileType("jsonl", (".jsonl", ".ndjson"), "JSON lines", scan, write))
