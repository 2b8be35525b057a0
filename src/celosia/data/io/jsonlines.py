"""JSON: one record per line, or an array of records."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.data.io.facts import FileFacts, Scan
from celosia.data.io.filetypes import FileType, existing_file, refuse_nested, register
from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl


def scan(path: str | Path) -> Scan:
    """Open a file of JSON lines as a lazy scan; types are inferred over all lines, mixed ones become text."""
    import polars as pl

    file = _not_empty(path)
    try:
        # This reader always expands patterns, so that a file with their characters in its name is passed as bytes.
        source = file.read_bytes() if glob.has_magic(str(file)) else file.absolute()
        frame = pl.scan_ndjson(source, infer_schema_length=None)
        schema = frame.collect_schema()
        if mixed := _mixed_columns(frame, schema):
            frame = pl.scan_ndjson(source, infer_schema_length=None, schema_overrides=dict.fromkeys(mixed, pl.String))
            schema = frame.collect_schema()
    except pl.exceptions.PolarsError as error:
        # The parser's message quotes the line, which holds cell values.
        raise DataError(f"{file.name} is not JSON lines: one object per line, on every line.") from error
    return _build_scan(frame, schema, "jsonl", file)


def scan_array(path: str | Path) -> Scan:
    """Read a JSON array of objects; types are inferred over all of them, mixed ones become text."""
    import polars as pl

    file = _not_empty(path)
    try:
        content = file.read_bytes()
        if content.lstrip()[:1] != b"[":
            raise DataError(f"{file.name} is not a JSON array of records. One object per line is type='jsonl'.")
        frame = pl.read_json(content, infer_schema_length=None).lazy()
    except pl.exceptions.PolarsError as error:
        # The parser's message quotes the text, which holds cell values.
        raise DataError(f"{file.name} is not a JSON array of records: [{{…}}, {{…}}].") from error
    schema = frame.collect_schema()
    if not schema:
        raise DataError(f"{file.name} is empty: there is no record.")
    return _build_scan(frame, schema, "json", file)


def _mixed_columns(frame: pl.LazyFrame, schema: pl.Schema) -> list[str]:
    """Return the columns whose type was inferred as a number although some lines hold truth values."""
    import polars as pl

    def is_mixed(names: list[str]) -> bool:
        try:
            frame.select(pl.col(names).count()).collect()
        except pl.exceptions.ComputeError:
            return True
        return False

    numeric = [name for name, dtype in schema.items() if dtype.is_numeric()]
    return [name for name in numeric if is_mixed([name])] if numeric and is_mixed(numeric) else []


def _not_empty(path: str | Path) -> Path:
    file = existing_file(path)
    if file.stat().st_size == 0:
        raise DataError(f"{file.name} is empty: there is no record.")
    return file


def _build_scan(frame: pl.LazyFrame, schema: pl.Schema, type: str, file: Path) -> Scan:  # noqa: A002
    """Build the scan of a frame; columns without any value are text."""
    import polars as pl

    void = [name for name, dtype in schema.items() if dtype == pl.Null]
    frame = frame.with_columns(pl.col(void).cast(pl.String)) if void else frame
    return Scan(refuse_nested(frame, file.name), FileFacts(type, source=file), str(file))


def write(frame: pl.LazyFrame, draft: Path, facts: FileFacts | None) -> None:  # noqa: ARG001
    """Write one JSON object per record; dates are written as ISO 8601 text."""
    frame.sink_ndjson(draft)


def write_array(frame: pl.LazyFrame, draft: Path, facts: FileFacts | None) -> None:  # noqa: ARG001
    """Write one JSON array with an object per record; dates are written as ISO 8601 text."""
    frame.collect().write_json(draft)


register(FileType("json", (".json",), "JSON array of records", scan_array, write_array))
register(FileType("jsonl", (".jsonl", ".ndjson"), "JSON lines", scan, write))
