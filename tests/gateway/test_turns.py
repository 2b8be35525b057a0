"""Pages and budgets do not wait behind queries, nor the queries of one analyst behind those of another."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from contextlib import closing

import pytest

from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.turns import MOST_OF_ONE
from celosia.gateway.site.web import create

pytest.importorskip("uvicorn")
QUERY = {"sql": "SELECT COUNT(*) FROM t", "epsilon": 0.001, "fresh": True}


def call(address, key, body=None):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(address, data, headers), timeout=10) as answer:
        return answer.status


def test_a_budget_does_not_wait_behind_sixty_queries_of_another(tmp_path, serve, monkeypatch):
    (tmp_path / "t.csv").write_text("age\n30\n")
    columns = {"age": {"type": "integer", "bounds": [0, 100]}}
    tables = {"t": {"source": str(tmp_path / "t.csv"), "columns": columns}}
    facts, keys = DatasetFacts.of({"name": "t", "epsilon": 1.0, "tables": tables}), Keys.create(tmp_path / "keys.json")
    eve, bob = keys.add("eve"), keys.add("bob")
    running, release, answer = [], threading.Event(), Gateway._answer

    def held(self, plan, shares, granted):
        if granted.analyst == "eve":
            running.append(1)
            release.wait(20)
        return answer(self, plan, shares, granted)

    monkeypatch.setattr(Gateway, "_answer", held)
    with closing(Gateway(facts, Ledger.create(tmp_path / "ledger.db"), grid=0)) as gateway:
        address = serve(create(gateway, keys))
        bodies = [{**QUERY, "sql": f"SELECT COUNT(*) FROM t WHERE age > {i}"} for i in range(60)]
        asking = [threading.Thread(target=call, args=(f"{address}/api/query", eve, body)) for body in bodies]
        for thread in asking:
            thread.start()
        while len(running) < MOST_OF_ONE:
            time.sleep(0.02)
        time.sleep(0.5)  # the others arrive
        try:
            start = time.monotonic()
            assert call(f"{address}/api/budget", bob) == 200
            assert call(f"{address}/", bob) == 200
            assert call(f"{address}/api/query", bob, QUERY) == 200
            assert time.monotonic() - start < 5
            assert len(running) == MOST_OF_ONE
        finally:
            release.set()
            for thread in asking:
                thread.join()
        assert len(running) == 60
