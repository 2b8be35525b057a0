"""A CSV file has no types: its columns are read as they are declared, not as they look."""

from __future__ import annotations

from contextlib import closing

import duckdb
import pytest

from celosia.errors import InputError
from celosia.gateway.databases import open_database
from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts


def declared(tmp_path, text, **types):
    path = tmp_path / "person.csv"
    path.write_text(text)
    columns = {name: facts if isinstance(facts, dict) else {"type": facts} for name, facts in types.items()}
    table = {"source": str(path), "columns": columns}
    return DatasetFacts.of({"name": "d", "epsilon": 1e5, "delta": 0.5, "tables": {"person": table}})


def opened(tmp_path, text, **types):
    return closing(Gateway(declared(tmp_path, text, **types), Ledger.create(tmp_path / "ledger.db"), grid=0))


def counts(gateway, column):
    """How many rows have each value, as good as exactly."""
    answer = gateway.ask(f"SELECT {column} AS k, COUNT(*) AS n FROM person GROUP BY {column}", epsilon=2000, delta=0.01)
    return {row["k"]: row["n"]["value"] for row in answer.rows}


@pytest.mark.parametrize(
    "value", ["F", "T", "true", "007", "1", "1.50", "2026-01-01", "12:30", "NaN", "inf", "null", "1e5", "[1]"]
)
def test_a_text_is_what_is_declared_a_text(tmp_path, value):
    with opened(tmp_path, "sex,age\n" + f"{value},30\n" * 50, sex="text", age="integer") as gateway:
        assert counts(gateway, "sex") == {value: 50}


def test_a_declared_category_is_found(tmp_path):
    with opened(tmp_path, "sex\n" + "F\n" * 50, sex={"type": "text", "categories": ["F", "M"]}) as gateway:
        assert counts(gateway, "sex") == {"F": 50, "M": 0}


def test_all_types_as_declared(tmp_path):
    rows = "1,,0,2026-01-01 10:00,0.5,x\n" * 20 + "2,,1,2026-01-02 11:00,,\n" * 30
    types = {"a": "integer", "none": "integer", "ok": "boolean", "seen": "date", "w": "number", "note": "text"}
    with opened(tmp_path, "a,none,ok,seen,w,note,extra\n" + rows.replace("\n", ",zz\n"), **types) as gateway:
        assert counts(gateway, "a") == {1: 20, 2: 30}
        assert counts(gateway, "ok") == {False: 20, True: 30}
        assert counts(gateway, "seen") == {"2026-01-01": 20, "2026-01-02": 30}
        assert counts(gateway, "note") == {"x": 20}
        assert gateway.ask("SELECT COUNT(none) AS n FROM person", epsilon=2000).value("n") == 0
        assert gateway.ask("SELECT COUNT(*) AS n FROM person WHERE w > 0.4", epsilon=2000).value("n") == 20
        # what is not declared is not even loaded
        assert gateway._database.rows("SELECT column_name FROM duckdb_columns() WHERE column_name = 'extra'") == []


def test_days_are_read_in_the_form_of_the_file(tmp_path):
    with opened(tmp_path, "seen\n" + "31/12/2025\n" * 40, seen="date") as gateway:
        assert counts(gateway, "seen") == {"2025-12-31": 40}


def test_a_first_line_of_names_needs_no_guess(tmp_path):
    with opened(tmp_path, "name\nAna\nBerta\n", name="text") as gateway:
        assert gateway.ask("SELECT COUNT(*) AS n FROM person", epsilon=2000).value("n") == 2


@pytest.mark.parametrize("own", [False, True])
def test_nothing_but_the_data_is_reachable(tmp_path, own):
    """Only our own SQL goes there; were it not so, it could still not read or write a file."""
    secret, out = tmp_path / "secret.txt", tmp_path / "out.csv"
    secret.write_text("7731")
    columns = {"age": {"type": "integer"}}
    if own:
        with closing(duckdb.connect(str(tmp_path / "own.db"))) as connection:
            connection.execute("CREATE TABLE person AS SELECT 30 AS age")
        facts = {"database": f"duckdb:///{tmp_path / 'own.db'}", "tables": {"person": {"columns": columns}}}
    else:
        (tmp_path / "person.csv").write_text("age\n30\n")
        facts = {"tables": {"person": {"source": str(tmp_path / "person.csv"), "columns": columns}}}
    with closing(open_database(DatasetFacts.of({"name": "d", "epsilon": 1, **facts}))) as database:
        assert database.rows("SELECT age FROM person") == [(30,)]
        for sql in (
            f"SELECT * FROM read_text('{secret}')",
            f"SELECT * FROM read_csv('{secret}')",
            f"COPY person TO '{out}'",
            f"ATTACH '{tmp_path / 'new.db'}' AS new",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET threads = 8",
        ):
            with pytest.raises(
                duckdb.Error, match=r"disabled (by|through) configuration|locked|while database is running"
            ):
                database._rows(sql)
    assert not out.exists()


def test_values_that_do_not_fit_are_the_owners_concern(tmp_path):
    late = "age\n" + "30\n" * 30_000 + "secret7731\n"
    for text, facts, words in (
        (late, "integer", "'age' of 'person' is declared integer but stored as VARCHAR"),
        ("age\n1\n2\n", "boolean", "'age' of 'person' is declared boolean but stored as BIGINT"),
        ("age\n1\n2\n", "date", "'age' of 'person' is declared date but stored as BIGINT"),
        ("old\n1\n", "integer", "has no column 'age'"),
    ):
        with pytest.raises(InputError, match=words) as raised:
            open_database(declared(tmp_path, text, age=facts))
        assert "7731" not in str(raised.value)
