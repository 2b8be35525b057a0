"""CSV and TSV: what is sniffed, which types hold, what is refused and how it is said."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import celosia
from celosia.data import io as cio
from celosia.data.io.text.structure import structure_of
from celosia.errors import DataError, ParameterError, UnknownName


@pytest.fixture
def put(tmp_path):
    def write(data: bytes | str, name: str = "people.csv"):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


def read(path, **options) -> pl.DataFrame:
    return cio.scan(path, **options).frame.collect()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_is_sniffed_and_overridden(put, separator):
    path = put(f"a{separator}b\n1{separator}x\n2{separator}y\n")
    assert read(path).rows() == [(1, "x"), (2, "y")]
    assert cio.scan(path).facts.separator == separator
    assert read(path, separator="#").columns == [f"a{separator}b"]


def test_separator_in_quotes_does_not_count(put):
    assert read(put('a;b\n"1,2,3";4\n"5,6,7";8\n')).columns == ["a", "b"]


def test_tsv_by_suffix(put):
    assert read(put("a,b\tc\n1,5\t2\n", "x.tsv")).columns == ["a,b", "c"]


def test_decimal_comma(put):
    path = put("x;n\n1,5;1\n-2;2\n")
    assert read(path).rows() == [(1.5, 1), (-2.0, 2)]
    assert cio.scan(path).facts.decimal == ","
    assert read(path, decimal=".")["x"].to_list() == ["1,5", "-2"]


def test_a_column_may_have_a_decimal_mark_of_its_own(put):
    path = put("x;y\n1,5;2.5\n")
    assert read(path).rows() == [(1.5, 2.5)]
    facts = cio.scan(path).facts
    assert (facts.decimal, facts.grouping) == (".", {"x": (".", ",")})


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.234,56", "78,9", "-3"], [1234.56, 78.9, -3.0]),
        (["1.234.567", "12.000"], [1234567, 12000]),
        (["1 234,5", "12"], [1234.5, 12.0]),
        (["1'234.50", "0"], [1234.5, 0.0]),
        (["1.234,56", "NS/NC", "no consta", "5"], [1234.56, None, None, 5.0]),
        (["12", "3", *["4"] * 10_500, "1.234,5"], [12.0, 3.0, *[4.0] * 10_500, 1234.5]),
    ],
)
def test_numbers_with_signs_of_thousands(put, cells, numbers):
    path = put("\n".join(["x;y", *(f"{cell};a" for cell in cells), ""]))
    assert read(path)["x"].to_list() == numbers
    assert "x" in cio.scan(path).facts.grouping


@pytest.mark.parametrize(
    "cells", [["1,234", "7.5,1"], ["1.23.4,5"], ["01.234,50"], ["1.234,56", "12.5"], ["1,5", "2.5"]]
)
def test_what_could_be_read_in_two_ways_stays_text(put, cells):
    assert read(put("\n".join(["x|y", *(f"{cell}|a" for cell in cells), ""])))["x"].to_list() == cells


def test_lists_of_answers_between_commas_are_no_numbers(put):
    path = put('x,y\n"1,2",a\n"3,1",b\n4,c\n')
    assert read(path)["x"].to_list() == ["1,2", "3,1", "4"]
    assert read(put('x,y\n"1.234,50",a\n"78,5",b\n'))["x"].to_list() == [1234.5, 78.5]


def test_points_are_thousands_where_the_file_has_decimal_commas(put):
    path = put("amount;ratio\n1.234;0,5\n12.000;1,25\n")
    assert read(path).rows() == [(1234, 0.5), (12000, 1.25)]
    assert cio.scan(path).facts.decimal == ","


def test_marks_in_a_column_of_dates_are_missing(put):
    path = put("day;x\n03/02/2024;1\nNS/NC;2\n")
    assert read(path, dates={"day": "%d/%m/%Y"})["day"].to_list() == [dt.date(2024, 2, 3), None]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encoding(put, encoding):
    path = put("nom,edat\nJosé Muñoz,30\nNúria,41\n".encode(encoding))
    assert read(path).rows() == [("José Muñoz", 30), ("Núria", 41)]
    assert cio.scan(path).facts.encoding == encoding


def test_accents_after_the_head_of_the_file(put):
    lines = "name,age\n" + "Ann,30\n" * 200_000
    path = put(lines.encode() + "José,31\n".encode("cp1252"))
    assert path.stat().st_size > 1 << 20
    assert read(path)["name"][-1] == "José"


def test_given_encoding_wins(put):
    assert read(put("a\nñ\n".encode("latin-1")), encoding="latin-1")["a"].to_list() == ["ñ"]
    with pytest.raises(ParameterError, match=r"encoding of text, .* got 'klingon'"):
        read(put("a\n1\n"), encoding="klingon")
    with pytest.raises(DataError, match="not utf-16"):
        read(put(b"a\n1"), encoding="utf-16")


def test_repeated_names_get_a_number_or_are_refused(put):
    path = put("a,b,a,a_2\n1,2,3,4\n")
    opened = cio.scan(path)
    assert opened.frame.collect().row(0, named=True) == {"a": 1, "b": 2, "a_3": 3, "a_2": 4}
    assert opened.facts.notes == ("column 3 is the second 'a': renamed a_3",)
    with pytest.raises(DataError, match=r"repeated: 'a' \(2 times\)"):
        cio.scan(path, repeated="refuse")


def test_damaged_text_is_read_byte_by_byte_when_asked(put):
    path = put(b"name,city\nJos\xc3\xa9,Le\xf3n\nRam\xf3n,Vic\nN\xc3\xbaria,C\xe1diz\n")
    opened = cio.scan(path, damaged="cp1252")
    assert opened.frame.collect().rows() == [("José", "León"), ("Ramón", "Vic"), ("Núria", "Cádiz")]
    assert "3 cells are not valid UTF-8 (name: 1, city: 2)" in opened.facts.notes[0]


def test_broken_utf8_says_columns_and_counts_and_no_value(put):
    path = put(b"name,city\nJos\xc3\xa9,Le\xf3n\nRam\xf3n,Vic\nN\xc3\xbaria,C\xe1diz\n")
    with pytest.raises(DataError, match=r"3 cells are not valid UTF-8 \(name: 1, city: 2\)") as caught:
        read(path)
    assert "Ram" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "header of 2 columns but no records"),
        ("a,b\n\n\n", "header of 2 columns but no records"),
        ("a,b\n1,2\n3\n4,5\n6,7,8\n", "2 records do not have 2 fields like the header; the first is record 2"),
        ("a,b\n1,2\n\n3,4\n", "1 blank lines between records"),
        ('a,b\n1,"2\n3,4\n', "a quote is opened and never closed"),
    ],
)
def test_refused(put, text, message):
    with pytest.raises(DataError, match=message):
        read(put(text))


def test_refusal_names_no_value(put):
    with pytest.raises(DataError) as caught:
        read(put("a,b\nsecret,2\nhidden\n"))
    assert "secret" not in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_blank_lines_at_the_end_are_no_records(put):
    assert read(put("a,b\n1,2\n3,4\n\n\n")).height == 2
    assert read(put("a,b\r\n1,2\r\n\r\n")).rows() == [(1, 2)]
    assert read(put("a\n1\n\n2\n"))["a"].to_list() == [1, None, 2]


def test_types_hold_for_every_record(put):
    # 20 000 whole numbers, then a text, a broken number, a date that is none, a number with blanks.
    n = 20_000
    columns = {
        "late_text": ["1"] * n + ["x"],
        "late_number": ["1"] * n + ["2.5"],
        "late_missing": ["1"] * n + ["NA"],
        "late_date": ["2020-02-28"] * n + ["2020-02-30"],
        "late_blank": ["1"] * n + [" 7 "],
        "late_big": ["1"] * n + ["12345678901234567890"],
        "late_zero": ["17001"] * n + ["08001"],
        "first_late": [""] * n + ["5"],
        "never": [""] * (n + 1),
    }
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    opened = cio.scan(put(text.getvalue()))
    frame = opened.frame.collect()
    assert {name: str(dtype) for name, dtype in frame.schema.items()} == {
        "late_text": "String",
        "late_number": "Float64",
        "late_missing": "Int64",
        "late_date": "String",
        "late_blank": "Int64",
        "late_big": "String",
        "late_zero": "String",
        "first_late": "Int64",
        "never": "String",
    }
    assert frame.row(-1) == ("x", 2.5, None, "2020-02-30", 7, "12345678901234567890", "08001", 5, None)
    assert opened.facts.marks == {"late_missing": ("NA",)}


def test_types_by_content(put):
    path = put(
        "i,f,d,t,b,s,zip,plus\n"
        "1,1.5,2020-01-02,2020-01-02T03:04:05,true,x,08001,+1\n"
        "-3,1e3,1999-12-31,2020-01-02 03:04:06.5,false,NA,17001,+2\n"
    )
    assert read(path).rows()[1] == (
        -3,
        1000.0,
        dt.date(1999, 12, 31),
        dt.datetime(2020, 1, 2, 3, 4, 6, 500_000),
        False,
        "NA",
        "17001",
        2.0,
    )


def test_two_marks_in_one_column(put):
    opened = cio.scan(put("a,b\n1,x\nNA,y\n?,z\n"))
    assert opened.frame.collect()["a"].to_list() == [1, None, None]
    assert opened.facts.marks["a"] == ("?", "NA")


def test_missing_marks_for_all_columns(put):
    frame = read(put("a,b\n1,x\n-9,-9\n"), missing=["-9"])
    assert frame.rows() == [(1, "x"), (None, None)]


def test_blank_after_separator_belongs_to_it(put):
    frame = read(put("39, State-gov, 77516\n50, Private, 83311\n", "adult.data"), header=False, columns=["a", "w", "f"])
    assert frame.rows() == [(39, "State-gov", 77516), (50, "Private", 83311)]


def test_text_on_demand(put):
    path = put("a,b\n1,2\n")
    assert read(path, text=True).rows() == [("1", "2")]
    assert read(path, text=["a"]).rows() == [("1", 2)]
    with pytest.raises(DataError, match="no columns c"):
        read(path, text=["c"])


def test_dates_in_a_notation(put):
    path = put("born,n\n01/02/1980,1\n31/12/1999,2\n,3\n")
    assert read(path, dates={"born": "%d/%m/%Y"})["born"].to_list() == [
        dt.date(1980, 2, 1),
        dt.date(1999, 12, 31),
        None,
    ]
    with pytest.raises(DataError, match=r"no dates in the notation given \(born: 1\)") as caught:
        read(path, dates={"born": "%m/%d/%Y"})
    assert "31/12" not in str(caught.value)
    with pytest.raises(DataError, match="no columns born2"):
        read(path, dates={"born2": "%d"})


ODD = {
    "plain": ("a,b\n1,x\n2,y\n", {}),
    "no header": ("1,x\n2,y\n", {"header": False, "columns": ["a", "b"]}),
    "blank end": ("a,b\n1,x\n2,y\n\n\n", {}),
    "blank names": ("a, b\n1,x\n2,y\n", {}),
    "marks": ("a,b\n1,x\nNA,y\n", {}),
    "blanks": ("a,b\n1, x\n2, y\n", {}),
    "decimal comma": ("a;b\n1,5;x\n2;y\n", {}),
    "zeros": ("a,b\n01,x\n02,y\n", {}),
    "quotes": ('a,b\n1,"x\ny, z"\n2,""\n', {}),
    "moments": ("a,b\n2020-01-01 10:00:00,x\n2020-01-01T11:00:00,y\n", {}),
    "cp1252": ("a,b\n1,é\n2,ñ\n".encode("cp1252"), {}),
}


@pytest.mark.parametrize("name", ODD)
def test_both_engines_read_the_same(put, name):
    data, options = ODD[name]
    path = put(data)
    tables = [celosia.read(path, engine=engine, **options).polars() for engine in ("polars", "duckdb")]
    assert tables[0].height == 2
    assert tables[0].rows() == tables[1].rows()
    assert tables[0].columns == tables[1].columns


def test_unnamed_and_blank_column_names(put):
    assert read(put(",a b, c\n1,2,3\n")).columns == ["column_1", "a b", "c"]


@pytest.mark.parametrize("name", ["*", "^a.*$"])
def test_names_that_are_patterns_to_polars(put, name):
    with pytest.raises(DataError, match="a column cannot be named"):
        read(put(f"{name},b\n1,2\n"))


def test_scan_is_lazy(put):
    path = put("a,b\n1,2\n")
    assert isinstance(cio.scan(path).frame, pl.LazyFrame)


def test_compressed_text_is_bounded(put, monkeypatch):
    monkeypatch.setattr("celosia.data.io.text.sniff.UNPACKED", 100_000)
    small = gzip.compress(b"a\n" + b"1\n" * 40_000)
    assert len(read(put(small, "small.csv.gz"))) == 40_000
    with pytest.raises(DataError, match="unpacks to more than 100,000 bytes, over 50 times its size"):
        cio.scan(put(gzip.compress(b"a\n" + b"1\n" * 400_000), "large.csv.gz"))


def test_gzip(put, tmp_path):
    path = put(gzip.compress(b"a;b\n1;x\n"), "x.csv.gz")
    assert read(path).rows() == [(1, "x")]
    cio.write(read(path), tmp_path / "y.csv.gz", cio.scan(path).facts)
    assert gzip.decompress((tmp_path / "y.csv.gz").read_bytes()) == b"a;b\n1;x\n"


def test_unknown_options_files_and_types(put, tmp_path):
    with pytest.raises(ParameterError, match=r"csv: no option 'seperator'. Did you mean 'separator'"):
        cio.scan(put("a\n1\n"), seperator=";")
    with pytest.raises(ParameterError, match="one ASCII character"):
        cio.scan(put("a\n1\n"), separator="ab")
    with pytest.raises(DataError, match=r"Did you mean 'people.csv'"):
        cio.scan(tmp_path / "poeple.csv")
    with pytest.raises(UnknownName, match=r"no file type for .docx"):
        cio.scan(put("a", "x.docx"))
    with pytest.raises(DataError, match="is a directory"):
        cio.scan(tmp_path, type="csv")


cells = st.one_of(
    st.none(),
    st.text(
        st.characters(codec="utf-8", exclude_characters="\r\x00", exclude_categories=["Cs"]), min_size=1, max_size=6
    ),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-(10**17), 10**17)),
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False, width=64)),
            cells,
            st.one_of(st.none(), st.dates(dt.date(1, 1, 1))),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_written_text_is_read_back_equal(tmp_path, rows):
    schema = {"i": pl.Int64, "f": pl.Float64, "s": pl.String, "d": pl.Date}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    path = tmp_path / "round.csv"
    cio.write(frame, path, overwrite=True)
    # Text cells are compared as text: "12" in a column of text is a number to any reader of CSV.
    back = read(path, text=["s"], separator=",", decimal=".")
    same = back.with_columns(pl.col("i").cast(pl.Int64), pl.col("f").cast(pl.Float64), pl.col("d").cast(pl.Date))
    assert same.equals(frame)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.text('ab",;\n é', max_size=4), min_size=1, max_size=4), min_size=1, max_size=6),
    st.integers(1, 4),
    st.sampled_from([1, 3, 1 << 24]),
)
def test_structure_agrees_with_the_csv_module(tmp_path, monkeypatch, rows, fields, block):
    # An independent count of the records and the ragged ones, over blocks of one byte and up.
    monkeypatch.setattr("celosia.data.io.text.structure.BLOCK", block)
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    path = tmp_path / "s.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    found = structure_of(path, ",", fields)
    assert found.records == len(rows)
    assert found.ragged == sum(len(row) != fields for row in rows)
    assert found.utf8
