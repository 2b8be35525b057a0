"""How a text file is written, told from its bytes: files that were written in a known way."""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pytest

from celosia.data.io.text.sniff import SEPARATORS, decimal_of, dialect_of, encoding_of, open_bytes, separator_of
from celosia.errors import DataError

WORDS = ["Ana", "Eva, Luis", "a;b", "x|y", "", "12", "3,5", 'say "yes"', "two\nlines", "tab\there"]


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("seed", range(5))
def test_the_separator_of_a_written_file_is_found(separator, seed):
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(2, 5))
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL if seed % 2 else csv.QUOTE_MINIMAL)
    writer.writerow([f"c{j}" for j in range(columns)])
    writer.writerows(rng.choice(WORDS, (12, columns)).tolist())
    assert separator_of(text.getvalue()) == separator


@pytest.mark.parametrize(
    ("head", "separator"),
    [
        ("name\nAna\nEva\n", ","),  # one column: any would do
        ("a;b\n1,5;2,5\n", ";"),
        ("a,b\n1;2,3\n4;5,6\n", ","),
        ("a,b;c\n1,2;3\n", ","),  # ends up a tie: the first of the list
        ("", ","),
        ("a;b\n\n\n1;2\n", ";"),
        ("a,b,c\n1;2\n3;4\n", ","),  # the header decides
    ],
)
def test_separators_by_hand(head, separator):
    assert separator_of(head) == separator


@pytest.mark.parametrize(
    ("cells", "separator", "mark"),
    [
        (["1,5", "x"], ";", ","),
        (["1,5"], ",", "."),  # between commas no comma is a mark
        (["1,5", "2.5"], ";", "."),
        (["1.234,5", "2.500"], ";", ","),
        (["1.234", "2.500"], ";", "."),
        (["0.123", "1,5"], ";", "."),  # no thousands begin with 0
        ([" -3,25 "], "\t", ","),
        (["1,5 kg", "a,b"], ";", "."),
        ([], ";", "."),
    ],
)
def test_decimal_marks_by_hand(cells, separator, mark):
    assert decimal_of("9,9\n" + "".join(f"{cell}\n" for cell in cells), separator) == mark, "the header is no cell"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"plain", "utf-8"),
        (b"", "utf-8"),
        ("ñandú €".encode(), "utf-8"),
        ("ñandú €".encode("utf-8-sig"), "utf-8-sig"),
        ("ñandú".encode("utf-16"), "utf-16"),
        ("ñandú €".encode("cp1252"), "cp1252"),
        ("á".encode() + "ñ".encode("cp1252"), None),  # a mixture is damage, also where it could be Ã, ¡ and ñ
        (b"\x81\x8d", None),  # bytes that Windows-1252 lacks
        ("Łódź".encode("cp1250"), None),  # letters of another part of Europe
    ],
)
def test_encodings(data, encoding):
    assert encoding_of(data) == encoding


def test_a_letter_that_the_end_of_the_head_cuts_is_no_damage():
    cut = "año".encode()[:2]
    assert encoding_of(cut, whole=False) == "utf-8"
    assert encoding_of(cut) != "utf-8"


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.tsv", "people.tsv.gz"])
def test_what_is_told_of_a_file(tmp_path, name):
    path = tmp_path / name
    mark = "\t" if ".tsv" in name else ";"
    data = f"\ufeffid{mark}a,b,c,d\n1{mark}2,5\n".encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    found = dialect_of(path, None, None, None, header=True)
    assert (found.encoding, found.separator, found.decimal) == ("utf-8-sig", mark, ",")
    assert found.columns == ("id", "a,b,c,d")
    with open_bytes(path) as file:
        assert file.read() == data
    unnamed = dialect_of(path, None, None, ".", header=False)
    assert (unnamed.columns, unnamed.decimal) == (("column_1", "column_2"), ".")


def test_a_name_that_says_tabs_is_believed(tmp_path):
    path = tmp_path / "people.tsv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert dialect_of(path, None, None, None, header=True).columns == ("a,b",)


def test_what_is_given_is_not_guessed(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("a;b,c\n1;2,5\n".encode("utf-16"))
    assert dialect_of(path, ",", "utf-16", None, header=True).columns == ("a;b", "c")
    for encoding, message in (("latin-99", "no encoding named 'latin-99'"), ("utf-32", "the text is not utf-32")):
        with pytest.raises(DataError, match=message):
            dialect_of(path, None, encoding, None, header=True)
    path.write_bytes(b" \n\n")
    with pytest.raises(DataError, match=r"people\.csv is empty"):
        dialect_of(path, None, None, None, header=True)
