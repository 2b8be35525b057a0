"""A first line that looks like a record is never taken for a header in silence."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import polars as pl
import pytest

import celosia
from celosia.cli.main import run
from celosia.data.io.text.sniff import header_doubts, separator_of
from celosia.errors import DataError

CENSUS = (
    "39, State-gov, 77516, Male\n50, Private, 83311, Male\n38, Private, 215646, Female\n28, State-gov, 338409, Female\n"
)
NAMES = ["age", "work", "fnlwgt", "sex"]


@pytest.fixture
def census(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("census.csv").write_text(CENSUS * 10)
    return Path("census.csv")


def test_a_file_without_a_header_is_refused_without_its_values(census, capsys):
    with pytest.raises(DataError, match="seems to have no header: 4 of the 4 cells") as refused:
        celosia.read(census)
    assert "State-gov" not in str(refused.value)
    for command in ("init", "assess"):
        assert run([command, "census.csv"]) == 2
        assert "header = false" in capsys.readouterr().err
    assert not Path("policy.toml").exists()


def test_the_user_states_what_the_first_line_is(census, capsys):
    assert celosia.read(census, header=False, columns=NAMES).names == tuple(NAMES)
    assert len(celosia.read(census, header=False)) == 40
    assert len(celosia.read(census, header=True)) == 39
    assert run(["init", "census.csv", "--no-header"]) == 0
    assert "header = false" in Path("policy.toml").read_text()
    assert run(["assess", "census.csv", "--no-header", "--quasi", "column_1"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "record",
    [
        lambda i: f"Name {i}",
        lambda i: f"{i},{i * 37 % 1000}",
        lambda i: f"Ana {i}x,{1940 + i}-0{1 + i % 9}-10",
        lambda i: f"Ana {i}x,{10 + i % 18}/0{1 + i % 9}/{1940 + i},flu",
        lambda i: f"Ana {i}x,{1940 + i}",
        lambda i: f"Ana {i}x,{1940 + i},{2000 + i % 20}",
        lambda i: f"Ana {i}x,{i + 5},{i + 6}",
        lambda i: f"Ana {i}x,{'MF'[i % 2]}",
        lambda i: f"n{i}@x.org,+34 600 {100000 + 7 * i}",
        lambda i: f"Ana {i}x,{1000 + 37 * i} EUR",
        lambda i: f"Ana {i}x,{i / 7:.3e}",
        lambda i: f"Ana {i}x;1.{100 + i},50;{i},5",
        lambda i: f"Ana {i}x,{10000000 + 977 * i}{'ABCDEFG'[i % 7]}",
        lambda i: f"Ana {i}x,{'' if i % 2 else 'NA'}",
    ],
)
def test_the_first_person_is_not_taken_for_names(tmp_path, record):
    people = [chr(97 + i % 26) * (1 + i // 26) for i in range(60)]
    lines = [record(i).replace(f"Ana {i}x", f"Ana {people[i]}") for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="seems to have no header"):
        celosia.read(tmp_path / "t.csv")


def test_commas_between_digits_do_not_separate_if_another_mark_does():
    assert separator_of("1,5;2,5\n3,25;1,0\n") == ";"
    assert separator_of("1,5\n3,25\n") == ","


@pytest.mark.parametrize(
    "text",
    [
        "country,2019,2020,2021\nES,1,2,3\nFR,4,5,6\n",  # a wide table by years
        "name,1,2,3\nA,5,6,7\n",  # running numbers
        "age,sex\n39,Male\n50,Female\n",
        "a,b\nb,a\na,x\n",  # one name occurs as a value
        "v\n1\n2\n",
        "id,urban,sex,job,town\n1,urban,F,a,x\n2,rural,M,a,y\n3,urban,F,b,x\n4,rural,M,b,y\n",  # named after a value
        "id,car,bus\n1,car,\n2,car,bus\n3,,bus\n",  # options of a question
        "code,DX1\n7,I21\n8,I22\n",
    ],
)
def test_usual_headers_are_accepted(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    assert len(celosia.read(tmp_path / "t.csv")) == len(text.splitlines()) - 1


def test_no_real_table_loses_its_header(shared):
    tables = sorted(shared("real/README.md").parent.glob("data/*.csv"))
    assert len(tables) > 20
    for path in tables:
        with path.open(encoding="latin-1", newline="") as file:
            mark = separator_of(file.read(10_000))
            file.seek(0)
            rows = list(itertools.islice(csv.reader(file, delimiter=mark), 500))
            assert header_doubts(rows) == 0, path.name


def test_a_released_file_is_read_with_its_header(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"39": [1, 2] * 20, "77516": [1, 1, 2, 2] * 10})
    frame.write_csv("in.csv")
    Path("p.toml").write_text(
        '[input]\npath = "in.csv"\nheader = true\n[schema]\nquasi = ["39", "77516"]\n'
        '[[require]]\nuse = "k-anonymity"\nk = 2\n[output]\npath = "out.csv"\n'
    )
    assert run(["run", "p.toml"]) == 0
    assert run(["verify", "out.certificate.json", "out.csv"]) == 0
    capsys.readouterr()


def test_a_sheet_without_a_header_is_refused_until_it_is_stated(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for i in range(30):
            sheet.write_row(i, 0, [f"Person {i}", 20 + i, "MF"[i % 2]])
    with pytest.raises(DataError, match="seems to have no header"):
        celosia.read(path)
    assert celosia.read(path, header=False).names == ("column_1", "column_2", "column_3")
    assert len(celosia.read(path, header=False)) == 30
    assert len(celosia.read(path, header=True)) == 29
