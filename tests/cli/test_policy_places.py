"""Policies over databases that are files, wherever a command is called from; what a run tells in short."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from celosia.cli.main import run
from celosia.release.policy.policy import Policy

MEASURED = """
[[step]]
use = "round"
columns = ["pay"]
base = 10
[measure]
risks = ["prosecutor", "distance-linkage(columns=[pay])"]
[output]
path = "safe.csv"
report = false
"""


@pytest.fixture
def database(tmp_path):
    place = tmp_path / "data" / "people.db"
    place.parent.mkdir()
    with contextlib.closing(sqlite3.connect(place)) as opened:
        opened.execute("CREATE TABLE people (town TEXT, pay INTEGER)")
        opened.executemany("INSERT INTO people VALUES (?, ?)", [(f"T{i % 3}", 100 + i) for i in range(40)])
        opened.commit()
    return place


def test_a_policy_runs_from_anywhere(tmp_path, monkeypatch, capsys, database):
    policy = database.with_name("policy.toml")
    schema = '[schema]\nquasi = ["town"]\ninsensitive = ["pay"]\n'
    policy.write_text(f'[input]\nurl = "sqlite:///people.db"\nquery = "SELECT * FROM people"\n{schema}{MEASURED}')
    (tmp_path / "elsewhere").mkdir()
    for place in (database.parent, tmp_path / "elsewhere"):
        monkeypatch.chdir(place)
        assert run(["run", str(policy), "--overwrite"]) == 0
        shown = capsys.readouterr().out
        assert "distance-linkage" in shown, "attacks are told in short"
        assert "guessing" in shown
    for left in database.parent.iterdir():
        if left.suffix in (".csv", ".json") and ".private" not in left.name:
            assert str(tmp_path) not in left.read_text(), "no folder of this machine is published"


@pytest.mark.parametrize("out", ["policy.toml", "data/policy.toml", "other/policy.toml"])
def test_a_policy_that_is_written_elsewhere_finds_its_database(tmp_path, monkeypatch, database, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    assert run(["init", "sqlite:///data/people.db", "--query", "SELECT * FROM people", "--out", out]) == 0
    assert Policy.load(tmp_path / out).input.source == f"sqlite:///{database}"
    assert len(Policy.load(tmp_path / out).table()) == 40
