"""Nothing is created by being mistyped: a store of choices that is not there, or is none, is refused by every command."""

from __future__ import annotations

import os
import pwd
import sqlite3
from contextlib import closing

import pytest

from celosia.cli.main import run
from celosia.consent.owners.store import Preferences
from celosia.errors import InputError, OutputError

PLACES = "province,canton,district"
REQUEST = ["consent", "request", "sqlite:///u.db", "--sql", "@query.sql", "--catalogue", "inferences.toml", "--k", "10"]
REQUEST += ["--owner", "student.card", "--quasi", PLACES, "--tree", PLACES, "--identifiers", "name", "--no-measure"]
COMMANDS = {
    "request": REQUEST,
    "load": ["consent", "load", "choices.csv", "--catalogue", "inferences.toml"],
    "owners": ["consent", "owners", "choices.csv"],
    "link": ["consent", "link", "B00001"],
    "record": ["consent", "record", "B00001"],
    "forget": ["consent", "record", "B00001", "--forget"],
    "default": ["consent", "default", "block"],
    "serve": ["consent", "serve", "--catalogue", "inferences.toml", "--port", "1"],
    "verify": ["verify", "publication", "--original", "sqlite:///u.db", "--catalogue", "inferences.toml"],
}


@pytest.fixture
def place(tmp_path, monkeypatch, students):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inferences.toml").write_text(students.CATALOGUE)
    (tmp_path / "query.sql").write_text(students.SQL)
    (tmp_path / "choices.csv").write_text("owner,inference,block\nB00001,residence,yes\n")
    students.fill(f"sqlite:///{tmp_path / 'u.db'}", 200)
    Preferences.create("consent.db").close()
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistyped_store_is_refused_and_nothing_is_published(place, capsys, command):
    before = sorted(place.iterdir())
    assert run([*COMMANDS[command], "--store", "consnet.db"]) == 2
    said = capsys.readouterr().err
    assert "there is no store of choices 'consnet.db'" in said
    assert "celosia consent init" in said
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", ["", "no database at all " * 100, "sqlite"])
def test_what_is_no_store_is_refused_and_left_as_it_is(place, capsys, command, content):
    other = place / "other.db"
    if content == "sqlite":
        with closing(sqlite3.connect(other)) as connection:
            connection.execute("CREATE TABLE consent_choices (owner TEXT)")
    else:
        other.write_text(content)
    before, names = other.read_bytes(), sorted(path.name for path in place.iterdir())
    assert run([*COMMANDS[command], "--store", "other.db"]) == 2
    said = capsys.readouterr().err
    assert "other.db" in said
    assert len(said.strip().splitlines()) == 1
    assert other.read_bytes() == before
    assert sorted(p.name for p in place.iterdir() if not p.name.startswith("other.db-")) == names


def test_one_command_creates_and_only_once(place, capsys):
    assert run(["consent", "init", "--store", "new.db"]) == 0
    assert run(["consent", "default", "block", "--store", "new.db"]) == 0
    assert run(["consent", "init", "--store", "new.db"]) == 2
    assert "there already" in capsys.readouterr().err
    with closing(Preferences("new.db")) as store:
        assert store.default is True, "what was there is as it was"


def test_a_store_in_python_is_created_by_its_own_verb(tmp_path):
    with pytest.raises(InputError, match="there is no store of choices"):
        Preferences(tmp_path / "choices.db")
    Preferences.create(tmp_path / "choices.db").close()
    with pytest.raises(OutputError, match="there already"):
        Preferences.create(tmp_path / "choices.db")
    Preferences(tmp_path / "choices.db").close()


def test_a_database_on_a_server_becomes_a_store_only_when_asked(fresh_postgres):
    with pytest.raises(InputError, match="is no store of choices"):
        Preferences(fresh_postgres)
    Preferences.create(fresh_postgres).close()
    with pytest.raises(OutputError, match="already"):
        Preferences.create(fresh_postgres)
    with closing(Preferences(fresh_postgres, reading=True)) as store:
        assert store.count() == 0
        with pytest.raises(Exception, match="read-only"):
            store.set_default(block=True)


def test_looking_at_a_record_does_not_write(place, capsys):
    with closing(Preferences("consent.db")) as store:
        store.choose("B00001", {"residence": True}, ["residence"])
    before = (place / "consent.db").read_bytes()
    assert run(["consent", "record", "B00001"]) == 0
    assert (place / "consent.db").read_bytes() == before
    with closing(Preferences("consent.db", reading=True)) as store, pytest.raises(Exception, match="readonly"):
        store.set_default(block=True)


def test_a_store_in_a_directory_that_cannot_be_written_is_read(place):
    if os.geteuid() != 0:
        pytest.skip("needs the right to become another user")
    with closing(Preferences("consent.db")) as store:
        store.choose("B00001", {"residence": True}, ["residence"])
    (place / "consent.db").chmod(0o644)
    for path in (place, *list(place.parents)[:-2]):
        path.chmod(0o755)
    child = os.fork()
    if child == 0:
        try:
            os.setuid(pwd.getpwnam("nobody").pw_uid)
            with closing(Preferences("consent.db", reading=True)) as store:
                os._exit(7 if store.count() == 1 else 1)
        finally:  # the child must not fall back into pytest
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
