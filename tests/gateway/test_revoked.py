"""A key that is taken away is worth nothing from that moment on, also where the gateway is serving."""

from __future__ import annotations

import re

import pytest

from celosia.cli.main import run
from celosia.errors import InputError, UnknownName
from celosia.gateway import commands
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.web import create

testclient = pytest.importorskip("fastapi.testclient")
DECLARATION = """
name = "small"
epsilon = 1.0
[tables.person]
source = "person.csv"
[tables.person.columns]
age = {type = "integer", bounds = [0, 100]}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "person.csv").write_text("age\n" + "\n".join(str(20 + i % 50) for i in range(500)))
    (tmp_path / "dataset.toml").write_text(DECLARATION)
    assert run(["gateway", "init"]) == 0
    return tmp_path


@pytest.fixture
def key(place):
    return Keys(place / "keys.json").add("ana")


@pytest.fixture
def client(place, key):
    gateway = Gateway(DatasetFacts.load("dataset.toml"), Ledger("ledger.db"), grid=0)
    with testclient.TestClient(create(gateway, Keys("keys.json")), follow_redirects=False) as opened:
        yield opened
    gateway.close()


def asked(client, key):
    return client.get("/api/budget", headers={"Authorization": f"Bearer {key}"}).status_code


def signed_in(client):
    return "Budget" in client.get("/").text


def test_a_key_that_another_process_removes_ends_at_once(client, key, place, capsys):
    assert asked(client, key) == 200
    client.post("/login", data={"key": key})
    page = client.get("/").text
    token = re.search(r'name="token" value="([^"]+)"', page).group(1)
    other = Keys("keys.json").add("berta")
    assert run(["gateway", "key", "ana", "--remove"]) == 0
    assert asked(client, key) == 401
    assert asked(client, other) == 200, "a key that was made while it serves counts too"
    assert not signed_in(client), "her visit has ended with her key"
    form = {"token": token, "sql": "SELECT COUNT(*) FROM person", "cost": "0.1", "do": "ask"}
    assert client.post("/ask", data=form).status_code == 401
    assert client.post("/login", data={"key": key}).status_code == 401
    assert run(["gateway", "verify"]) == 0
    assert "charges: 0" in capsys.readouterr().out


def test_a_new_key_ends_the_visits_of_the_old_one(client, key):
    client.post("/login", data={"key": key})
    assert signed_in(client)
    new = Keys("keys.json").add("ana")
    assert not signed_in(client)
    assert (asked(client, key), asked(client, new)) == (401, 200)


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"x": "ana"}'])
def test_a_file_of_keys_that_cannot_be_read_lets_nobody_in(client, key, place, content):
    client.post("/login", data={"key": key})
    good = (place / "keys.json").read_text()
    (place / "keys.json").unlink() if content is None else (place / "keys.json").write_text(content)
    assert asked(client, key) == 401
    assert not signed_in(client)
    (place / "keys.json").write_text(good)
    assert asked(client, key) == 200


def test_removing_is_said_and_checked(place, key, capsys):
    assert run(["gateway", "key", "anna", "--remove"]) == 2
    assert "Did you mean 'ana'" in capsys.readouterr().err
    keys = Keys("keys.json")
    assert keys.analyst(key) == "ana"
    with pytest.raises(UnknownName):
        keys.remove("anna")
    assert run(["gateway", "key", "ana", "--remove"]) == 0
    assert keys.analyst(key) is None
    assert "ana" in capsys.readouterr().out
    with pytest.raises(InputError, match="no analyst has a key"):
        commands.serve("dataset.toml")


def test_two_who_write_one_after_the_other_keep_what_both_did(place):
    one, other = Keys("keys.json"), Keys("keys.json")
    first, second = one.add("ana"), other.add("berta")
    assert (one.analyst(second), other.analyst(first)) == ("berta", "ana")
    other.remove("ana")
    assert one.analyst(one.add("carla")) == "carla"
    assert one.analyst(first) is None, "a key that was taken away does not come back"
