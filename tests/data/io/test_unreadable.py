"""Files on which a reader gives up, panics or takes the process with it: one sentence, exit code 2, nothing else."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import duckdb
import polars as pl
import pytest

import celosia
from celosia.data import io as cio
from celosia.errors import DataError

TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def relation(kind: str, target: str) -> str:
    place = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{place}"><Relationship Id="r1" Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>'


def workbook(path: Path, cells: str, dimension: str) -> Path:
    sheet = '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", TYPES)
        file.writestr("_rels/.rels", relation("officeDocument", "xl/workbook.xml"))
        file.writestr("xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{sheet}</workbook>')
        file.writestr("xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml"))
        head = f'<worksheet xmlns="{MAIN}">{dimension}<sheetData>'
        file.writestr("xl/worksheets/sheet1.xml", f"{head}{cells}</sheetData></worksheet>")
    return path


def far(path: Path) -> Path:
    """Two cells, the second in the last corner of the sheet."""
    first = '<row r="1"><c r="A1" t="inlineStr"><is><t>age</t></is></c></row><row r="2"><c r="A2"><v>5</v></c></row>'
    last = "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>"
    return workbook(path, first + last, '<dimension ref="A1:A2"/>')


def repeated(path: Path) -> Path:
    """A spreadsheet in which one cell says that it stands for two thousand million."""
    names = "".join(
        f' xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
        for short, long in (("office", "office"), ("table", "table"), ("text", "text"))
    )
    cell = '<table:table-cell table:number-columns-repeated="2000000000" office:value-type="string"><text:p>a</text:p></table:table-cell>'
    body = f'<table:table table:name="S"><table:table-row>{cell}</table:table-row></table:table>'
    content = f"<office:document-content{names}><office:body><office:spreadsheet>{body}</office:spreadsheet></office:body></office:document-content>"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("content.xml", content)
    return path


def dates(path: Path) -> Path:
    days = pl.Series("d", [1, 2, 2**31 - 1], dtype=pl.Int32).cast(pl.Date)
    pl.DataFrame([days, pl.Series("x", [1, 2, 3])]).write_parquet(path)
    return path


def moments(path: Path) -> Path:
    pl.DataFrame({"d": pl.Series([1, -(2**62)], dtype=pl.Int64).cast(pl.Datetime("us"))}).write_parquet(path)
    return path


def durations(path: Path) -> Path:
    pl.DataFrame({"d": [dt.timedelta(1)], "x": [1]}).write_parquet(path)
    return path


def truncated(path: Path) -> Path:
    pl.DataFrame({"a": range(1000)}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-200])
    return path


FILES = {
    "far.xlsx": far,
    "repeated.ods": repeated,
    "dates.parquet": dates,
    "moments.parquet": moments,
    "durations.parquet": durations,
    "truncated.parquet": truncated,
    "noise.xlsx": lambda path: path.write_bytes(os.urandom(5000)),
    "noise.xls": lambda path: path.write_bytes(os.urandom(5000)),
    "noise.sav": lambda path: path.write_bytes(os.urandom(5000)),
    "noise.dta": lambda path: path.write_bytes(os.urandom(5000)),
    "noise.parquet": lambda path: path.write_bytes(os.urandom(5000)),
    "noise.json": lambda path: path.write_bytes(b"[" + os.urandom(5000)),
    "noise.jsonl": lambda path: path.write_bytes(os.urandom(5000)),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.sampled(4)
def test_one_sentence_and_exit_code_two(tmp_path, name):
    FILES[name](tmp_path / name)
    script = Path(sys.executable).with_name("celosia")
    for words in (["init", name], ["assess", name]):
        done = subprocess.run([str(script), *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 2, f"{done.returncode}: {done.stderr}"
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("celosia: ")
        assert name in done.stderr


def test_the_column_and_the_count_are_named(tmp_path):
    with pytest.raises(DataError, match=r"dates.parquet: column 'd' has 1 dates outside the years 1 to 9999"):
        cio.scan(dates(tmp_path / "dates.parquet"))
    with pytest.raises(DataError, match=r"column 'd' holds durations"):
        cio.scan(durations(tmp_path / "durations.parquet"))


def test_dates_of_a_database_too(tmp_path):
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE TABLE days AS SELECT DATE 'infinity' AS d, 1 AS x UNION ALL SELECT DATE '2020-01-01', 2")
        base.execute("CREATE TABLE moments AS SELECT TIMESTAMP '20000-01-01' AS d")
        base.execute("CREATE TABLE spans AS SELECT INTERVAL 1 DAY AS d")
        base.execute("CREATE TABLE fine AS SELECT DATE '0001-01-01' AS d, TIMESTAMP '9999-12-31 23:59:59' AS m")
    for table, message in (
        ("days", "'d' has 1 dates"),
        ("moments", "'d' has 1 dates"),
        ("spans", "'d' holds durations"),
    ):
        with pytest.raises(DataError, match=message):
            celosia.read(f"duckdb:///{path}", query=f"SELECT * FROM {table}")
        with pytest.raises(DataError, match=message):
            cio.scan(f"duckdb:///{path}", table=table)
    assert len(celosia.read(f"duckdb:///{path}", query="SELECT * FROM fine")) == 1


def test_dates_at_the_ends_of_the_calendar_are_read(tmp_path):
    ends = [dt.date(1, 1, 1), dt.date(9999, 12, 31), None]
    frame = pl.DataFrame({"d": ends, "m": [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59), None]})
    frame.write_parquet(tmp_path / "ends.parquet")
    assert cio.scan(tmp_path / "ends.parquet").frame.collect().equals(frame)
    (tmp_path / "zero.csv").write_text("d\n0000-01-01\n2020-01-01\n")
    assert cio.scan(tmp_path / "zero.csv").frame.collect()["d"].to_list() == ["0000-01-01", "2020-01-01"]


def test_a_wide_and_a_long_sheet_are_read(tmp_path):
    cio.write(pl.DataFrame({f"c{i}": [i] for i in range(2000)}), tmp_path / "wide.xlsx")
    assert cio.scan(tmp_path / "wide.xlsx").frame.collect().shape == (1, 2000)
    cio.write(pl.DataFrame({"a": range(30_000)}), tmp_path / "long.ods")
    assert cio.scan(tmp_path / "long.ods").frame.collect()["a"].to_list() == list(range(30_000))


def test_a_panic_anywhere_is_no_traceback(tmp_path):
    """A panic of the engine is no ``Exception``; wherever it comes from, the command ends with one line of its own."""
    code = (
        "import sys, polars as pl\nfrom celosia.cli import main\n"
        "def panics(*_, **__):\n    pl.Series([2**31 - 1], dtype=pl.Int32).cast(pl.Date).cast(pl.String)\n"
        "import celosia.cli.bases.sources as sources\nsources.open_source = panics\nsys.exit(main.run(['assess', 'x.csv']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("celosia: internal error (PanicException)")
    assert json.dumps(done.stdout) == '""'
