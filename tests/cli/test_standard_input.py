"""``-`` reads standard input; the type follows from its first bytes."""

from __future__ import annotations

import io
import json
import sys

import polars as pl
import pytest

from celosia.cli.main import run
from celosia.data import io as cio


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet"])
def test_standard_input_is_read_by_its_first_bytes(tmp_path, monkeypatch, capsys, suffix):
    path = tmp_path / f"people.{suffix}"
    cio.write(pl.DataFrame({"age": [31, 31, 47, 47], "pay": [1, 2, 3, 4]}), path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert run(["assess", "-", "--quasi", "age", "--require", "k-anonymity(k=2)", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["requirements"][0]["value"] == 2


def test_an_empty_pipe_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert run(["assess", "-", "--quasi", "age"]) == 2
    assert "standard-input.csv is empty" in capsys.readouterr().err
