"""Strict reading of released files: no program may see more in a file than its verification.

Only what the writers of Celosia write is accepted. A reader for people's files is lenient: it reads the first sheet,
takes declared codes for missing values and ``1.0`` for ``1``. In a released file each of these could hide records.
"""

from __future__ import annotations

import base64
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.data.io.facts import Scan
from celosia.data.io.filetypes import type_of
from celosia.data.io.labels import STAR
from celosia.data.io.sources import scan

if TYPE_CHECKING:
    import polars as pl

STRICT: Mapping[str, Mapping[str, bool | str]] = {
    "csv": {"header": True, "repeated": "refuse"},
    "excel": {"header": True, "repeated": "refuse"},
    "ods": {"header": True, "repeated": "refuse"},
    "spss": {"user_missing": "keep"},
    "stata": {"user_missing": "keep"},
    "sas": {"user_missing": "keep"},
}
"""Options of the readers by type: a first line is a header, also where it looks like a record, and codes are values."""
MEMBERS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/_rels/workbook\.xml\.rels|"
    r"xl/(workbook|styles|sharedStrings|theme/theme1|worksheets/sheet1|tables/table1)\.xml|"
    r"xl/worksheets/_rels/sheet1\.xml\.rels|mimetype|(styles|content|meta|META-INF/manifest)\.xml"
)
SHEET_TAGS = frozenset(
    b"worksheet dimension sheetViews sheetView sheetFormatPr cols col sheetData row c v pageMargins tableParts "
    b"tablePart sst si t".split()
)
ODS_TAGS = frozenset(
    b"office:document-content office:automatic-styles office:body office:spreadsheet table:table table:table-row "
    b"table:table-cell text:p".split()
)
BOOK_TEXT = re.compile(r"[\dTZ:.-]*|true|false|Microsoft Excel|Worksheets|ODFPY/[\d.]+")
"""Texts outside the cells of a workbook, beside the name of its sheet."""
EXCEL_CELL = re.compile(rb'<c r="([A-Z]+)(\d+)"(?: s="(\d+)")?(?: t="([sbn])")?(?:/>|><v>([^<]*)</v></c>)')
EXCEL_ROW = re.compile(rb'<row r="\d+"(?: spans="[\d:]+")?>')
ODS_CELL = re.compile(
    rb'<table:table-cell(?: office:value-type="(\w+)" office:[a-z-]+="([^"]*)")?(?:/>|>'
    rb"(?:<text:p/>|<text:p>([^<]*)</text:p>)?</table:table-cell>)"
)


def scan_released(path: str | Path, *, type: str | None = None) -> Scan:  # noqa: A002
    """Open a released file so that cells which any program distinguishes differ."""
    return scan(path, type=type, **STRICT.get(type_of(path, type).name, {}))


def hidden_content(path: str | Path) -> list[str]:
    """List what a released file holds besides the table that :func:`scan_released` reads, in words."""
    file = Path(path)
    kind = type_of(file).name
    contents = [f"column {name!r} with values in several notations" for name in conflated_columns(file)]
    if kind == "csv" and file.name.lower().endswith(".gz") and file.read_bytes()[:4] != b"\x1f\x8b\x08\x00":
        contents.append("a text in the header of its compression")
    if kind == "parquet":
        contents += _parquet_content(file)
    if kind in ("excel", "ods"):
        contents += _workbook_content(file, kind)
    if kind in ("spss", "stata", "sas"):
        contents += _statistical_content(file)
    return contents


def conflated_columns(path: str | Path, *, type: str | None = None) -> list[str]:  # noqa: A002
    """List the columns of a text file in which several texts, such as ``1`` and ``1.0``, are read as one value."""
    import polars as pl

    kind = type_of(path, type).name
    if kind not in ("csv", "json", "jsonl"):
        return []
    frame = scan_released(path, type=type).frame
    if kind == "csv":
        cells = scan(path, type=type, header=True, text=True).frame.with_columns(
            # rounding gives -0.0, and an empty text is as missing as no text
            pl.all().str.replace(r"^-(0(?:\.0*)?)$", "$1").replace("", None)
        )
        types = frame.collect_schema()
        usual = cells.select((~_is_usual(name, dtype)).any().alias(name) for name, dtype in types.items())
        doubtful = [name for name, other in usual.collect(engine="streaming").row(0, named=True).items() if other]
        if not doubtful:
            return []
        texts = cells.select(pl.col(doubtful).n_unique()).collect(engine="streaming").row(0, named=True)
    else:
        texts = _json_notations(Path(path), kind, frame.collect_schema().names())
    values = frame.select(pl.col(list(texts)).n_unique()).collect(engine="streaming").row(0, named=True)
    return [name for name, count in values.items() if texts[name] > count]


