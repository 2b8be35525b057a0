"""Values of the original that no page of the consent site may hold, nor its addresses, headers, logs, store and publications.

An owner sees the own key on the own pages; the publisher sees nobody's. The store keeps the keys of the owners.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.trust.canaries import CANARIES, NAMES, TOWNS, content, told
from tests.trust.tried import Tried, tried
from tests.trust.walking import Walk

from celosia.consent.owners.questionnaire import questions
from celosia.consent.owners.store import Preferences
from celosia.consent.rules.exchange import load
from celosia.consent.site.signin import ADMIN, issue
from celosia.consent.site.web import create
from celosia.web.guard import quiet

testclient = pytest.importorskip("starlette.testclient")
pytest.importorskip("babel")
STORE = "consent.db"
PRIVATE = ("private.json", "internal.html")
CATALOGUE = """
[[inference]]
id = "residence"
description = {en = "Find out where I live"}
extra = 5
[[inference.rule]]
tables = {person = ["province", "town"]}

[[inference]]
id = "grant"
description = {en = "Find out that I have a grant"}
[[inference.rule]]
tables = {person = ["benefit"]}
"""
TREE = "province, town"
ASKED = {
    "requester": "A newspaper",
    "purpose": "Scores",
    "sql": "SELECT p.name, p.province, p.town, p.score FROM person p",
    "owner": "person.card",
    "quasi": TREE,
    "tree": TREE,
    "identifiers": "name",
    "sensitive": "score",
    "k": "10",
    "rule": "coarser",
    "key": "",
    "acknowledge": "",
}
WRONG = [
    {"sql": "SELECT CAST(p.name AS INTEGER) AS n, p.province, p.town, p.score FROM person p"},
    {"sql": "SELECT p.name, p.province, p.town, 1 / (p.score - p.score) AS score FROM person p WHERE p.nmae = 'x'"},
    {"sql": "DROP TABLE person"},
    {"owner": "person.score"},
    {"owner": "nobody"},
    {"identifiers": ""},
    {"quasi": "planet", "tree": "", "rule": "class"},
    {"sensitive": "name"},
    {"key": "national"},
    {"k": "5000"},
    {"k": "x"},
]


def people() -> pl.DataFrame:
    """A key and a name for everybody that are canaries, and three towns that one person has each."""
    n = len(NAMES)
    return pl.DataFrame(
        {
            "card": NAMES,
            "name": NAMES[::-1],
            "province": [f"P{i % 2}" for i in range(n)],
            "town": [TOWNS[i] if i < 3 else f"T{i % 4}" for i in range(n)],
            "score": [400 + i % 7 for i in range(n)],
            "benefit": [i % 3 for i in range(n)],
        }
    )


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    frame, place = people(), tmp_path / "registry.db"
    if request.param == "sqlite":
        with contextlib.closing(sqlite3.connect(place)) as opened:
            opened.execute("CREATE TABLE person (card, name, province, town, score, benefit)")
            opened.executemany("INSERT INTO person VALUES (?, ?, ?, ?, ?, ?)", frame.rows())
            opened.commit()
        return f"sqlite:///{place}"
    if request.param == "duckdb":
        import duckdb

        with duckdb.connect(str(place)) as opened:
            opened.execute("CREATE TABLE person AS SELECT * FROM frame")
        return f"duckdb:///{place}"
    url: str = request.getfixturevalue("fresh_postgres")
    frame.write_database("person", url.replace("postgresql://", "postgresql+psycopg://"), engine="sqlalchemy")
    return url


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Preferences]:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "inferences.toml").write_text(CATALOGUE)
    opened = Preferences.create(tmp_path / "kept" / STORE)
    opened.add_owners(NAMES)
    blocks = pl.DataFrame({"owner": NAMES[:30], "inference": "residence", "block": True})
    opened.load(blocks, ["residence", "grant"])
    yield opened
    opened.close()


def hidden(page: Any, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    return found.group(1) if found else ""


def walked_as_stranger(walk: Walk) -> None:
    for address in ("/", "/style.css", "/in", "/in/unknown", "/out", "/choices", "/forget", "/mine.json", "/questions"):
        walk.get(address)
    for address in ("/refused?why=refused_form", "/admin", "/admin/answers", "/admin/requests", "/nowhere"):
        walk.get(address)
    for address in ("/in", "/out", "/choices", "/forget", "/questions", "/admin/request/new", "/admin/inference/new"):
        walk.post(address, data={"form": "forged", "token": "unknown"})


def walked_as_owner(walk: Walk, store: Preferences, owner: str) -> None:
    walk.post("/in", data={"token": issue(store, owner)})
    form = hidden(walk.get("/"), "form")
    walk.post("/choices", data={"form": form, "choice:residence": "allow", "choice:grant": "block"})
    walk.post("/choices", data={"form": form, "choice:unknown": "allow"})
    walk.get("/?saved=1")
    walk.get("/mine.json")
    walk.get("/questions?group=clinic")
    walk.post("/questions", data={**dict.fromkeys(questions(), "3"), "group": "clinic", "text": "none"})
    walk.post("/questions", data={**dict.fromkeys(questions(), "3"), "group": "clinic"})
    for address in ("/admin", "/admin/requests", "/admin/inference/residence"):
        walk.get(address)
    walk.post("/forget", data={"form": form})
    walk.post("/out", data={"form": form})


def walked_as_publisher(walk: Walk, store: Preferences) -> None:
    walk.post("/in", data={"token": issue(store, ADMIN)})
    form = {"form": hidden(walk.get("/admin"), "form")}
    walk.get("/admin/answers")
    place = "/admin/inference/residence"
    seen = hidden(walk.get(place), "seen")
    fields = {"id": "residence", "description:en": "Where I live", "extra": "5", "seen": seen, "rule:0:active": "yes"}
    fields |= {"rule:0:tables": "person: province, town", "rule:0:needs": "1"}
    for action in ("check", "propose", "save", "remove"):
        walk.post(place, data={**form, **fields, "action": action, "query": ASKED["sql"], "sure": "yes"})
    walk.get("/admin/inference/new")
    walk.get("/admin/inference/unknown")
    walk.post("/admin/inference/new", data={**form, "action": "check"})
    walk.get("/admin/request/new")
    entered = walk.post("/admin/request/new", data={**form, **ASKED, "action": "save"})
    request = entered.headers["location"].partition("?")[0]
    walk.get(request)
    for changes in WRONG:
        walk.post(request, data={**form, **ASKED, **changes, "action": "look"})
    looked = walk.post(request, data={**form, **ASKED, "action": "look"})
    walk.post(request, data={**form, **ASKED, "action": "publish", "seen": hidden(looked, "seen")})
    walk.post(request, data={**form, **ASKED, "action": "publish", "seen": hidden(looked, "seen"), "sure": "yes"})
    walk.get(request)
    walk.post(request, data={**form, "action": "refuse", "reason": "too late"})
    walk.get("/admin/requests")
    walk.get("/admin")


def test_no_page_of_the_consent_site_holds_a_value(database, store, tmp_path, monkeypatch, caplog, capfd):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    caplog.set_level(logging.DEBUG)
    kept, owner = tmp_path / "kept", NAMES[7]
    app = create(load(kept / "inferences.toml"), store, path=kept / "inferences.toml", database=database, out=kept)

    def visitor() -> Walk:
        return Walk(testclient.TestClient(quiet(app), follow_redirects=False))

    stranger, own, publisher = visitor(), visitor(), visitor()
    walked_as_stranger(stranger)
    walked_as_owner(own, store, owner)
    walked_as_publisher(publisher, store)
    both = visitor()
    both.asked = stranger.asked + own.asked + publisher.asked
    assert both.missed(app.routes) == []
    release = list((kept / "request-0001").iterdir())
    assert len(release) >= 5, "it was published"
    assert len(publisher.refusals) >= len(WRONG)
    assert [name for name in publisher.refusals if name.endswith(" 500")] == []

    heard = capfd.readouterr()
    blobs = {f"head of {name}": head for walk in (stranger, own, publisher) for name, head in walk.around.items()}
    blobs |= {**stranger.pages, **stranger.refusals, **own.refusals, **publisher.pages, **publisher.refusals}
    blobs |= {f"own {name}": page.replace(owner.encode(), b"") for name, page in own.pages.items()}
    blobs["said"] = (heard.out + heard.err + caplog.text).encode()
    blobs |= {str(path): content(path) for path in (tmp_path / "tmp").rglob("*") if path.is_file()}
    for path in kept.rglob("*"):
        if path.name.endswith(PRIVATE):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        elif path.is_file() and not path.name.startswith(STORE):
            blobs[str(path)] = content(path)
    leaks = {where: told(blob) for where, blob in blobs.items()}
    kind = database.partition(":")[0]
    what = f"values of the original looked for in all that the site of consent over {kind} answers, logs and publishes"
    tried(
        f"leaks-consent-{kind}",
        [Tried(what, len(CANARIES) * len(blobs), sum(map(len, leaks.values())), "a value found")],
    )
    assert {where: found for where, found in leaks.items() if found} == {}
