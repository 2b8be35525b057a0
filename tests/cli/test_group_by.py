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


SITUATIONS = {
    "persons": DATA.with_columns(pid=pl.Series([1, 1, None, 2, 2, None, None])),
    "a value of every person": pl.DataFrame(
        {"age": [1] * 8, "sex": ["f"] * 8, "pid": [1, 1, 2, 2, None, None, None, 3], "ill": [*"xyxzxy", None, None]}
    ),
    "a value of all but one": pl.DataFrame(
        {"age": [1] * 6, "sex": ["f"] * 6, "pid": [1, 1, 2, 2, 3, 3], "ill": [*"xyxzyz"]}
    ),
    "stars": pl.DataFrame({"age": ["*", "30", "30", "30"], "sex": ["*", "f", "f", "*"], "ill": list("xyzx")}),
    "one star": pl.DataFrame({"age": ["*", None, None], "sex": ["*", "f", "f"], "ill": list("xyz")}),
    "blanked star": pl.DataFrame({"age": ["*", "1", "1"], "sex": ["*", "f", "f"], "ill": [None, "y", "z"]}),
    "half blanked": pl.DataFrame({"age": ["*", "*"], "sex": ["*", "*"], "ill": ["x", None]}),
    "all stars": pl.DataFrame({"age": ["*", "*"], "sex": ["*", "*"], "ill": list("xy")}),
    "empty": DATA.clear(),
}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("model", ["k-anonymity(k=2)", "l-diversity(l=1.5)"])
def test_the_statements_give_the_verdict_of_the_models(situation, model, tmp_path, capsys):
    data = SITUATIONS[situation]
    with duckdb.connect(str(tmp_path / "p.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM data")
    arguments = ["assess", f"duckdb:///{tmp_path / 'p.duckdb'}", "--quasi", "age,sex", "--sensitive", "ill"]
    arguments += ["--query", "SELECT * FROM people", *(["--person", "pid"] if "pid" in data.columns else [])]
    here = command([*arguments, "--require", model, "--json"])
    measured = capsys.readouterr()
    assert command([*arguments, "--require", model, "--json", "--sql"]) == here
    shown = capsys.readouterr()
    if here == 2:
        assert shown.err == measured.err
    else:
        (finding,) = json.loads(measured.out)["requirements"]
        values = json.loads(shown.out)["values"]
        assert values["k" if "anonymity" in model else "l of ill"] == float(finding["value"])


@pytest.mark.parametrize(
    "model", ["l-diversity(l=2, others=quasi)", "l-diversity(l=2, column=sex)", "t-closeness(t=1)"]
)
def test_a_requirement_that_no_statement_tells_is_refused(model):
    arguments = ["assess", "sqlite:///none.db", "--quasi", "age", "--sensitive", "ill", "--query", "people", "--sql"]
    assert command([*arguments, "--require", model]) == 2


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
