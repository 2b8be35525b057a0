"""What the corpus of bad input brought to light, each mended and kept as a small case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.trust.inputs.template import CATALOGUE

from celosia.cli.main import run
from celosia.errors import DataError
from celosia.hierarchy.level_table import _from_rows


def test_a_hierarchy_of_empty_rows():
    with pytest.raises(DataError, match="the first row of the rows is empty"):
        _from_rows(((),))


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a":' * 50_000], ids=["lists", "objects"])
def test_a_store_of_deep_lines(tmp_path, monkeypatch, capsys, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("name,age\n" + "".join(f"p{i},{i % 5}\n" for i in range(20)))
    (tmp_path / "kept.db").write_text(line)
    explore = ["explore", "people.csv", "--quasi", "age", "--candidate", "drop(columns=[name])", "--seeds", "1"]
    assert run([*explore, "--workers", "1", "--store", "kept.db"]) in (0, 2)
    assert "internal error" not in capsys.readouterr().err


def test_a_table_without_its_header_is_not_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["consent", "init"]) == 0
    (tmp_path / "table.csv").write_text("Qanary001,illness,yes\nQanary002,illness,no\n")
    (tmp_path / "inferences.toml").write_text(CATALOGUE)
    for command in (
        ["consent", "load", "table.csv", "--catalogue", "inferences.toml"],
        ["consent", "owners", "table.csv"],
    ):
        assert run(command) == 2
        said = capsys.readouterr().err
        assert "first line" in said, said
        assert "Qanary" not in said


@pytest.mark.parametrize("query", ["CAST(name AS INTEGER)", "strptime(name, '%Y')"])
@pytest.mark.parametrize("command", ["assess", "init"])
def test_a_row_that_duckdb_cannot_compute_is_not_told(tmp_path, monkeypatch, capsys, command, query):
    import duckdb

    monkeypatch.chdir(tmp_path)
    with duckdb.connect("d.db") as database:
        database.execute("CREATE TABLE t AS SELECT 'Qanary' || i AS name FROM range(30) r(i)")
    words = {"assess": ["--quasi", "n"], "init": ["--out", "p.toml"]}[command]
    assert run([command, "duckdb:///d.db", "--query", f"SELECT {query} AS n FROM t", *words]) == 2
    said = capsys.readouterr().err
    assert re.search(r"cannot compute a row|the database refused it", said)
    assert "Qanary" not in said


def test_a_failure_of_a_function_that_duckdb_calls_is_no_fault_of_the_data():
    import duckdb

    from celosia.errors import explain_failures

    def fails(x: int) -> int:
        raise ZeroDivisionError

    with duckdb.connect() as database:
        database.create_function("fails", fails)
        with pytest.raises(duckdb.InvalidInputException), explain_failures():
            database.execute("SELECT fails(1)").fetchall()


HIDDEN = "postgresql://127.0.0.1:1/x?user=ana&password=pa55word"
COMMANDS = {
    "ledger": ["gateway", "verify", "--ledger", "env:PLACE"],
    "store": ["consent", "record", "x", "--store", "env:PLACE"],
    "policy": ["run", "policy.toml"],
    "data set": ["query", "SELECT COUNT(*) AS n FROM people", "--epsilon", "1"],
}


@pytest.mark.parametrize("address", [HIDDEN, "postgresql://ana:pa55word@localhost:port/x"], ids=["parameter", "port"])
@pytest.mark.parametrize("what", COMMANDS)
def test_no_message_repeats_a_password(tmp_path, monkeypatch, capsys, what, address):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLACE", address)
    Path("policy.toml").write_text(f'[input]\npath = "{address}"\nquery = "SELECT 1"\n[output]\npath = "x.csv"\n')
    column = "[tables.people.columns.age]\ntype = 'integer'\nbounds = [0, 99]\n"
    Path("dataset.toml").write_text(f'name = "d"\nepsilon = 1\ndatabase = "{address}"\n{column}')
    assert run(COMMANDS[what]) == 2
    said = capsys.readouterr().err
    assert said.count("celosia: ") == 1
    assert "pa55word" not in said
