"""No page, file or line of the history shows an answer or a failure before the time grid releases it."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from celosia.errors import InputError
from celosia.gateway import gateway as module
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.web import create

testclient = pytest.importorskip("fastapi.testclient")
QUERY = {"sql": "SELECT COUNT(*) AS n FROM t", "epsilon": 0.1}


@pytest.mark.parametrize("kind", ["answer", "failure"])
def test_nothing_is_shown_before_its_release(kind, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("age\n" + "30\n" * 50)
    columns = {"age": {"type": "integer", "bounds": [0, 100]}}
    tables = {"t": {"source": str(tmp_path / "t.csv"), "columns": columns}}
    computed, release, responses = threading.Event(), threading.Event(), []

    def delay(_grid):
        computed.set()
        assert release.wait(20)
        return 0.0

    def fail(_sql):
        raise ValueError

    monkeypatch.setattr(module, "random_delay", delay)
    facts, keys = DatasetFacts.of({"name": "t", "epsilon": 1.0, "tables": tables}), Keys.create(tmp_path / "keys.json")
    with closing(Gateway(facts, Ledger.create(tmp_path / "ledger.db"), grid=0.01)) as gateway:
        if kind == "failure":
            monkeypatch.setattr(gateway._database, "_rows", fail)
        key = keys.add("eve")
        client = testclient.TestClient(create(gateway, keys))
        client.post("/login", data={"key": key})
        client.headers["Authorization"] = f"Bearer {key}"
        asking = threading.Thread(target=lambda: responses.append(client.post("/api/query", json=QUERY)))
        asking.start()
        try:
            assert computed.wait(20)
            (charge,) = (entry for entry in gateway.ledger.history("t", "eve") if entry.kind == "charge")
            addresses = f"/answer/{charge.seq}.csv", f"/?answer={charge.seq}"
            early = [client.get(address).status_code for address in addresses]
            lines = [line["kind"] for line in client.get("/api/history").json()]
            kinds = [entry.kind for entry in gateway.ledger.history("t", "eve")]
            with pytest.raises(InputError, match="has no answer"):
                gateway.ledger.stored_answer("t", charge.seq)
            assert gateway.ledger.verify("t").answers == 0
        finally:
            release.set()
            asking.join()
        assert (early, lines, kinds) == ([400, 400], ["charge"], ["charge"])
        assert [line["kind"] for line in client.get("/api/history").json()] == [kind, "charge"]
        shown = kind == "answer"
        assert [client.get(address).status_code == 200 for address in addresses] == [shown, shown]
        assert [response.status_code == 200 for response in responses] == [shown]
