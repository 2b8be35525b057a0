"""What a file holds must not run in a spreadsheet, exhaust the reader or end in an internal error."""

from __future__ import annotations

import zipfile

import polars as pl
import pytest

import celosia
from celosia.cli.main import run
from celosia.data import io as cio
from celosia.errors import DataError, OutputError

CELLS = ["=1+1", "@SUM(1)", "-1+cmd|' /C calc'!A0", "-", "--", "-5", "plain"]


def test_csv_quotes_formulas(tmp_path):
    frame = pl.DataFrame({"a": CELLS})
    cio.write(frame, tmp_path / "out.csv", formulas="quote")
    written = pl.read_csv(tmp_path / "out.csv", infer_schema=False)["a"].to_list()
    assert written == ["'=1+1", "'@SUM(1)", "'-1+cmd|' /C calc'!A0", "-", "--", "-5", "plain"]
    cio.write(frame, tmp_path / "kept.csv", formulas="keep")
    assert pl.read_csv(tmp_path / "kept.csv", infer_schema=False)["a"].to_list() == CELLS
    with pytest.raises(OutputError, match="begins like a formula"):
        cio.write(pl.DataFrame({"=cmd|x": [1]}), tmp_path / "named.csv", formulas="quote")


def test_excel_stores_formulas_as_text(tmp_path):
    cio.write(pl.DataFrame({"a": CELLS}), tmp_path / "out.xlsx")
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_protect_writes_no_formula(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": [1, 2, 3, 4] * 5, "note": ["=1+1", "x", "y", "z"] * 5}).write_csv("in.csv")
    words = ["--columns", "age", "--quasi", "age", "--keep-columns", "note", "--out", "out.csv"]
    assert run(["protect", "round", "in.csv", "--base", "2", *words]) == 0
    assert "'=1+1" in (tmp_path / "out.csv").read_text()
    capsys.readouterr()


def test_an_inflated_workbook_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "bomb.xlsx"
    packed = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    with packed as archive, archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
        for _ in range(300):
            sheet.write(bytes(1 << 20))
    with pytest.raises(DataError, match="over 50 times its size"):
        celosia.read(path)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_column_of_bytes_is_refused(tmp_path, engine):
    frame = pl.DataFrame({"a": [b"\xff\xfe", b"x"], "b": [1, 2]})
    frame.write_parquet(tmp_path / "b.parquet")
    for source in (frame, tmp_path / "b.parquet"):
        with pytest.raises(DataError, match="column 'a' holds bytes"):
            celosia.read(source, engine=engine)
    assert run(["assess", str(tmp_path / "b.parquet")]) == 2
