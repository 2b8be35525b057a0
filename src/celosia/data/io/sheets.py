"""Spreadsheets: Excel and OpenDocument."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from celosia.data.io.facts import MOST_PACKED, UNPACKED, FileFacts, Scan, distinct_names
from celosia.data.io.filetypes import FileType, existing_file, register
from celosia.data.io.formulas import Formulas, without_formulas
from celosia.data.io.options import SheetName, is_sheet
from celosia.data.io.text.sniff import header_doubts, missing_header
from celosia.data.subprocesses import limit_memory, own_output, start
from celosia.errors import DataError, MissingExtra, OutputError

if TYPE_CHECKING:
    import polars as pl

#: Rows of an Excel or OpenDocument sheet.
SHEET_ROWS = 1_048_576
#: First rows that decide whether the very first holds names.
DOUBTED_ROWS = 1000


def scan(
    path: str | Path,
    *,
    sheet: str | None = None,
    header: bool | None = None,
    repeated: Literal["rename", "refuse"] = "rename",
) -> Scan:
    """Read a sheet of a spreadsheet, by default the first.

    ``header=False`` reads a sheet without column names; if it is not given, a first row that looks like a record is
    refused. A name that is ``repeated`` in the header gets a number (``a_2``), or is refused.
    """
    import polars as pl

    file = existing_file(path)
    if importlib.util.find_spec("fastexcel") is None:
        raise MissingExtra.of("reading spreadsheets", "stats")
    _refuse_inflated(file)
    # The reader allocates every cell up to the last one. A file whose last cell is far away could end this process, so
    # another process reads it.
    answer, _ = start("celosia.data.io.sheets:send_sheet", str(file), json.dumps([sheet, header])).communicate()
    head, _, rows = answer.partition(b"\n")
    if not rows:
        reason = (
            json.loads(head)["refused"] if head else "it is damaged, or its cells are too far apart for the memory."
        )
        raise DataError(f"{file.name}: {reason}")
    facts = json.loads(head)
    name, frame = facts["sheet"], pl.read_ipc(rows)
    if frame.width == 0 or not facts["titles"]:
        raise DataError(f"{file.name}: sheet {name!r} is empty.")
    if frame.height == 0:
        raise DataError(f"{file.name}: sheet {name!r} has a header of {frame.width} columns but no records.")
    titles = [title for title in facts["titles"] if title is not None]
    twice = [f"{title!r} ({count} times)" for title, count in Counter(titles).items() if count > 1]
    if twice and repeated == "refuse":
        raise DataError(f"{file.name}: column names must differ; repeated: {', '.join(twice)}. Rename them.")
    notes: tuple[str, ...] = ()
    if twice and len(facts["titles"]) == frame.width:
        own = [title or usual for title, usual in zip(facts["titles"], frame.columns, strict=True)]
        names, notes = distinct_names(own)
        frame.columns = list(names)
    kind = "ods" if file.suffix.lower() == ".ods" else "excel"
    file_facts = FileFacts(kind, source=file, sheet=name, notes=notes)
    return Scan(_tidy(frame).lazy(), file_facts, f"{file} ({name})" if sheet else str(file))


def _refuse_inflated(file: Path) -> None:
    """Raise for an archive that unpacks to far more than a workbook of its size does."""
    try:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError):
        return  # an old binary workbook, or a damaged one: its reader decides
    packed = max(file.stat().st_size, 1)
    if unpacked > UNPACKED and unpacked > MOST_PACKED * packed:
        raise DataError(
            f"{file.name}: it unpacks from {packed:,} to {unpacked:,} bytes, over {MOST_PACKED} times its size, as "
            "no usual workbook does. Save it again with a spreadsheet program, or as CSV."
        )


def send_sheet(path: str, wanted: str) -> None:
    """Write the name, the titles and the records of a sheet, or the reason of an error, to the calling process."""
    limit_memory()
    facts: Mapping[str, object]
    with os.fdopen(own_output(), "wb") as answer:
        try:
            facts, rows = _read(path, *json.loads(wanted))
        except DataError as error:
            facts, rows = {"refused": str(error)}, b""
        answer.write(json.dumps(facts).encode() + b"\n" + rows)


def _read(path: str, sheet: str | None, header: bool | None) -> tuple[Mapping[str, object], bytes]:
    import fastexcel

    try:
        workbook = fastexcel.read_excel(path)
    except Exception as error:  # the reader's errors have no common class
        raise DataError("it is not a spreadsheet, or a damaged one.") from error
    names = list(workbook.sheet_names)
    if sheet is not None and sheet not in names:
        raise DataError(f"no sheet named {sheet!r}. There are: {', '.join(names)}.")
    if not names:
        raise DataError("there is no sheet.")
    name = sheet or names[0]
    try:
        first = workbook.load_sheet(name, header_row=None, n_rows=DOUBTED_ROWS, dtypes="string").to_polars()
        header_row = None if header is False else 0
        frame = workbook.load_sheet(name, header_row=header_row, schema_sample_rows=None).to_polars()
    except Exception as error:
        raise DataError(f"sheet {name!r} cannot be read ({type(error).__name__}).") from error
    titles = list(first.row(0)) if first.height else []
    if header is False:
        titles = [f"column_{i + 1}" for i in range(frame.width)]
        frame = frame.rename(dict(zip(frame.columns, titles, strict=True)))
    elif header is None and (doubts := header_doubts([[cell or "" for cell in row] for row in first.iter_rows()])):
        raise DataError(missing_header(f"sheet {name!r}", doubts, len(titles)))
    rows = io.BytesIO()
    frame.write_ipc(rows)
    return {"sheet": name, "titles": titles}, rows.getvalue()


def write_excel(
    frame: pl.LazyFrame,
    draft: Path,
    facts: FileFacts | None,
    *,
    sheet: SheetName | None = None,
    formulas: Formulas = "keep",
) -> None:
    """Write an Excel workbook of one sheet; text that looks like a formula stays text."""
    if draft.suffix.lower() != ".xlsx":
        raise OutputError(f"Excel files ending in {draft.suffix} are only read: name the output .xlsx.")
    try:
        import xlsxwriter
    except ImportError as error:
        raise MissingExtra.of("writing Excel files", "stats") from error
    table = _collect_sheet(without_formulas(frame, formulas))
    # By default the library converts a text such as "=1+1" to a formula, and links likewise.
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with draft.open("wb") as stream, xlsxwriter.Workbook(stream, options) as workbook:
        table.write_excel(workbook, worksheet=_sheet(facts, sheet), float_precision=15, dtype_formats=None)


def write_ods(
    frame: pl.LazyFrame,
    draft: Path,
    facts: FileFacts | None,
    *,
    sheet: SheetName | None = None,
    formulas: Formulas = "keep",
) -> None:
    """Write an OpenDocument spreadsheet of one sheet."""
    try:
        import odf  # noqa: F401
        import pandas as pd
    except ImportError as error:
        raise MissingExtra.of("writing OpenDocument files", "stats") from error
    table = _collect_sheet(without_formulas(frame, formulas))
    rows = pd.DataFrame({name: pd.Series(table[name].to_list(), dtype=object) for name in table.columns})
    with draft.open("wb") as stream, pd.ExcelWriter(stream, engine="odf") as book:
        rows.to_excel(book, sheet_name=_sheet(facts, sheet), index=False)


def _tidy(frame: pl.DataFrame) -> pl.DataFrame:
    """Convert whole numbers to integers and times at midnight to dates, as a sheet has one type for both."""
    import polars as pl

    changes = []
    for name, dtype in frame.schema.items():
        column = frame[name]
        if dtype.is_float() and bool(((column == column.round()) & (column.abs() < 2**53)).all()):
            changes.append(pl.col(name).cast(pl.Int64))
        elif isinstance(dtype, pl.Datetime) and _midnight(column):
            changes.append(pl.col(name).cast(pl.Date))
        elif dtype == pl.String:
            changes.append(pl.col(name).replace("", None))
        elif dtype == pl.Null:
            changes.append(pl.col(name).cast(pl.String))
        elif isinstance(dtype, pl.Datetime):
            changes.append(pl.col(name).cast(pl.Datetime("us")))
    return frame.with_columns(changes)


def _midnight(column: pl.Series) -> bool:
    """Return whether all times of a column are at midnight."""
    return bool((column.dt.truncate("1d") == column).all())


def _collect_sheet(frame: pl.LazyFrame) -> pl.DataFrame:
    """Collect the records of a sheet; raise if they are too many for one."""
    import polars as pl

    table = frame.collect(engine="streaming")
    if table.height >= SHEET_ROWS:
        raise OutputError(f"a sheet holds {SHEET_ROWS - 1} records and there are {table.height}. Write CSV or Parquet.")
    # A sheet keeps numbers as doubles: longer whole numbers (account numbers) would lose digits.
    limit = 2**53
    long = [
        name
        for name, dtype in table.schema.items()
        if dtype.is_integer() and bool((table[name].is_between(-limit, limit)).not_().any())
    ]
    return table.with_columns(pl.col(long).cast(pl.String)) if long else table


def _sheet(facts: FileFacts | None, sheet: str | None) -> str:
    """Return the name of the sheet to write: that of the original, if it is valid."""
    original = facts.sheet if facts is not None else None
    return sheet or (original if original is not None and is_sheet(original) else "Sheet1")


register(FileType("excel", (".xlsx", ".xlsm", ".xls", ".xlsb"), "Excel workbook", scan, write_excel))
register(FileType("ods", (".ods",), "OpenDocument spreadsheet", scan, write_ods))
