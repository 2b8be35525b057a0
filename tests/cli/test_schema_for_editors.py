"""An editor finds the schema that the first line of a policy names, and the schema accepts the policy."""

from __future__ import annotations

import json
import re
import tomllib

import polars as pl
import pytest

from celosia.cli.main import run


@pytest.fixture
def policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"name": [f"N{i}" for i in range(60)], "age": [20 + i % 40 for i in range(60)], "sex": ["f", "m"] * 30}
    pl.DataFrame(rows).write_csv("people.csv")
    assert run(["init", "people.csv", "--out", "policy.toml"]) == 0
    return tmp_path / "policy.toml"


def test_the_line_names_the_file_that_the_command_writes(policy, capsys):
    jsonschema = pytest.importorskip("jsonschema")
    text = policy.read_text("utf-8")
    named = re.match(r"#:schema \./(\S+)\n", text)[1]
    command = re.search(r"written by: celosia (.*)\n", text)[1].split()
    capsys.readouterr()
    assert run(command) == 0
    assert f"#:schema ./{named}" in capsys.readouterr().out
    schema = json.loads((policy.parent / named).read_text("utf-8"))
    checker = jsonschema.Draft202012Validator(schema)
    assert list(checker.iter_errors(tomllib.loads(text))) == []
    assert list(checker.iter_errors(tomllib.loads(text + "\n[inptu]\n"))), "and refuses what is wrong"
    assert run(["run", str(policy)]) == 0


def test_without_a_file_the_schema_is_printed(capsys):
    assert run(["parts", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "celosia policy 1"
    assert run(["parts", "model", "k-anonymity", "--schema"]) == 0
    assert "k" in json.loads(capsys.readouterr().out)["properties"]
