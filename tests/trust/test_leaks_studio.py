"""Values of the original in the studio: some pages show them to the owner, and nothing else may hold one.

No address, no header, no title, no refusal, no log, no file of a job, nothing that is left in a temporary folder.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
import stat
import tempfile
from pathlib import Path

import pytest
from tests.trust import studio_walk
from tests.trust.canaries import CANARIES, content, original, told
from tests.trust.studio_walk import Owner
from tests.trust.tried import Tried, tried

from celosia.studio.project import Project

testclient = pytest.importorskip("starlette.testclient")
pytest.importorskip("babel")
PORT = 8360
SHOWN = (
    *("/data", "/hierarchies", "/risk", "/protect/preview", "/compare/pair", "/fuzzy", "/fcrm", "/show"),
    *("/release/file/record", "/release/file/internal", "/release/report/internal"),
)
"""Where the studio shows the data to their owner, as docs/studio/index.md says; the policy may hold values, too."""
OWN = (
    *("inputs/*", "people.db", "policy.toml", "results/*/policy.toml", ".studio/past/*", ".studio/fcrm.json"),
    *("playground/points.csv", "*.private.json", "*.internal.html"),
)
"""Files that may hold values, for their owner's eyes."""


@pytest.fixture
def walk(tmp_path, monkeypatch, caplog):
    from celosia.studio.app import create

    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)

    def opened(name: str) -> Owner:
        project = Project(tmp_path / name)
        app = create(project, PORT)
        client = testclient.TestClient(app, base_url=app.address, follow_redirects=False)
        owner = Owner(client, project, app.address)
        owner.get(app.link().removeprefix(app.address))
        owner.app = app
        return owner

    return opened


def looked_through(walk: Owner, place: Path, said: str) -> dict[str, list[str]]:
    """Where a value was found that may not be there."""
    blobs = {f"head of {name}": head for name, head in walk.around.items()} | walk.refusals
    for name, page in walk.pages.items():
        if not re.match(rf"\d+ \w+ ({'|'.join(map(re.escape, SHOWN))})[ /?]", name):
            blobs[name] = page
    for path in walk.project.folder.rglob("*"):
        name = path.relative_to(walk.project.folder)
        if path.is_file() and any(name.match(own) or name.as_posix().startswith(own.rstrip("*")) for own in OWN):
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, f"{name} can be read by others"
        elif path.is_file():
            blobs[name.as_posix()] = content(path)
    blobs |= {str(path): content(path) for path in (place / "tmp").rglob("*") if path.is_file()}
    blobs["said"] = said.encode()
    leaks = {where: told(blob) for where, blob in blobs.items()}
    what = f"values of the original looked for in what the studio answers, logs and keeps: {walk.project.name}"
    counted = Tried(what, len(CANARIES) * len(blobs), sum(map(len, leaks.values())), "a value found")
    tried(f"leaks-studio-{walk.project.name}", [counted])
    return {where: found for where, found in leaks.items() if found}


def test_nothing_of_it_leaves_the_studio(walk, tmp_path, caplog, capfd):
    owner = walk("files")
    studio_walk.begun(owner, tmp_path)
    for part in ("described", "coarsened", "looked_for", "protected", "compared", "released", "benches", "asked"):
        getattr(studio_walk, part)(owner)
    assert owner.missed(owner.app._app.routes) == []
    broken = [name for name in owner.refusals if name.endswith(" 500")]
    assert broken == []
    heard = capfd.readouterr()
    assert looked_through(owner, tmp_path, heard.out + heard.err + caplog.text) == {}
    assert any(told(page) for page in owner.pages.values()), "the search finds them where they are shown"


def test_nothing_of_it_leaves_a_studio_over_a_database(walk, tmp_path, caplog, capfd):
    owner = walk("database")
    place = owner.project.folder / "people.db"
    with contextlib.closing(sqlite3.connect(place)) as database:
        database.execute("CREATE TABLE people (name TEXT, town TEXT, region INTEGER, pay REAL)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", original().rows())
        database.commit()
    place.chmod(0o600)
    for query in ("SELECT nmae FROM people", "DROP TABLE people", "SELECT name, town AS name FROM people"):
        owner.send("/begin/query", url=f"sqlite:///{place}", query=query)
    assert owner.send("/begin/query", url=f"sqlite:///{place}", query="SELECT * FROM people").status_code == 303
    read = owner.project.text.partition("[schema]")[0].partition("[input]")[2]
    text = (
        studio_walk.POLICY.replace('path = "{place}"', "").format(seed="5eed" * 8).replace("[input]", f"[input]{read}")
    )
    assert owner.send("/show", text=text).status_code == 303
    owner.look_around()
    owner.send("/release/run")
    job = owner.done("run_policy")
    assert job.state == "done", job.result
    owner.look_around()
    assert [name for name in owner.refusals if name.endswith(" 500")] == []
    heard = capfd.readouterr()
    assert looked_through(owner, tmp_path, heard.out + heard.err + caplog.text) == {}
