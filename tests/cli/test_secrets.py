"""Every secret comes from a file or the environment: what stands on a command line can be seen by everybody."""

from __future__ import annotations

import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import celosia
from celosia.cli.main import run
from celosia.errors import ParameterError
from celosia.parts import Credential, marked_fields, parts, private_fields

SECRET = "correct-horse-battery-staple"
PASSWORD = "postgresql://ana:tr0ub4dor@host.invalid/base"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"id": ["a", "b", "a"], "seen": ["2020-01-01", "2020-02-01", "2020-03-01"]})
    frame.write_csv("people.csv")
    (tmp_path / "key.txt").write_text(f"{SECRET}\n")
    monkeypatch.setenv("PSEUDONYMS", SECRET)
    with closing(sqlite3.connect("people.db")) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, zip TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(30 + i % 3, "08001") for i in range(30)])
        connection.commit()
    monkeypatch.setenv("PEOPLE", f"sqlite:///{tmp_path / 'people.db'}")
    (tmp_path / "address.txt").write_text(f"sqlite:///{tmp_path / 'people.db'}\n")
    return tmp_path


METHODS = {
    "pseudonymise": ["protect", "pseudonymise", "people.csv", "--columns", "id", "--identifiers", "id"],
    "shift-dates": ["protect", "shift-dates", "people.csv", "--columns", "seen", "--by", "id", "--quasi", "id"],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("literal", [SECRET, "1234567890123456", "short", '"quoted and long enough"', "[a, b]"])
def test_a_literal_key_on_the_command_line_is_refused(place, capsys, method, literal):
    assert run([*METHODS[method], "--key", literal, "--out", "safe.csv"]) == 2
    said = capsys.readouterr().err
    assert "env:NAME" in said
    assert literal not in said
    assert not Path("safe.csv").exists()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reference", ["env:PSEUDONYMS", "file:key.txt"])
def test_a_key_by_reference_gives_what_the_key_gives(place, capsys, method, reference):
    assert run([*METHODS[method], "--key", reference, "--out", "safe.csv", "--seed", "1"]) == 0, capsys.readouterr().err
    assert SECRET not in capsys.readouterr().out
    columns = {"pseudonymise": {"columns": ["id"]}, "shift-dates": {"columns": ["seen"], "by": "id"}}[method]
    made = celosia.parts.build("method", {"use": method, **columns, "key": SECRET})
    table = celosia.read(pl.read_csv("people.csv"), celosia.Schema.of(quasi=["id"]))
    changed = columns["columns"][0]
    expected = celosia.protect(table, made, seed=1).polars()[changed].to_list()
    assert sorted(pl.read_csv("safe.csv")[changed].cast(pl.String)) == sorted(str(value) for value in expected)


def test_a_key_file_is_taken_as_before(place, capsys):
    assert run([*METHODS["pseudonymise"], "--key-file", "key.txt", "--out", "safe.csv"]) == 0


def test_a_literal_key_in_a_candidate_is_refused(place, capsys):
    candidate = f"pseudonymise(columns=[id], key='{SECRET}')"
    assert run(["explore", "people.csv", "--quasi", "seen", "--candidate", candidate]) == 2
    said = capsys.readouterr().err
    assert "env:NAME" in said
    assert SECRET not in said


@pytest.mark.parametrize("reference", ["env:NOWHERE", "file:nowhere.txt", "file:empty.txt", "env:", "env:SHORT"])
def test_a_reference_that_leads_nowhere_is_said(place, capsys, monkeypatch, reference):
    (place / "empty.txt").write_text("\n")
    monkeypatch.setenv("SHORT", "short")
    for method in METHODS.values():
        assert run([*method, "--key", reference, "--out", "safe.csv"]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not Path("safe.csv").exists()


def test_only_methods_take_a_key_from_the_command_line():
    """Texts of models, risks and losses are built elsewhere: whoever gives them a key must look there too."""
    kinds = ("model", "risk", "loss", "mechanism", "hierarchy")
    assert [p.name for kind in kinds for p in parts(kind).values() if marked_fields(p, Credential)] == []
    every = [
        (cls, field) for cls in parts("method").values() for field in cls.model_fields if "key" in field.split("_")
    ]
    named = {(cls.name, field, field in marked_fields(cls, Credential)) for cls, field in every}
    assert named == {("pseudonymise", "key", True), ("pseudonymise", "key_file", False), ("shift-dates", "key", True)}
    assert all(field in private_fields(cls) for cls, field in every), "and none is published"


def test_a_refused_parameter_that_is_secret_is_not_shown():
    with pytest.raises(ParameterError) as refused:
        celosia.parts.build("method", {"use": "pseudonymise", "columns": ["id"], "key": 1234567890123456})
    assert "1234567890123456" not in str(refused.value)


# Passwords in the addresses of databases.

COMMANDS = {
    "assess": ["assess", PASSWORD, "--query", "SELECT 1"],
    "init": ["init", PASSWORD, "--query", "SELECT 1"],
    "protect": ["protect", "drop", PASSWORD, "--query", "SELECT 1", "--columns", "a", "--out", "x.csv"],
    "compare": ["compare", PASSWORD, "people.csv"],
    "a population": ["assess", "people.csv", "--require", f"k-map(k=2, population={{url='{PASSWORD}', query='q'}})"],
    "verify": ["verify", "publication", f"--original={PASSWORD}"],
    "store": ["consent", "default", "allow", "--store", PASSWORD],
    "request": ["consent", "request", PASSWORD, "--sql", "SELECT 1"],
    "database": ["consent", "elements", "--sql", "SELECT a FROM t", "--database", PASSWORD],
    "suggest": ["consent", "suggest", PASSWORD, "--query", "SELECT 1"],
    "ledger": ["query", "SELECT COUNT(*) FROM t", "--epsilon", "1", "--ledger", PASSWORD],
    "parameter": ["assess", "postgresql://host.invalid/base?user=ana&password=tr0ub4dor", "--query", "SELECT 1"],
    "with a slash": ["assess", "mysql+pymysql://ana:tr0ub4dor/x@host.invalid/base", "--query", "SELECT 1"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_password_on_the_command_line_is_refused(place, capsys, command):
    assert run(COMMANDS[command]) == 2
    said = capsys.readouterr().err
    assert "a password on the command line" in said
    assert "tr0ub4dor" not in said


@pytest.mark.parametrize(
    "address",
    ["postgresql://ana@host.invalid/base", "postgresql://host.invalid:5432/base", "postgresql://ana:@h.invalid/b"],
)
def test_an_address_without_a_password_is_not(place, capsys, address):
    assert run(["consent", "default", "allow", "--store", address]) == 2
    assert "a password on the command line" not in capsys.readouterr().err


@pytest.mark.parametrize("reference", ["env:PEOPLE", "file:address.txt"])
def test_an_address_by_reference(place, capsys, reference):
    query = "SELECT age, zip FROM people"
    assert run(["assess", reference, "--query", query, "--quasi", "age,zip", "--require", "k-anonymity(k=10)"]) == 0
    assert run(["assess", reference, "--sql", "--query", "people", "--quasi", "age,zip"]) == 0
    assert run(["init", reference, "--query", query, "--out", "policy.toml"]) == 0
    assert tomllib.loads(Path("policy.toml").read_text())["input"]["url"] == reference, "the policy holds the reference"
    assert run(["assess", "policy.toml", "--quasi", "age"]) == 0
    assert celosia.read(reference, query=query).polars().height == 30
    elements = ["consent", "elements", "--sql", "SELECT * FROM people", "--dialect", "sqlite", "--database", reference]
    capsys.readouterr()
    assert run(elements) == 0
    assert "people.zip" in capsys.readouterr().out


def test_a_store_a_ledger_and_a_data_set_by_reference(place, capsys, monkeypatch):
    monkeypatch.setenv("STORE", f"sqlite:///{place / 'choices.db'}")
    monkeypatch.setenv("LEDGER", f"sqlite:///{place / 'book.db'}")
    assert run(["consent", "init", "--store", "env:STORE"]) == 0
    assert run(["consent", "default", "block", "--store", "env:STORE"]) == 0
    assert Path("choices.db").exists()
    declaration = (
        'name = "p"\nepsilon = 1.0\ndatabase = "env:PEOPLE"\n[tables.people.columns]\nage = {type = "integer"}\n'
    )
    Path("dataset.toml").write_text(declaration)
    assert run(["gateway", "init", "--ledger", "env:LEDGER"]) == 0
    assert run(["query", "SELECT COUNT(*) FROM people", "--epsilon", "0.5", "--ledger", "env:LEDGER"]) == 0
    assert run(["gateway", "verify", "--ledger", "env:LEDGER"]) == 0
    assert "charges: 1" in capsys.readouterr().out
    assert run(["gateway", "verify", "--ledger", "env:NOWHERE"]) == 2
    assert "NOWHERE" in capsys.readouterr().err


def test_postgresql_takes_its_password_from_where_it_always_does(place, capsys, monkeypatch, fresh_postgres):
    import psycopg
    import sqlalchemy as sa

    with psycopg.connect(fresh_postgres, autocommit=True) as connection:
        rules = Path(connection.execute("SHOW hba_file").fetchone()[0])
        rules.write_text("local all with_password scram-sha-256\n" + rules.read_text())
        connection.execute("CREATE ROLE with_password LOGIN PASSWORD 'tr0ub4dor'")
        connection.execute("ALTER SCHEMA public OWNER TO with_password")
        connection.execute("SELECT pg_reload_conf()")
    try:
        url = sa.make_url(fresh_postgres).set(username="with_password").render_as_string()
        assert run(["consent", "init", "--store", url]) == 2
        assert "tr0ub4dor" not in capsys.readouterr().err
        monkeypatch.setenv("PGPASSWORD", "tr0ub4dor")
        assert run(["consent", "init", "--store", url]) == 0
        monkeypatch.delenv("PGPASSWORD")
        (place / "pass").write_text("*:*:*:with_password:tr0ub4dor\n")
        (place / "pass").chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(place / "pass"))
        assert run(["consent", "default", "block", "--store", url]) == 0
    finally:
        with psycopg.connect(fresh_postgres, autocommit=True) as connection:
            connection.execute("DROP OWNED BY with_password CASCADE")
            connection.execute("DROP ROLE with_password")
