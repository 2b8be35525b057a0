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
    "text",
    [
        "country,2019,2020,2021\nES,1,2,3\nFR,4,5,6\n",  # a wide table by years
        "name,1,2,3\nA,5,6,7\n",  # running numbers
        "age,sex\n39,Male\n50,Female\n",
        "a,b\nb,a\na,x\n",  # one name occurs as a value
        "v\n1\n2\n",
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