def _is_usual(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return an expression: whether a cell is missing or has the canonical notation of its type."""
    import polars as pl

    cell = pl.col(name)
    if dtype == pl.String:
        usual = cell == cell.str.strip_chars()
    elif dtype.is_numeric():
        usual = cell.cast(dtype, strict=False).cast(pl.String) == cell
    elif dtype == pl.Date:
        usual = cell.str.contains(r"^\d{4}-\d\d-\d\d$")
    elif dtype == pl.Boolean:
        usual = cell.is_in(["true", "false"])
    else:
        usual = pl.lit(value=False)
    return usual.fill_null(value=False) | cell.is_null()


def _json_notations(file: Path, kind: str, names: list[str]) -> dict[str, float]:
    """Count the notations of the values of each column; infinitely many where records have other keys."""
    number = {key: lambda text: ("number", re.sub(r"^-(0(?:\.0*)?)$", r"\1", text)) for key in ("float", "int")}
    decoder = json.JSONDecoder(
        object_pairs_hook=tuple, parse_float=number["float"], parse_int=number["int"], parse_constant=number["int"]
    )
    seen: dict[str, set[object]] = defaultdict(set)
    with file.open(encoding="utf-8-sig", newline="\n") as stream:
        records = decoder.decode(stream.read()) if kind == "json" else map(decoder.decode, filter(str.strip, stream))
        for record in records:
            if [name for name, _ in record] != names:
                return dict.fromkeys(names, float("inf"))
            for name, value in record:
                seen[name].add(value)
    return {name: len(seen[name]) for name in names}


def _parquet_content(file: Path) -> list[str]:
    """List the metadata of a Parquet file that its writer does not need."""
    import polars as pl

    with file.open("rb") as stream:  # a path would be taken for a pattern
        metadata = pl.read_parquet_metadata(stream)
    contents = [f"metadata {name!r}" for name in metadata if name != "ARROW:schema"]
    schema = pl.scan_parquet(file, glob=False).collect_schema()
    plain = " ".join([*schema, *(str(dtype) for dtype in schema.values())]).encode()
    stored = base64.b64decode(metadata.get("ARROW:schema", ""))
    if any(text not in plain for text in re.findall(rb"[ -~]{6,}", stored)):
        contents.append("metadata of its columns")
    return contents


def _workbook_content(file: Path, kind: str) -> list[str]:
    """List the sheets, parts, texts and formats of a workbook that its writer does not write."""
    try:
        with zipfile.ZipFile(file) as archive:
            names, comment = archive.namelist(), archive.comment
            foreign = [f"part {name!r}" for name in names if not MEMBERS.fullmatch(name)]
            if foreign or comment or len(set(names)) < len(names):
                return foreign or ["a comment or a part twice"]
            parts = {name: archive.read(name) for name in names if name != "mimetype"}
    except zipfile.BadZipFile:
        return ["another format than that of its suffix"]
    cells = [name for name in parts if name in ("content.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml")]
    tags = {tag for name in cells for tag in re.findall(rb"<([^\s/>?]+)", parts[name])}
    contents = [f"element {tag.decode()!r}" for tag in sorted(tags - (SHEET_TAGS if kind == "excel" else ODS_TAGS))]
    book = b"".join(text for name, text in parts.items() if name not in cells)
    sheet = scan_released(file).facts.sheet
    texts = {unescape(text.decode()).strip() for text in re.findall(rb">([^<]+)<", book)}
    if b"<!" in book or any(text != sheet and not BOOK_TEXT.fullmatch(text) for text in texts):
        contents.append("a text outside its cells")
    if contents:
        return contents
    return _excel_cells(parts) if kind == "excel" else _ods_cells(parts["content.xml"])


def _excel_cells(parts: Mapping[str, bytes]) -> list[str]:
    """List what the cells of a workbook show besides their values: several formats in a column, unused texts."""
    sheet, strings = parts["xl/worksheets/sheet1.xml"], parts.get("xl/sharedStrings.xml", b"")
    formats: dict[bytes, set[bytes]] = defaultdict(set)
    types: dict[bytes, set[bytes]] = defaultdict(set)
    used, count = set(), 0
    for column, row, style, kind, value in EXCEL_CELL.findall(sheet):
        count += 1
        if kind == b"s":
            used.add(int(value))
        if row != b"1":
            formats[column].add(style)
            types[column] |= {kind} if value else set()
    strict = count == sheet.count(b"<c ") and len(EXCEL_ROW.findall(sheet)) == sheet.count(b"<row")
    plain = strict and all(len(each) < 2 for each in (*formats.values(), *types.values()))
    contents = [] if plain else ["cells with formulas, or with several types or formats in a column"]
    return contents if used == set(range(strings.count(b"<si>"))) else [*contents, "texts that no cell shows"]


def _ods_cells(content: bytes) -> list[str]:
    """List the further sheets of an OpenDocument file, and cells whose text is not that of their value."""
    contents = ["several sheets"] if content.count(b"<table:table ") > 1 else []
    cells = ODS_CELL.findall(content)
    strings = all(value == text for kind, value, text in cells if kind == b"string")
    shown = {(kind, value, text) for kind, value, text in cells}
    single = len({(kind, value) for kind, value, _ in shown}) == len(shown)
    plain = strings and single and len(cells) == content.count(b"<table:table-cell")
    return contents if plain else [*contents, "cells that show other texts than their values"]


def _statistical_content(file: Path) -> list[str]:
    """List the notes of a statistical file, and the labels of codes that no cell holds."""
    import polars as pl

    from celosia.data.io.statistical import notes_of

    opened = scan_released(file)
    contents = ["notes"] if notes_of(file) else []
    values = opened.frame.collect()
    for name, labels in opened.facts.labels.items():
        cells = set(values[name].cast(pl.String).to_list()) if name in values.columns else set()
        codes = opened.facts.missing.get(name, ())
        unused = [
            code
            for code, text in labels.items()
            if not (str(code) in cells or (text == STAR and STAR in cells) or any(c.covers(code) for c in codes))
        ]
        contents += [f"labels of {len(unused)} codes of {name!r} that no cell holds"] * bool(unused)
    return contents
