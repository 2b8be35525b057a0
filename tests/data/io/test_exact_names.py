"""The file that is read is the one that was named, whatever characters its name has."""

from __future__ import annotations

import ast
from pathlib import Path

import polars as pl
import pytest

import celosia
from celosia.cli.main import run
from celosia.data import io as cio
from celosia.errors import DataError

SOURCE = Path(celosia.__file__).parent
NAMES = {"in[1]": "in1", "e*": "every", "a?c": "abc", "{x,y}": "x", "[a-z]b": "ab"}
"""File names that are also patterns, with another name that each pattern matches."""
REMOTE = ["s3://bucket/people.csv", "https://host/people.csv", "hf://datasets/people.parquet", "gs://bucket/p.csv"]


def frame(age: int) -> pl.DataFrame:
    return pl.DataFrame({"age": [age] * 4, "city": ["A", "A", "B", "B"]})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet", "json", "jsonl", "xlsx", "sav", "dta"])
@pytest.mark.parametrize("reader", ["polars", "duckdb"])
def test_every_format_reads_the_named_file_only(tmp_path, name, suffix, reader):
    cio.write(frame(1), tmp_path / f"{name}.{suffix}")
    cio.write(frame(2), tmp_path / f"{NAMES[name]}.{suffix}")
    table = celosia.read(tmp_path / f"{name}.{suffix}", engine=reader)
    assert len(table) == 4
    assert table.polars()["age"].cast(pl.Int64).to_list() == [1] * 4


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_a_pattern_without_a_file_of_that_name_is_no_file(tmp_path, suffix):
    cio.write(frame(2), tmp_path / f"in1.{suffix}")
    with pytest.raises(DataError, match="no file"):
        celosia.read(tmp_path / f"in[1].{suffix}")


@pytest.mark.on_spark
def test_spark_reads_the_named_file_only(tmp_path, engine):
    place = tmp_path / "a [1]*"
    place.mkdir()
    for name, other in NAMES.items():
        frame(1).write_parquet(place / f"{name}.parquet")
        frame(2).write_parquet(place / f"{other}.parquet")
        assert celosia.read(place / f"{name}.parquet", engine=engine).polars()["age"].to_list() == [1] * 4


def test_folder_names_add_no_columns(tmp_path):
    place = tmp_path / "year=1999"
    place.mkdir()
    for suffix in ("csv", "parquet"):
        cio.write(frame(1), place / f"x.{suffix}")
        for engine in ("polars", "duckdb"):
            assert celosia.read(place / f"x.{suffix}", engine=engine).names == ("age", "city")


def test_run_and_verify_use_the_named_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    safe = pl.DataFrame({"age": [40] * 20, "city": ["A", "B"] * 10})
    unique = pl.DataFrame({"age": list(range(20)), "city": ["A", "B"] * 10})
    safe.write_csv("in[1].csv")
    unique.write_csv("in1.csv")
    Path("p.toml").write_text(
        '[input]\npath = "in[1].csv"\n[schema]\nquasi = ["age", "city"]\n'
        '[[require]]\nuse = "k-anonymity"\nk = 5\n[output]\npath = "out.csv"\n'
    )
    assert run(["run", "p.toml"]) == 0
    assert set(pl.read_csv("out.csv")["age"]) == {40}
    # An all-unique file whose name is a pattern for the released one does not pass as it.
    Path("ou[t].csv").write_text(unique.write_csv())
    assert run(["verify", "out.certificate.json", "ou[t].csv"]) == 3
    capsys.readouterr()


@pytest.mark.parametrize("url", REMOTE)
def test_remote_addresses_are_refused_as_such(url, capsys):
    with pytest.raises(DataError, match="local files and databases only"):
        celosia.read(url)
    assert run(["assess", url]) == 2
    assert "local files and databases only" in capsys.readouterr().err


def test_every_polars_reader_switches_patterns_off():
    readers = {"scan_csv", "read_csv", "scan_parquet", "read_parquet", "scan_ipc", "read_ipc"}
    found = 0
    for path in SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in {f"pl.{name}" for name in readers}:
                found += 1
                in_memory = ast.unparse(call.args[0]) in {"text", "file.read_bytes()", "rows"}
                assert in_memory or any(key.arg == "glob" for key in call.keywords), f"{path}:{call.lineno}"
    assert found > 5


def test_a_file_that_changes_during_a_run_is_not_certified(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": [40] * 20}).write_csv("in.csv")
    Path("p.toml").write_text('[input]\npath = "in.csv"\n[schema]\nquasi = ["age"]\n[output]\npath = "out.csv"\n')
    policy = celosia.Policy.load("p.toml")
    opened = type(policy).table

    def table(self, *arguments, **options):
        found = opened(self, *arguments, **options)
        found.polars()
        pl.DataFrame({"age": list(range(30))}).write_csv("in.csv")
        return found

    monkeypatch.setattr(type(policy), "table", table)
    with pytest.raises(DataError, match="changed while it was read"):
        celosia.run(policy)
    assert not Path("out.csv").exists()
