"""Parquet, spreadsheets and JSON lines: a file written is read back equal."""

from __future__ import annotations

import base64
import datetime as dt
import zipfile

import duckdb
import polars as pl
import pytest

from celosia.data import io as cio
from celosia.errors import DataError

FRAME = pl.DataFrame(
    {
        "id": [1, 2, None],
        "x": [1.5, None, 1 / 3],
        "name": ["=1+1", "https://example.org", "08001"],
        "born": [dt.date(2020, 1, 2), None, dt.date(1950, 3, 4)],
        "seen": [dt.datetime(2020, 1, 2, 3, 4, 5), None, dt.datetime(1950, 3, 4, 1, 1, 1)],
        "yes": [True, False, None],
        "none": pl.Series([None, None, None], dtype=pl.String),
    }
)


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx", ".ods", ".csv"])
def test_round_trip(tmp_path, suffix):
    path = tmp_path / f"f{suffix}"
    cio.write(FRAME, path)
    opened = cio.scan(path)
    back = opened.frame.collect()
    assert back.schema == FRAME.schema
    assert back.drop("x").equals(FRAME.drop("x"))
    assert back["x"].to_list() == pytest.approx(FRAME["x"].to_list(), abs=1e-15)


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_json(tmp_path, suffix):
    path = tmp_path / f"f.{suffix}"
    cio.write(FRAME, path)
    back = cio.scan(path).frame.collect()
    # JSON has no dates: they come back as ISO text.
    assert back["born"].to_list() == ["2020-01-02", None, "1950-03-04"]
    assert back.drop("born", "seen").equals(FRAME.drop("born", "seen"))


@pytest.mark.parametrize("name", ["f.parquet", "f.xlsx", "f.ods", "f.json", "f.jsonl", "f.sav", "f.dta", "f.sas7bdat"])
def test_damaged_files(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b'{"a": "secret" \x00\x01 garbage')
    with pytest.raises(DataError) as caught:
        cio.scan(path).frame.collect()
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nested_values_are_refused(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_text('{"a": 1, "b": [1, 2]}\n')
    with pytest.raises(DataError, match="column b hold nested values"):
        cio.scan(path)


def test_mixed_json_becomes_text(tmp_path):
    path = tmp_path / "f.jsonl"
    for mixed, texts in (('"x"', ["1", "x"]), ("true", ["1", "true"])):  # Polars infers a whole number of 1 and true
        path.write_text(f'{{"a": 1, "b": 2}}\n{{"a": {mixed}, "b": 3}}\n')
        assert cio.scan(path).frame.collect().to_dict(as_series=False) == {"a": texts, "b": [2, 3]}


@pytest.mark.parametrize(
    ("content", "message"),
    [("[]", "is empty"), ("[1, 2]", "not a JSON array of records"), ('{"a": 1}', "not a JSON array of records")],
)
def test_json_that_is_not_an_array_of_records_is_refused(tmp_path, content, message):
    path = tmp_path / "f.json"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        cio.scan(path)


def test_sheets_by_name(tmp_path):
    path = tmp_path / "f.xlsx"
    cio.write(FRAME, path, sheet="People")
    assert cio.scan(path, sheet="People").facts.sheet == "People"
    with pytest.raises(DataError, match=r"no sheet named 'Pets'. There are: People"):
        cio.scan(path, sheet="Pets")


def test_sheet_without_records(tmp_path):
    path = tmp_path / "f.xlsx"
    cio.write(FRAME.clear(), path)
    with pytest.raises(DataError, match="no records"):
        cio.scan(path)


def test_sheet_with_equal_names(tmp_path):
    import xlsxwriter

    path = tmp_path / "f.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "a"])
        sheet.write_row(1, 0, [1, 2])
    opened = cio.scan(path)
    assert opened.frame.collect().row(0, named=True) == {"a": 1, "a_2": 2}
    assert opened.facts.notes == ("column 2 is the second 'a': renamed a_2",)
    with pytest.raises(DataError, match=r"repeated: 'a' \(2 times\)"):
        cio.scan(path, repeated="refuse")


def test_long_numbers_survive_a_sheet(tmp_path):
    path = tmp_path / "f.xlsx"
    cio.write(pl.DataFrame({"account": [2**60 + 1]}), path)
    assert cio.scan(path).frame.collect()["account"].to_list() == [str(2**60 + 1)]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json", ".jsonl", ".xlsx", ".ods", ".sav", ".dta", ".duckdb"])
@pytest.mark.parametrize("dtype", [pl.Enum(["a", "b", "CANARY"]), pl.Categorical, pl.String], ids=str)
def test_a_value_that_was_removed_is_not_in_the_file(tmp_path, suffix, dtype):
    """A type that lists its values would publish those that no record has."""
    frame = pl.DataFrame({"x": pl.Series(["a", "b", "CANARY"], dtype=dtype), "y": [1, 2, 3]})
    left = frame.lazy().filter(pl.col("y") < 3)
    path = tmp_path / f"f{suffix}"
    if suffix == ".duckdb":
        duckdb.connect(str(path)).close()
        cio.write(left, f"duckdb:///{path}", table="t")
    else:
        cio.write(left, path, **({"compression": "uncompressed"} if suffix == ".parquet" else {}))
    content = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            content = b"".join(packed.read(name) for name in packed.namelist())
    assert b"CANARY" not in content
    assert base64.b64encode(b"CANARY") not in content
    if suffix == ".parquet":
        assert pl.read_parquet_schema(path)["x"] == pl.String
