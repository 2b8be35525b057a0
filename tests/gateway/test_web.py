from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest

from celosia.errors import InputError
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.web import create
from celosia.web.limits import RateLimit

testclient = pytest.importorskip("fastapi.testclient")


@pytest.fixture
def small(tmp_path):
    (tmp_path / "person.csv").write_text("age,sex\n" + "\n".join(f"{20 + i % 50},{'FM'[i % 2]}" for i in range(500)))
    return DatasetFacts.of(
        {
            "name": "small",
            "epsilon": 1.0,
            "shares": [{"analyst": "*", "epsilon": 0.5}],
            "tables": {
                "person": {
                    "source": str(tmp_path / "person.csv"),
                    "columns": {
                        "age": {"type": "integer", "bounds": [0, 100]},
                        "sex": {"type": "text", "categories": ["F", "M"]},
                    },
                }
            },
        }
    )


@pytest.fixture
def served(small, tmp_path):
    keys = Keys.create(tmp_path / "keys.json")
    key = keys.add("ana")
    gateway = Gateway(small, Ledger.create(tmp_path / "ledger.db"), grid=0)
    with testclient.TestClient(create(gateway, keys, per_minute=60), follow_redirects=False) as client:
        yield client, key, gateway
    gateway.close()


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_json_interface(served):
    client, key, _ = served
    asked = {"sql": "SELECT COUNT(*) FROM person", "epsilon": 0.1}
    answer = client.post("/api/query", json=asked, headers=bearer(key))
    assert answer.status_code == 200
    body = answer.json()
    assert abs(body["rows"][0]["count"]["value"] - 500) < 200
    assert body["cost"] == {"epsilon": 0.1}
    assert body["left"] == {"epsilon": 0.4}
    again = client.post("/api/query", json=asked, headers=bearer(key)).json()
    assert again["stored"]
    assert again["rows"] == body["rows"]
    assert again["cost"] == {"epsilon": 0}
    explained = client.post("/api/explain", json=asked, headers=bearer(key)).json()
    assert explained["numbers"][0]["half width"] == 30
    budget = client.get("/api/budget", headers=bearer(key)).json()
    assert [limit["left"]["epsilon"] for limit in budget["limits"]] == [0.9, 0.4]
    history = client.get("/api/history", headers=bearer(key)).json()
    assert [entry["kind"] for entry in history] == ["repeat", "answer", "charge"]
    schema = client.get("/api/schema", headers=bearer(key)).json()
    assert schema["person"]["columns"]["age"]["bounds"] == [0, 100]
    assert "source" not in schema["person"]
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/api/query", "/api/explain", "/api/budget", "/api/history", "/api/schema"}


def test_refusals_have_their_status(served):
    client, key, _ = served

    def status(**more):
        return client.post(
            "/api/query", json={"sql": "SELECT COUNT(*) FROM person", "epsilon": 0.1, **more}, headers=bearer(key)
        )

    assert status(sql="SELECT * FROM person").status_code == 400
    assert status(epsilon=0.6).status_code == 403
    assert "share of 'ana'" in status(epsilon=0.6).json()["error"]
    assert status(epsilon=-1).status_code == 422
    assert status(sql="x" * 20_000).status_code == 422
    assert status(nonsense=1).status_code == 422
    assert client.post("/api/query", content=b"x" * 100_000, headers=bearer(key)).status_code == 413


def test_a_key_is_needed(served, tmp_path):
    client, key, _ = served
    asked = {"sql": "SELECT COUNT(*) FROM person", "epsilon": 0.1}
    for headers in ({}, bearer("wrong"), {"Authorization": f"Basic {key}"}, bearer("")):
        assert client.post("/api/query", json=asked, headers=headers).status_code == 401
    assert key not in (tmp_path / "keys.json").read_text()
    assert (tmp_path / "keys.json").stat().st_mode & 0o777 == 0o600
    keys = Keys(tmp_path / "keys.json")
    assert keys.analyst(key) == "ana"
    assert keys.add("ana") != key
    assert keys.analyst(key) is None
    with pytest.raises(InputError):
        keys.add("*")


def test_rate_limit(served):
    client, key, _ = served
    statuses = [client.get("/api/budget", headers=bearer(key)).status_code for _ in range(65)]
    assert statuses.count(429) >= 1
    assert statuses[:60] == [200] * 60
    limit = RateLimit(60)
    assert [limit.wait("a") for _ in range(60)] == [0.0] * 60
    assert 0 < limit.wait("a") <= 1
    assert limit.wait("b") == 0


def sign_in(client, key):
    client.post("/login", data={"key": key})
    page = client.get("/").text
    return page, re.search(r'name="token" value="([^"]+)"', page).group(1)


def test_page_without_a_key_shows_only_the_form(served):
    client, _, _ = served
    page = client.get("/")
    assert 'name="key"' in page.text
    assert "Budget" not in page.text
    assert client.post("/login", data={"key": "wrong"}).status_code == 401
    assert client.post("/ask", data={"token": "x", "sql": "SELECT", "cost": "1"}).status_code == 401
    headers = page.headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"


