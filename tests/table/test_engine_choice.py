"""Which engine holds a file: the one that is named, else by size, with a line that says so."""

import sys

import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.release.policy.policy import Policy

POLICY = """
[input]
path = "people.{ending}"
{input}
[schema]
quasi = ["age"]
[run]
{run}
[output]
path = "safe.csv"
"""


@pytest.fixture(params=["parquet", "csv"])
def people(request, tmp_path):
    path = tmp_path / f"people.{request.param}"
    frame = pl.DataFrame({"age": [30, 30, 41, 41] * 5, "city": ["Vic", "Vic", "Olot", "Olot"] * 5})
    frame.write_parquet(path) if request.param == "parquet" else frame.write_csv(path)
    return path


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(sys.modules["celosia.table.readers"], "SMALL", 10)


def test_a_small_file_is_held_by_polars_without_a_word(people):
    assert celosia.read(people).engine.name == "polars"


def test_a_large_file_is_held_by_duckdb_and_a_line_says_so(people, everything_is_large):
    with pytest.warns(UserWarning, match=r"people\.\w+ has about \d+ cells, more than 10: DuckDB holds the rows"):
        table = celosia.read(people, celosia.Schema.of(quasi=["age"]))
    assert table.engine.name == "duckdb"
    assert celosia.models.KAnonymity(k=2).value(table) == 10


@pytest.mark.filterwarnings("always")
def test_the_line_is_shown_by_a_command_and_naming_an_engine_ends_it(people, everything_is_large, capsys):
    assert command(["assess", str(people), "--quasi", "age"]) == 0
    assert "DuckDB holds the rows" in capsys.readouterr().err
    assert command(["assess", str(people), "--quasi", "age", "--engine", "polars"]) == 0
    assert "DuckDB" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "run", "asked", "held"),
    [
        ("", "", None, "polars"),
        ('engine = "duckdb"', "", None, "duckdb"),
        ("", 'engine = "duckdb"', None, "duckdb"),
        ('engine = "polars"', 'engine = "duckdb"', None, "duckdb"),
        ("", 'engine = "duckdb"', "polars", "polars"),
    ],
)
def test_a_policy_names_an_engine_and_a_command_wins(people, given, run, asked, held):
    text = POLICY.format(ending=people.suffix[1:], input=given, run=run)
    assert Policy.parse(text, people.parent).table(engine=asked).engine.name == held


@pytest.mark.parametrize("name", ["run", "demo", "assess", "compare", "explore", "apply", "verify"])
def test_every_command_that_reads_rows_takes_an_engine(name, capsys):
    command([name, "--help"])
    assert "--engine" in capsys.readouterr().out
