"""The GROUP BY tests of k and l, run where the table lives, against the same numbers measured here."""

from __future__ import annotations

import json
import sqlite3

import duckdb
import polars as pl
import pytest

import celosia
from celosia.cli.main import run as command
from celosia.data.io import write

DATA = pl.DataFrame(
    {"age": [30, 30, 30, 41, 41, None, None], "sex": list("ffffmmm"), "ill": ["x", "y", None, "x", "x", "y", "z"]}
)


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        with sqlite3.connect(tmp_path / "people.db") as connection:
            connection.execute("CREATE TABLE people (age INTEGER, sex TEXT, ill TEXT)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?)", DATA.rows())
        yield f"sqlite:///{tmp_path / 'people.db'}"
    elif request.param == "duckdb":
        with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
            connection.execute("CREATE TABLE people AS SELECT * FROM DATA")
        yield f"duckdb:///{tmp_path / 'people.duckdb'}"
    else:
        address = request.getfixturevalue("postgres_url")
        write(DATA.lazy(), address, table="people")
        yield address


def test_the_statements_give_what_the_models_measure(url, capsys):
    arguments = ["assess", url, "--quasi", "age,sex", "--sensitive", "ill", "--query", "people", "--sql", "--json"]
    assert command([*arguments, "--require", "k-anonymity(k=1)"]) == 0
    shown = json.loads(capsys.readouterr().out)
    table = celosia.read(DATA, celosia.Schema.of(quasi=["age", "sex"], sensitive=["ill"]))
    assert shown["values"]["k"] == celosia.models.KAnonymity(k=1).value(table) == 1
    assert shown["values"]["l of ill"] == celosia.models.LDiversity(l=1, column="ill").value(table) == 1
    assert "GROUP BY" in shown["sql"]["k"]
    assert command([*arguments, "--require", "k-anonymity(k=2)"]) == 3


def test_a_query_may_stand_for_the_table(tmp_path, capsys):
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER, sex TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(1, "f"), (1, "f"), (2, "m")])
    query = "SELECT * FROM people WHERE sex = 'f'"
    arguments = ["assess", f"sqlite:///{tmp_path / 'people.db'}", "--quasi", "age", "--query", query, "--sql"]
    assert command([*arguments, "--require", "k-anonymity(k=2)"]) == 0
    assert "k = 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.csv", "--quasi", "a"], "give its URL"),
        (["sqlite:///x.db", "--quasi", "a"], "needs --query"),
        (["sqlite:///x.db", "--query", "t"], "no quasi-identifier"),
    ],
)
def test_what_is_missing_is_said(arguments, message, capsys):
    assert command(["assess", *arguments, "--sql"]) == 2
    assert message in capsys.readouterr().err
