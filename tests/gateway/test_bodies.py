"""What is sent to the gateway in place of a question: refused with one sentence, never an internal error, never a charge."""

from __future__ import annotations

import re
import socket

import pytest

from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.web import create
from celosia.web.guard import MOST_BYTES

testclient = pytest.importorskip("fastapi.testclient")
SQL = '"sql": "SELECT COUNT(*) FROM person"'
WRONG = {
    **{
        f"epsilon {v}": f'{{{SQL}, "epsilon": {v}}}'
        for v in ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "true")
    },
    **{f"epsilon {v}": f'{{{SQL}, "epsilon": {v}}}' for v in ('"0.1"', "[0.1]", "{}", "-1", "0", '"\\ud800"')},
    **{f"delta {v}": f'{{{SQL}, "epsilon": 0.1, "delta": {v}}}' for v in ("NaN", "true", '"0"', "1", "-1", "null")},
    **{f"announce {v}": f'{{{SQL}, "epsilon": 0.1, "announce": {v}}}' for v in ("true", "1.0", "1e300", '"1"', "0")},
    **{f"fresh {v}": f'{{{SQL}, "epsilon": 0.1, "fresh": {v}}}' for v in ("1", '"yes"', "null", "NaN")},
    **{f"sql {v}": f'{{"sql": {v}, "epsilon": 0.1}}' for v in ("null", "1", '["a"]', '"\\ud800"', '"\\u0000"', '""')},
    "a number of 400 digits": f'{{{SQL}, "epsilon": {"9" * 400}}}',
    "a number of 5000 digits": f'{{{SQL}, "epsilon": {"9" * 5000}}}',
    "lists in lists": "[" * 30_000 + "]" * 30_000,
    "lists in the question": f'{{"sql": {"[" * 20_000}{"]" * 20_000}}}',
    "objects in objects": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "an unknown name": f'{{{SQL}, "epsilon": 0.1, "noise": "none"}}',
    "half a character as a name": f'{{{SQL}, "epsilon": 0.1, "\\ud800": 1}}',
    "no object": "[]",
    "a text": '"x"',
    "null": "null",
    "nothing": "",
    "no JSON": "{",
    "no UTF-8": b'{"sql": "\xff"}',
    "no cost": f"{{{SQL}}}",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    place = tmp_path_factory.mktemp("served")
    (place / "person.csv").write_text("age\n" + "\n".join(str(20 + i % 50) for i in range(500)))
    columns = {"age": {"type": "integer", "bounds": [0, 100]}}
    tables = {"person": {"source": str(place / "person.csv"), "columns": columns}}
    facts = DatasetFacts.of({"name": "small", "epsilon": 1000.0, "tables": tables})
    keys = Keys.create(place / "keys.json")
    gateway = Gateway(facts, Ledger.create(place / "ledger.db"), grid=0)
    app = create(gateway, keys, per_minute=100_000)
    key = keys.add("ana")
    with testclient.TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client, key, gateway
    gateway.close()


@pytest.mark.parametrize("path", ["/api/query", "/api/explain"])
@pytest.mark.parametrize("body", WRONG)
def test_a_wrong_body_is_refused_with_one_sentence(served, path, body):
    client, key, gateway = served
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    content = WRONG[body]
    answer = client.post(path, content=content if isinstance(content, bytes) else content.encode(), headers=headers)
    assert 400 <= answer.status_code < 500, answer.text
    assert list(answer.json()) == ["error"]
    said = answer.json()["error"]
    assert said.endswith(".")
    assert len(said) < 300, "what was sent is not sent back"
    assert gateway.balance("ana").lifetime.spent.loss == 0


def test_a_right_body_is_answered(served):
    client, key, _ = served
    headers = {"Authorization": f"Bearer {key}"}
    for cost in (1, 0.5):
        body = {"sql": "SELECT COUNT(*) FROM person", "epsilon": cost, "delta": 0, "announce": 2}
        assert client.post("/api/explain", json=body, headers=headers).json()["cost"] == {"epsilon": cost / 2}


@pytest.mark.parametrize("limit", ["abc", "NaN", "1e9", "9" * 5000])
def test_a_wrong_parameter_is_refused_with_one_sentence(served, limit):
    client, key, _ = served
    answer = client.get(f"/api/history?limit={limit}", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("limit must be")


@pytest.mark.parametrize("cost", ["nan", "inf", "-inf", "-1", "0", "", "true", "1_0", "٣", "1e400", "x" * 41])
@pytest.mark.parametrize("do", ["ask", "explain"])
def test_a_wrong_cost_in_the_form_is_refused(served, cost, do):
    client, key, gateway = served
    client.post("/login", data={"key": key})
    token = re.search(r'name="token" value="([^"]+)"', client.get("/").text).group(1)
    form = {"token": token, "sql": "SELECT COUNT(*) FROM person", "cost": cost, "do": do}
    answer = client.post("/ask", data=form)
    assert answer.status_code < 500
    assert 'role="alert"' in answer.text or answer.status_code == 422
    assert gateway.balance("ana").lifetime.spent.loss == 0


@pytest.mark.parametrize(
    "headers",
    [{"Content-Length": str(MOST_BYTES + 1)}, {"Transfer-Encoding": "chunked"}, {"Content-Length": b"\xb2"}],
    ids=["long", "without a length", "no number"],
)
def test_a_long_body_is_refused_before_it_is_read(served, headers):
    client, key, _ = served
    answer = client.post("/api/query", content=b"{}", headers={"Authorization": f"Bearer {key}", **headers})
    assert answer.status_code == 413
    assert "bytes" in answer.json()["error"]


def test_a_body_without_end_is_refused_over_a_socket(served, serve):
    client, key, _ = served
    base = serve(client.app)
    host, port = base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = (
            f"POST /api/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(head.encode())
        connection.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        assert b" 413 " in connection.recv(100)
