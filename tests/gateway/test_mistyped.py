"""Nothing is created by being mistyped: not a ledger, not a budget, not a file of keys. One command creates."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from celosia.cli.main import run
from celosia.data.io.durable import Unavailable
from celosia.errors import InputError, OutputError, UnknownName
from celosia.gateway import commands
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.kernels.budget.cost import Cost

DECLARATION = """
name = "clinic"
epsilon = 1.0
[tables.person]
source = "person.csv"
[tables.person.columns]
age = {type = "integer", bounds = [0, 100]}
"""
COUNT = "SELECT COUNT(*) FROM person"
COMMANDS = {
    "query": ["query", COUNT, "--epsilon", "0.1"],
    "verify": ["gateway", "verify"],
    "serve": ["gateway", "serve", "--port", "1"],
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "person.csv").write_text("age\n" + "\n".join(str(20 + i % 50) for i in range(500)))
    (tmp_path / "dataset.toml").write_text(DECLARATION)
    return tmp_path


@pytest.fixture
def begun(place, capsys):
    assert run(["gateway", "init"]) == 0
    assert run(["gateway", "key", "ana"]) == 0
    capsys.readouterr()
    return place


def test_one_command_creates_the_ledger_the_budget_and_the_keys(place, capsys):
    assert run(["gateway", "init"]) == 0
    assert sorted(path.name for path in place.iterdir()) == ["dataset.toml", "keys.json", "ledger.db", "person.csv"]
    assert [stat.S_IMODE((place / name).stat().st_mode) for name in ("ledger.db", "keys.json")] == [0o600, 0o600]
    capsys.readouterr()
    assert run(["query", COUNT, "--epsilon", "0.1"]) == 0
    assert run(["gateway", "init"]) == 0, "what is there stays"
    assert commands.verify("dataset.toml").charges == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistyped_ledger_is_refused_and_not_created(begun, capsys, command):
    before = sorted(begun.iterdir())
    assert run([*COMMANDS[command], "--ledger", "legder.db"]) == 2
    said = capsys.readouterr().err
    assert "there is no ledger 'legder.db'" in said
    assert "celosia gateway init" in said
    assert sorted(begun.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", ["", "no database at all " * 100, "sqlite", "choices"])
def test_what_is_no_ledger_is_refused_and_left_as_it_is(begun, capsys, command, content):
    other = begun / "other.db"
    if content == "choices":
        from celosia.consent.owners.store import Preferences

        Preferences.create(other).close()
    elif content == "sqlite":
        with closing(sqlite3.connect(other)) as connection:
            connection.execute("CREATE TABLE celosia_budgets (dataset TEXT)")
    else:
        other.write_text(content)
    before = other.read_bytes()
    assert run([*COMMANDS[command], "--ledger", "other.db"]) == 2
    said = capsys.readouterr().err
    assert "other.db" in said
    assert len(said.strip().splitlines()) == 1
    assert other.read_bytes() == before


def test_a_ledger_in_python_is_created_by_its_own_verb(tmp_path):
    with pytest.raises(InputError, match="there is no ledger"):
        Ledger(tmp_path / "ledger.db")
    Ledger.create(tmp_path / "ledger.db").close()
    with pytest.raises(OutputError, match="there already"):
        Ledger.create(tmp_path / "ledger.db")
    Ledger(tmp_path / "ledger.db").close()


def test_a_database_on_a_server_becomes_a_ledger_only_when_asked(fresh_postgres):
    with pytest.raises(InputError, match="is no ledger"):
        Ledger(fresh_postgres)
    Ledger.create(fresh_postgres).close()
    with pytest.raises(OutputError, match="already"):
        Ledger.create(fresh_postgres)
    Ledger(fresh_postgres).close()


def test_a_server_that_does_not_answer_is_said_in_a_sentence(begun, capsys):
    assert run(["gateway", "verify", "--ledger", f"postgresql://ana@/nowhere?host={begun}"]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_renamed_data_set_gets_no_second_budget(begun, capsys):
    (begun / "dataset.toml").write_text(DECLARATION.replace("clinic", "clinik"))
    assert run(["query", COUNT, "--epsilon", "0.1"]) == 2
    assert "Did you mean 'clinic'" in capsys.readouterr().err
    assert run(["gateway", "init"]) == 0, "said with the command that creates, it is a data set of its own"
    assert run(["query", COUNT, "--epsilon", "0.1"]) == 0
    with closing(Ledger(begun / "ledger.db")) as ledger:
        assert ledger.datasets() == ["clinic", "clinik"]


def test_the_second_data_set_of_a_ledger_is_added_by_name(ledger: Ledger):
    ledger.open("first", Cost.pure(1.0))
    with pytest.raises(UnknownName, match="Did you mean 'first'"):
        ledger.open("frist", Cost.pure(1.0))
    ledger.add("second", Cost.pure(1.0))
    ledger.open("second", Cost.pure(1.0))
    assert ledger.datasets() == ["first", "second"]


def test_a_type_that_no_value_has_binds_nothing(place, capsys):
    (place / "dataset.toml").write_text(DECLARATION.replace('{type = "integer", bounds = [0, 100]}', '{type = "date"}'))
    assert run(["gateway", "init"]) == 2
    assert "declared date, but none of its values is" in capsys.readouterr().err
    assert sorted(path.name for path in place.iterdir()) == ["dataset.toml", "person.csv"]


def test_a_declaration_that_does_not_fit_binds_nothing(place, capsys):
    (place / "dataset.toml").write_text(DECLARATION.replace("age =", "aeg ="))
    assert run(["gateway", "init"]) == 2
    assert "no column 'aeg'" in capsys.readouterr().err
    assert sorted(path.name for path in place.iterdir()) == ["dataset.toml", "person.csv"]


@pytest.mark.parametrize("command", [["key", "berta"], ["serve", "--port", "1"]])
def test_a_mistyped_file_of_keys_is_refused_and_not_created(begun, capsys, command):
    assert run(["gateway", *command, "--keys", "kyes.json"]) == 2
    assert "there is no file of keys 'kyes.json'" in capsys.readouterr().err
    assert not (begun / "kyes.json").exists()
    with pytest.raises(InputError, match="there is no file of keys"):
        Keys(begun / "kyes.json")


@pytest.mark.parametrize("content", ["", "no JSON", "[]", '{"a": 1}', "\udcff", "[" * 100_000, '{"abc": "ana"}'])
def test_what_is_no_file_of_keys_is_refused(begun, capsys, content):
    (begun / "other.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert run(["gateway", "key", "berta", "--keys", "other.json"]) == 2
    assert "is not a file of keys" in capsys.readouterr().err
    assert (begun / "other.json").read_bytes() == content.encode("utf-8", "surrogateescape")


def test_an_explanation_needs_no_ledger(place, capsys):
    assert run(["query", COUNT, "--epsilon", "0.1", "--explain"]) == 0
    assert "30" in capsys.readouterr().out
    assert not (place / "ledger.db").exists()


def test_checking_a_ledger_does_not_write_to_it(begun, capsys):
    path = begun / "ledger.db"
    before = path.read_bytes()
    assert run(["gateway", "verify"]) == 0
    assert path.read_bytes() == before
    with closing(Ledger(path, reading=True)) as ledger, pytest.raises(Unavailable, match="cannot be read or written"):
        ledger.add("other", Cost.pure(1.0))


def test_a_missing_log_is_said_in_a_sentence(begun, capsys):
    assert run(["gateway", "audit", "nowhere.sql"]) == 2
    assert "nowhere.sql" in capsys.readouterr().err


def test_a_declaration_that_is_not_there_is_refused(tmp_path: Path, capsys):
    for command in (["init"], ["key", "ana"], ["verify"]):
        assert run(["gateway", *command, "--dataset", str(tmp_path / "nowhere.toml")]) == 2
    assert list(tmp_path.iterdir()) == []
