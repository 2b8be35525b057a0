"""Released files are read strictly: content that other programs show in addition to the table is reported."""

from __future__ import annotations

import datetime as dt
import gzip
import json

import polars as pl
import pytest

from celosia.data.io import write
from celosia.data.io.formulas import without_formulas
from celosia.data.io.released import hidden_content, scan_released
from celosia.data.io.statistical import scan

NAMES = "; ".join(f"Maria Garcia {i}" for i in range(60))
TYPES = ("csv", "csv.gz", "tsv", "parquet", "jsonl", "json", "xlsx", "ods", "sav", "zsav", "dta")


@pytest.fixture
def frame():
    return pl.DataFrame(
        {
            "text": ["x", "*", None, "=1", "x y"],
            "whole": [1, 2, None, 4, -5],
            "number": [1.5, None, -0.0, 0.0, 1e-7],
            "day": [dt.date(2020, 1, 1), None, dt.date(2021, 1, 1), dt.date(2022, 2, 2), None],
            "truth": [True, False, None, True, True],
            "time": [dt.datetime(2020, 1, 1, 3, 4, 5), None, *[dt.datetime(2021, 1, 1, 0, 0, s) for s in (1, 2, 3)]],
        }
    )


@pytest.mark.parametrize("suffix", TYPES)
def test_files_that_are_written_hide_nothing(tmp_path, frame, suffix):
    write(frame, tmp_path / f"a.{suffix}")
    assert hidden_content(tmp_path / f"a.{suffix}") == []


@pytest.mark.parametrize(
    "texts", [["1", "1.0"], ["NA", "1", ""], ["true ", "true"], ["2020-01-01T00:00:00", "2020-01-01 00:00:00"]]
)
def test_several_notations_of_a_value_are_named(tmp_path, texts):
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"x,{text}\n" for text in texts))
    assert hidden_content(tmp_path / "a.csv") == ["column 'b' with values in several notations"]


@pytest.mark.parametrize(
    "lines", ['{"a": 1}\n{"a": 1.0}\n', '{"a": 1, "a": 2}\n', '{"a": 1}\n{}\n', '{"a": "1"}\n{"a": 1}\n']
)
def test_json_with_several_notations_or_keys_is_named(tmp_path, lines):
    (tmp_path / "a.jsonl").write_text(lines)
    assert hidden_content(tmp_path / "a.jsonl")


def test_texts_beside_a_table_are_named(tmp_path, frame):
    frame.write_parquet(tmp_path / "a.parquet", metadata={"raw": NAMES})
    assert hidden_content(tmp_path / "a.parquet") == ["metadata 'raw'"]
    with (tmp_path / "a.csv.gz").open("wb") as stream, gzip.GzipFile("Maria Garcia", "wb", fileobj=stream) as packed:
        packed.write(b"a,b\nx,y\n")
    assert hidden_content(tmp_path / "a.csv.gz") == ["a text in the header of its compression"]


def test_metadata_of_columns_is_named(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table([[1, 2]], schema=arrow.schema([arrow.field("a", arrow.int64(), metadata={"raw": NAMES})]))
    parquet.write_table(table, tmp_path / "a.parquet")
    assert "metadata of its columns" in hidden_content(tmp_path / "a.parquet")


@pytest.mark.parametrize("how", ["sheet", "comment", "formula", "format", "title", "unused"])
def test_a_workbook_holds_one_plain_sheet(tmp_path, how):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        for i, cell in enumerate(["a", "x", "y", "x"]):
            sheet.write_string(i, 0, cell)
        if how == "sheet":
            book.add_worksheet().write(0, 0, NAMES)
        if how == "comment":
            sheet.write_comment(1, 0, NAMES)
        if how == "formula":
            sheet.write_formula(1, 0, f'=IF(TRUE,"x","{NAMES[:99]}")', None, "x")
        if how == "format":
            sheet.write_string(3, 0, "x", book.add_format({"bold": True}))
        if how == "title":
            book.set_properties({"title": NAMES})
        if how == "unused":
            sheet.str_table._get_shared_string_index(NAMES)
    assert hidden_content(tmp_path / "a.xlsx")


def test_an_opendocument_cell_shows_its_value(tmp_path):
    odf = pytest.importorskip("odf.opendocument")
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    def save(name, shown, sheets=1):
        document = odf.OpenDocumentSpreadsheet()
        for number in range(sheets):
            table = Table(name=f"s{number}")
            for value, text in (("a", "a"), ("x", "x"), ("x", shown)):
                row, cell = TableRow(), TableCell(valuetype="string", stringvalue=value)
                cell.addElement(P(text=text))
                row.addElement(cell)
                table.addElement(row)
            document.spreadsheet.addElement(table)
        document.save(str(tmp_path / name))
        return hidden_content(tmp_path / name)

    assert save("plain.ods", "x") == []
    assert save("shown.ods", "Maria") == ["cells that show other texts than their values"]
    assert "several sheets" in save("sheets.ods", "x", 2)


def test_declared_codes_and_stars_of_a_statistical_file_stay_values(tmp_path):
    spss = pytest.importorskip("pyreadstat")
    ages = pl.DataFrame({"age": [20.0, 21.0, 22.0]})
    spss.write_sav(ages, tmp_path / "missing.sav", missing_ranges={"age": [{"lo": 0, "hi": 200}]})
    spss.write_sav(ages, tmp_path / "stars.sav", variable_value_labels={"age": dict.fromkeys((20.0, 21.0), "*")})
    spss.write_sav(ages, tmp_path / "star.sav", variable_value_labels={"age": {20.0: "*"}})
    for name, cells in (("missing", [20, 21, 22]), ("stars", [20, 21, 22]), ("star", ["*", "21", "22"])):
        assert scan_released(tmp_path / f"{name}.sav").frame.collect()["age"].to_list() == cells
    assert scan(tmp_path / "missing.sav").frame.collect()["age"].null_count() == 3


def test_notes_and_labels_of_a_statistical_file_are_named(tmp_path):
    spss = pytest.importorskip("pyreadstat")
    ages = pl.DataFrame({"age": [20.0, 21.0]})
    labels = {"age": {20.0: "x", 99.0: NAMES[:99]}}
    spss.write_sav(ages, tmp_path / "a.sav", note="Maria Garcia", variable_value_labels=labels)
    assert hidden_content(tmp_path / "a.sav") == ["notes", "labels of 1 codes of 'age' that no cell holds"]


def test_quoted_formulas_stay_different_from_quoted_texts():
    texts = ["=x", "'=x", "''=x", "'x", "-5"]
    quoted = without_formulas(pl.LazyFrame({"a": texts}), "quote").collect()["a"].to_list()
    assert quoted == [*("'" + text for text in texts[:3]), "'x", "-5"]


def test_json_text_with_the_digits_of_a_number_is_a_text(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([{"a": "1"}, {"a": "1.0"}]))
    assert hidden_content(tmp_path / "a.json") == []
