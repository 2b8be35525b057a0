"""The administrator's page: its own key, what each analyst spent, keys that can be taken away, questions without values."""

from __future__ import annotations

import re

import pytest

from celosia.cli.main import run
from celosia.errors import InputError
from celosia.gateway import commands
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import ADMIN, Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.overview import holders, without_values
from celosia.gateway.site.web import create

testclient = pytest.importorskip("fastapi.testclient")
SECRETS = ("Zuleika", "7731", "Canary")
QUESTION = (
    """SELECT COUNT(*) AS "Zuleika" FROM person AS canary WHERE age = 77.31 AND name = 'Canary 7731' -- Zuleika"""
)


@pytest.fixture
def facts(tmp_path):
    (tmp_path / "person.csv").write_text("age,name\n" + "\n".join(f"{20 + i % 50},N{i}" for i in range(200)))
    columns = {"age": {"type": "number", "bounds": [0, 100]}, "name": {"type": "text"}}
    declared = {"name": "small", "epsilon": 2.0, "shares": [{"analyst": "ana", "period": "month", "epsilon": 0.5}]}
    tables = {"person": {"source": str(tmp_path / "person.csv"), "columns": columns}}
    return DatasetFacts.of({**declared, "tables": tables})


@pytest.fixture
def served(facts, tmp_path):
    keys = Keys.create(tmp_path / "keys.json")
    held = {"ana": keys.add("ana"), "berta": keys.add("berta"), ADMIN: keys.add_administrator()}
    gateway = Gateway(facts, Ledger.create(tmp_path / "ledger.db"), grid=0)
    gateway.ask("SELECT AVG(age) FROM person", epsilon=0.125, analyst="ana")
    gateway.ask(QUESTION, epsilon=0.25, analyst="carla")
    with testclient.TestClient(create(gateway, keys), follow_redirects=False) as client:
        yield client, held, gateway, keys
    gateway.close()


def enter(client, key):
    place = client.post("/login", data={"key": key}).headers.get("location")
    page = client.get(place).text
    return place, page, re.search(r'name="token" value="([^"]+)"', page).group(1)


def test_the_page_tells_who_spent_what_and_who_has_a_key(served):
    client, held, gateway, keys = served
    place, page, _ = enter(client, held[ADMIN])
    assert place == "/admin"
    assert "0.375 of 2 spent" in page
    assert "Share of ana in 20" in page
    assert "0.375 of 0.5 left" in page
    assert [(one.name, one.has_key, one.spent) for one in holders(gateway, keys)] == [
        ("ana", True, 0.125),
        ("berta", True, 0.0),
        ("carla", False, 0.25),
    ]
    assert page.count('action="/admin/revoke"') == 2
    assert "<script" not in page


def test_questions_are_shown_without_their_values(served):
    client, held, _, _ = served
    _, page, _ = enter(client, held[ADMIN])
    assert "SELECT COUNT(*) AS … FROM person AS … WHERE age = … AND name = …" in page
    assert [secret for secret in (*SECRETS, "77.31") if secret in page] == []


@pytest.mark.parametrize(
    "sql",
    [
        QUESTION,
        "SELECT SUM(CASE WHEN name LIKE 'Zuleika%' THEN 1 ELSE 0 END) FROM person /* Canary */",
        "SELECT COUNT(*) FROM person WHERE name IN ('Zuleika', 'Canary') HAVING COUNT(*) > 7731",
        "SELECT FLOOR(age / 7731) AS canary, COUNT(*) FROM person GROUP BY FLOOR(age / 7731) ORDER BY canary LIMIT 7731",
        "not a question about Zuleika Canary-7731",
    ],
)
def test_no_value_or_name_of_an_analyst_is_left(facts, sql):
    shown = without_values(sql, facts)
    assert [secret for secret in SECRETS if secret.lower() in shown.lower()] == []
    assert "…" in shown


def test_a_key_is_taken_away_after_a_yes(served):
    client, held, _, keys = served
    bearer = {"Authorization": f"Bearer {held['berta']}"}
    _, _, token = enter(client, held[ADMIN])
    form = {"token": token, "analyst": "berta"}
    refused = client.post("/admin/revoke", data=form)
    assert (refused.status_code, "Tick the box" in refused.text) == (422, True)
    assert client.post("/admin/revoke", data={**form, "token": "x", "sure": "yes"}).status_code == 401
    assert client.post("/admin/revoke", data={**form, "analyst": ADMIN, "sure": "yes"}).status_code == 422
    assert client.post("/admin/revoke", data={**form, "analyst": "dora", "sure": "yes"}).status_code == 422
    assert client.get("/api/budget", headers=bearer).status_code == 200
    done = client.post("/admin/revoke", data={**form, "sure": "yes"})
    assert (done.status_code, done.headers["location"]) == (303, "/admin?revoked=1")
    assert 'role="status"' in client.get("/admin?revoked=1").text
    assert client.get("/api/budget", headers=bearer).status_code == 401
    assert keys.names() == ["ana"]


def test_an_analyst_does_not_see_it_and_the_administrator_asks_nothing(served):
    client, held, gateway, _ = served
    _, page, token = enter(client, held["ana"])
    assert client.get("/admin").status_code == 401
    assert client.post("/admin/revoke", data={"token": token, "analyst": "berta", "sure": "yes"}).status_code == 401
    assert "berta" not in page
    client.post("/logout")
    _, _, token = enter(client, held[ADMIN])
    assert client.get("/").headers["location"] == "/admin"
    form = {"token": token, "sql": "SELECT COUNT(*) FROM person", "cost": "0.1", "do": "ask"}
    assert client.post("/ask", data=form).status_code == 401
    assert client.get("/answer/2.csv").status_code == 401
    asked = {"sql": "SELECT COUNT(*) FROM person", "epsilon": 0.1}
    headers = {"Authorization": f"Bearer {held[ADMIN]}"}
    assert client.post("/api/query", json=asked, headers=headers).status_code == 401
    assert gateway.balance().lifetime.spent.loss == 0.375


def test_a_stranger_sees_only_the_form(served):
    client, *_ = served
    page = client.get("/admin")
    assert (page.status_code, 'name="key"' in page.text, "ana" in page.text) == (401, True, False)


def test_a_new_key_of_the_administrator_ends_the_visits_of_the_old_one(served):
    client, held, _, keys = served
    enter(client, held[ADMIN])
    keys.add_administrator()
    assert client.get("/admin").status_code == 401
    keys.remove_administrator()
    with pytest.raises(InputError, match="there is no administrator's key"):
        keys.remove_administrator()


def test_the_command_makes_and_removes_it(facts, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dataset.toml").write_text(
        'name = "small"\nepsilon = 1.0\n[tables.person]\nsource = "person.csv"\n[tables.person.columns]\n'
        'age = {type = "number", bounds = [0, 100]}\n'
    )
    assert run(["gateway", "init"]) == 0
    capsys.readouterr()
    assert run(["gateway", "key", "--admin"]) == 0
    keys = Keys("keys.json")
    assert (len(keys), keys.analyst(capsys.readouterr().out.strip())) == (0, None)
    with pytest.raises(InputError, match="no analyst has a key"):
        commands.serve("dataset.toml")
    for wrong in (["gateway", "key"], ["gateway", "key", "ana", "--admin"]):
        assert run(wrong) == 2
        assert "name an analyst, or give --admin" in capsys.readouterr().err
    assert run(["gateway", "key", "--admin", "--remove"]) == 0
    assert "the administrator's key is revoked" in capsys.readouterr().out