def test_page_explains_asks_and_shows_history(served):
    client, key, gateway = served
    page, token = sign_in(client, key)
    assert "<meter" in page
    assert "0.5 of 0.5 left" in page
    assert "<script" not in page
    form = {"token": token, "sql": "SELECT sex, COUNT(*) FROM person GROUP BY sex", "cost": "0,2"}
    explained = client.post("/ask", data={**form, "do": "explain"}).text
    assert "This query costs epsilon 0.2" in explained
    assert gateway.balance("ana").lifetime.spent.loss == 0
    asked = client.post("/ask", data={**form, "do": "ask"}, follow_redirects=True).text
    assert '<th scope="col">sex</th>' in asked
    assert "0.3 of 0.5 left" in asked
    assert "GROUP BY sex</code>" in asked
    assert asked.count("<circle") == 2
    again = client.post("/ask", data={**form, "do": "ask"}, follow_redirects=True).text
    assert "answered before: this cost nothing." in again
    refused = client.post("/ask", data={**form, "sql": "SELECT '<b>' FROM person", "do": "ask"})
    assert refused.status_code == 400
    assert 'role="alert"' in refused.text
    assert "<b>" not in refused.text
    assert client.post("/ask", data={**form, "token": "forged", "do": "ask"}).status_code == 401
    assert client.post("/ask", data={**form, "cost": "0,4", "do": "ask"}).status_code == 403
    client.post("/logout")
    assert 'name="key"' in client.get("/").text


def test_to_load_an_answer_again_charges_nothing(served):
    client, key, gateway = served
    _, token = sign_in(client, key)
    form = {"token": token, "sql": "SELECT COUNT(*) FROM person", "cost": "0.1", "fresh": "yes", "do": "ask"}
    place = client.post("/ask", data=form).headers["location"]
    assert [client.get(place).status_code for _ in range(3)] == [200, 200, 200]
    assert gateway.balance("ana").lifetime.spent.loss == 0.1


def test_an_example_stands_in_the_form_and_asks_nothing(served):
    client, key, gateway = served
    page, _ = sign_in(client, key)
    assert page.count('href="/?example=') == 3
    chosen = client.get("/?example=2").text
    assert re.search(r"<textarea[^>]*>\nSELECT &#34;sex&#34;, COUNT\(\*\)", chosen)
    assert gateway.ledger.history("small", "ana") == []
    assert "<textarea" in client.get("/?example=99").text


def test_an_answer_is_a_file_for_those_who_were_given_it(served, tmp_path):
    client, key, _ = served
    other = Keys(tmp_path / "keys.json").add("berta")
    _, token = sign_in(client, key)
    form = {"token": token, "sql": "SELECT sex, COUNT(*) AS n FROM person GROUP BY sex", "cost": "0.1", "do": "ask"}
    charge = re.search(r"answer=(\d+)", client.post("/ask", data=form).headers["location"]).group(1)
    table = client.get(f"/answer/{charge}.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert table.text.splitlines()[0] == "sex,n,n error,n low,n high"
    client.post("/logout")
    assert client.get(f"/answer/{charge}.csv").status_code == 401
    _, token = sign_in(client, other)
    assert client.get(f"/answer/{charge}.csv").status_code == 400, "berta was not given it"
    assert "<circle" not in client.get(f"/?answer={charge}").text
    client.post("/ask", data={**form, "token": token})
    assert client.get(f"/answer/{charge}.csv").text == table.text, "now she was, for nothing"


@pytest.mark.parametrize(("language", "word"), [("en", "Budget"), ("es", "Presupuesto"), ("ca", "Pressupost")])
def test_the_page_is_in_the_language_asked_for(served, language, word):
    client, key, _ = served
    client.post("/login", data={"key": key})
    assert f'<html lang="{language}">' in client.get("/", headers={"accept-language": language}).text
    page = client.get(f"/?lang={language}").text
    assert word in page
    assert f'<html lang="{language}">' in client.get("/").text, "it is remembered"
    token = re.search(r'name="token" value="([^"]+)"', page).group(1)
    refused = client.post("/ask", data={"token": token, "sql": "DELETE FROM person", "cost": "1"}).text
    said = {"en": "Only queries are answered", "es": "Solo se responden consultas", "ca": "Només es responen"}
    assert said[language] in refused


def test_cookie_is_strict(served):
    client, key, _ = served
    cookie = client.post("/login", data={"key": key}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_every_control_has_a_label(served):
    client, key, _ = served
    page, _ = sign_in(client, key)
    for name in re.findall(r'<(?:input|textarea)(?![^>]*type="hidden")[^>]*id="([^"]+)"', page):
        assert f'for="{name}"' in page
    assert '<html lang="en">' in page
    assert page.count("<h1>") == 1
    assert page.count("<table>") == page.count("<caption>")


def test_a_lock_of_the_ledger_is_said_and_nothing_is_charged(small, tmp_path):
    keys = Keys.create(tmp_path / "keys.json")
    key, place = keys.add("ana"), tmp_path / "ledger.db"
    Ledger.create(place).close()
    gateway = Gateway(small, Ledger(place, patience=0.5), grid=0)
    asked = {"sql": "SELECT COUNT(*) FROM person", "epsilon": 0.1}
    with testclient.TestClient(create(gateway, keys), follow_redirects=False) as client:
        with closing(sqlite3.connect(place, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            found = [client.post("/api/query", json=asked, headers=bearer(key)) for _ in range(2)]
            assert client.get("/api/budget", headers=bearer(key)).json()["left"] == {"epsilon": 0.5}
        assert [one.status_code for one in found] == [503, 503]
        assert "in use by another program" in found[0].json()["error"]
        assert client.post("/api/query", json=asked, headers=bearer(key)).status_code == 200
    assert gateway.balance("ana").lifetime.spent.loss == 0.1
    assert gateway.ledger.verify("small").holds
    gateway.close()
