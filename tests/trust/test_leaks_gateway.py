"""Values of the original that no page of the gateway may hold, nor its interface, addresses, headers, logs and files."""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.trust.canaries import CANARIES, content, original, told
from tests.trust.tried import Tried, tried
from tests.trust.walking import Walk

from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.web import create
from celosia.web.guard import quiet

testclient = pytest.importorskip("starlette.testclient")
pytest.importorskip("babel")
COLUMNS = {
    "name": {"type": "text"},
    "town": {"type": "text", "categories": ["Vic", "Olot"]},
    "region": {"type": "integer", "bounds": [1, 9]},
    "pay": {"type": "number", "bounds": [0, 800_000]},
}
ANSWERED = [
    "SELECT COUNT(*) FROM people",
    "SELECT town, COUNT(*) AS n, AVG(pay) AS mean FROM people GROUP BY town",
    "SELECT MIN(pay), MAX(pay), MEDIAN(pay), SUM(region) FROM people",
    "SELECT COUNT(DISTINCT name), COUNT(DISTINCT town) FROM people",
    "SELECT COUNT(*) FROM people WHERE name LIKE '%a-77%' AND pay > 100000",
]
REFUSED = [
    "SELECT * FROM people",
    "SELECT name FROM people",
    "SELECT name, COUNT(*) FROM people GROUP BY name",
    "SELECT MAX(name) FROM people",
    "SELECT COUNT(*) FROM people WHERE CAST(name AS INTEGER) = 1",
    "SELECT COUNT(*) FROM people WHERE 1 / (pay - 777001) > 0",
    "SELECT COUNT(*) FROM people ORDER BY (SELECT name FROM people LIMIT 1)",
    "SELECT COUNT(*) FROM pg_catalog.pg_tables",
    "SELECT COUNT(*) FROM people; DROP TABLE people",
    "SELECT COUNT(*) FROM",
]


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def facts(request: pytest.FixtureRequest, tmp_path: Path) -> DatasetFacts:
    frame = original()
    declared: dict[str, Any] = {"name": "people", "epsilon": 1000.0, "tables": {"people": {"columns": COLUMNS}}}
    if request.param == "duckdb":
        frame.write_parquet(tmp_path / "people.parquet")
        declared["tables"]["people"]["source"] = str(tmp_path / "people.parquet")
    elif request.param == "sqlite":
        with contextlib.closing(sqlite3.connect(tmp_path / "people.db")) as database:
            database.execute("CREATE TABLE people (name TEXT, town TEXT, region INTEGER, pay REAL)")
            database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", frame.rows())
            database.commit()
        declared["database"] = f"sqlite:///{tmp_path / 'people.db'}"
    else:
        declared["database"] = request.getfixturevalue("fresh_postgres")
        psycopg_url = declared["database"].replace("postgresql://", "postgresql+psycopg://")
        frame.write_database("people", psycopg_url, engine="sqlalchemy")
    return DatasetFacts.of(declared)


@pytest.fixture
def gateway(facts: DatasetFacts, tmp_path: Path) -> Iterator[Gateway]:
    (tmp_path / "kept").mkdir()
    opened = Gateway(facts, Ledger.create(tmp_path / "kept" / "ledger.db"), grid=0)
    yield opened
    opened.close()


def token(page: Any) -> str:
    found = re.search(r'name="token" value="([^"]+)"', page.text)
    assert found is not None
    return found.group(1)


def walked(walk: Walk, keys: Keys, gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address: as a stranger, as an analyst who asks good, bad and broken questions, as the administrator."""
    ana, admin = keys.add("ana"), keys.add_administrator()
    for address in ("/", "/style.css", "/openapi.json", "/login", "/logout", "/ask", "/admin", "/admin/revoke"):
        walk.get(address)
    walk.get("/answer/1.csv")
    walk.post("/login", data={"key": "wrong"})
    walk.post("/login", data={"key": ana})
    form = token(walk.get("/"))
    bearer = {"headers": {"Authorization": f"Bearer {ana}"}}
    with monkeypatch.context() as broken:  # what a driver says of a cell that it cannot read
        broken.setattr(gateway._database, "_rows", _fails)
        for sql in ANSWERED[:2]:
            for do in ("explain", "ask"):
                walk.post("/ask", data={"token": form, "sql": sql, "cost": "1", "do": do})
            walk.post("/api/query", json={"sql": sql, "epsilon": 1.0}, **bearer)
    for sql in [*ANSWERED, *REFUSED]:
        for do in ("explain", "ask"):
            walk.post("/ask", data={"token": form, "sql": sql, "cost": "1", "do": do})
        walk.post("/api/explain", json={"sql": sql, "epsilon": 1.0}, **bearer)
        walk.post("/api/query", json={"sql": sql, "epsilon": 1.0, "fresh": True}, **bearer)
    for charge in (*(entry.seq for entry in gateway.ledger.history("people")), 999):
        walk.get(f"/?answer={charge}")
        walk.get(f"/answer/{charge}.csv")
    walk.get("/?example=1")
    for address in ("/api/budget", "/api/history", "/api/schema"):
        walk.get(address, **bearer)
    walk.post("/api/query", json={"sql": ANSWERED[0], "epsilon": 1e6}, **bearer)
    walk.post("/api/query", content=b"[", **bearer)
    walk.post("/logout")
    walk.post("/login", data={"key": admin})
    form = token(walk.get("/admin"))
    walk.post("/admin/revoke", data={"token": form, "analyst": "ana"})
    walk.post("/admin/revoke", data={"token": form, "analyst": "ana", "sure": "yes"})


def _fails(sql: str) -> Any:
    raise ValueError(f"invalid input syntax for type integer: {CANARIES[0]!r} in {sql}")


def test_no_page_of_the_gateway_holds_a_value(gateway, tmp_path, monkeypatch, caplog, capfd):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    caplog.set_level(logging.DEBUG)
    keys = Keys.create(tmp_path / "kept" / "keys.json")
    app = create(gateway, keys, per_minute=6000)
    with testclient.TestClient(quiet(app), follow_redirects=False) as client:
        walk = Walk(client)
        walked(walk, keys, gateway, monkeypatch)
    assert walk.missed(app.routes) == []
    assert sum(" 303" in name for name in walk.pages) >= len(ANSWERED), "they were answered"
    assert len(walk.refusals) >= 4 * len(REFUSED), "and those were refused"
    assert [name for name in walk.refusals if name.endswith(" 500")] == []
    heard = capfd.readouterr()
    blobs = {**walk.pages, **walk.refusals, **{f"head of {name}": head for name, head in walk.around.items()}}
    blobs["said"] = (heard.out + heard.err + caplog.text).encode()
    for folder in ("kept", "tmp"):
        blobs |= {str(path): content(path) for path in (tmp_path / folder).rglob("*") if path.is_file()}
    leaks = {where: told(blob) for where, blob in blobs.items()}
    kind = gateway._database.dialect
    what = f"values of the original looked for in all that a gateway over {kind} answers, logs and keeps"
    tried(
        f"leaks-gateway-{kind}",
        [Tried(what, len(CANARIES) * len(blobs), sum(map(len, leaks.values())), "a value found")],
    )
    assert {where: found for where, found in leaks.items() if found} == {}
