"""Every command that reads a table takes the engine and its memory."""

import polars as pl
import pytest
from typer.testing import CliRunner

from celosia.cli.main import app
from celosia.data.engines.duckdb import DuckDB

COMMANDS = {
    "assess": ["assess", "{people}", "--quasi", "age,sex"],
    "compare": ["compare", "{people}", "{people}", "--quasi", "age,sex", "--loss", "height", "--key", "id"],
    "explore": ["explore", "{people}", "--quasi", "age", "--candidate", "none-such"],
    "protect": ["protect", "drop", "{people}", "--columns", "id", "--quasi", "age,sex", "--out", "{out}"],
    "explain-risk": ["explain-risk", "1", "{people}", "{people}", "--quasi", "age,sex", "--key", "id"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_table_is_read_by_the_engine_with_its_memory(command, tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    pl.DataFrame({"id": range(8), "age": [30, 31] * 4, "sex": ["F", "F", "M", "M"] * 2}).write_csv(path)
    given, start = [], DuckDB.__init__

    def started(self, memory=None):
        given.append(memory)
        start(self, memory)

    monkeypatch.setattr(DuckDB, "__init__", started)
    words = [word.format(people=path, out=tmp_path / "safe.csv") for word in COMMANDS[command]]
    CliRunner().invoke(app, [*words, "--engine", "duckdb", "--memory", "1GB"])
    assert 10**9 in given


@pytest.mark.parametrize("command", COMMANDS)
def test_a_size_that_cannot_be_read_is_refused(command, tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame({"id": range(8), "age": [30, 31] * 4, "sex": ["F", "F", "M", "M"] * 2}).write_csv(path)
    words = [word.format(people=path, out=tmp_path / "safe.csv") for word in COMMANDS[command]]
    refused = CliRunner().invoke(app, [*words, "--memory", "much"])
    assert refused.exit_code != 0
    assert "a size is written as 2GB" in str(refused.exception)
