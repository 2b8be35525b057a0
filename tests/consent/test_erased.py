"""A deleted owner is in no byte of the files of the store, while it is open."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest

from celosia.cli.main import run
from celosia.consent.owners.store import Preferences
from celosia.consent.site.signin import issue
from celosia.consent.site.web import create

testclient = pytest.importorskip("starlette.testclient")
OWNER, CARD = "Zuleika-7731-of-the-registry", "card-of-Zuleika-7731"


@pytest.fixture
def store(tmp_path):
    Preferences.create(tmp_path / "choices.db").close()
    with closing(Preferences(tmp_path / "choices.db", patience=0.5)) as opened:
        opened.add_owners([f"B{i:05d}" for i in range(500)] + [OWNER], {"card": {CARD: OWNER}})
        for block in (True, False, True):
            opened.choose(OWNER, {"residence": block, "timetable": not block}, ["residence", "timetable"])
        for i in range(0, 500, 7):
            opened.choose(f"B{i:05d}", {"residence": True}, ["residence"])
        issue(opened, OWNER)
        yield opened


def traces(place, *words):
    """How often the words are in the bytes of all files of the store."""
    files = [path for path in place.iterdir() if path.name.startswith("choices.db")]
    assert files
    return sum(path.read_bytes().count(word.encode()) for path in files for word in words)


def test_python(store, tmp_path):
    assert traces(tmp_path, OWNER, CARD) > 5
    assert store.forget(OWNER)
    assert traces(tmp_path, OWNER, CARD, "Zuleika") == 0
    assert traces(tmp_path, "B00007") > 0, "the others are there"
    assert len(store.history("B00007")) == 1


def test_the_command_line_beside_a_server_that_has_the_store_open(store, tmp_path, capsys):
    assert run(["consent", "record", OWNER, "--forget", "--store", str(tmp_path / "choices.db")]) == 0
    assert OWNER in capsys.readouterr().out
    assert not store.has(OWNER)
    assert traces(tmp_path, OWNER, CARD, "Zuleika") == 0


def test_the_page(store, tmp_path, catalogue):
    client = testclient.TestClient(create(catalogue, store), follow_redirects=False)
    client.post("/in", data={"token": issue(store, OWNER)})
    form = re.search(r'name="form" value="([^"]+)"', client.get("/").text).group(1)
    client.post("/choices", data={"form": form, "choice:grant": "block"})
    assert client.post("/forget", data={"form": form, "sure": "yes"}).status_code == 303
    assert traces(tmp_path, OWNER, CARD, "Zuleika") == 0


def test_who_reads_at_that_moment_keeps_it_until_the_next_write(store, tmp_path, capsys):
    with closing(sqlite3.connect(tmp_path / "choices.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM consent_owners").fetchone()
        assert not store.forget(OWNER), "it is deleted, but the reader still needs the log"
        assert not store.has(OWNER)
        assert traces(tmp_path, OWNER) > 0
    store.choose("B00001", {"residence": True}, ["residence"])
    assert traces(tmp_path, OWNER, CARD, "Zuleika") == 0


def test_what_could_not_be_erased_is_said_and_goes_with_the_next_deletion(store, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("celosia.consent.commands.PATIENCE", 0.5)
    with closing(sqlite3.connect(tmp_path / "choices.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM consent_owners").fetchone()
        assert run(["consent", "record", OWNER, "--forget", "--store", str(tmp_path / "choices.db")]) == 0
        assert "another program is reading" in capsys.readouterr().err
        assert traces(tmp_path, OWNER) > 0
    assert store.forget("B00001")
    assert traces(tmp_path, OWNER, CARD, "Zuleika", "B00001") == 0
