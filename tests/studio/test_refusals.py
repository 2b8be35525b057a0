"""What the studio refuses: it says so in a sentence, and nothing stays behind."""

from __future__ import annotations

import pytest
from fastapi import APIRouter

from celosia.demo import prepare
from celosia.studio import toml_edit
from celosia.studio.jobs import Jobs
from celosia.studio.pages import pages
from celosia.studio.project import Project
from celosia.studio.studio import Studio

pytestmark = pytest.mark.xdist_group("studio-refusals")


@pytest.fixture
def project(tmp_path):
    return Project(prepare(tmp_path / "clinic", 60).parent)


def inputs(project):
    return [path for path in project.folder.glob("inputs/**/*") if path.is_file()]


def test_a_file_that_cannot_be_read_is_not_kept(tmp_path, desk):
    project = Project(tmp_path / "empty")
    client = desk(project)
    for name, content in (("people.parquet", b"this is no parquet"), ("people.xlsx", b"PK\x03\x04"), ("a.csv", b"")):
        answer = client.post("/begin/upload", files={"file": (name, content)})
        assert answer.status_code == 422, name
        assert inputs(project) == []
    assert client.post("/begin/upload", files={"file": ("a.csv", b"age\n34\n35\n")}).status_code == 303
    assert [path.name for path in inputs(project)] == ["a.csv"]


def test_a_file_with_other_columns_is_not_kept(project, desk):
    client, before = desk(project), project.text
    for stale in (True, False):
        address = f"/data/upload?version={'0' * 16 if stale else project.version}"
        answer = client.post(address, files={"file": ("other.csv", b"a,b\n1,2\n")})
        assert answer.status_code == (409 if stale else 422)
        assert inputs(project) == []
    assert project.text == before


def test_a_tab_that_saw_another_policy_takes_nothing_back(project, desk):
    client, seen = desk(project), project.version
    project.change(lambda text: toml_edit.set_value(text, ("require", 0, "k"), 4))
    for address in ("/undo", "/redo"):
        assert client.post(address, version=seen).status_code == 409
        assert project.policy().require[0].k == 4
    client.post("/undo")
    assert project.version == seen
    assert client.post("/redo", version="0" * 16).status_code == 409
    client.post("/redo")
    assert project.policy().require[0].k == 4


@pytest.mark.parametrize(
    ("address", "call"),
    [("/compare/explore", "explore_policy"), ("/protect/run", "run_policy"), ("/release/run", "run_policy")],
)
def test_no_second_job_is_started_beside_one_that_runs(project, desk, monkeypatch, address, call):
    monkeypatch.setattr("celosia.studio.jobs.start", lambda *_: pytest.fail("the job is already running"))
    monkeypatch.setattr(Jobs, "is_alive", lambda *_: True)
    place = project.state_folder / "jobs" / f"{1:020}-aaaa"
    client = desk(project)
    place.mkdir(parents=True)
    (place / "asked.json").write_text(f'{{"call": "celosia.studio.runs:{call}", "arguments": {{}}}}')
    before = project.text
    answer = client.post(address, seeds="7")
    assert answer.status_code == 422
    assert "already running" in answer.text
    assert project.text == before


def test_a_form_without_its_fields_is_refused_in_a_sentence(project, desk, monkeypatch):
    monkeypatch.setattr(Jobs, "start", lambda *_, **__: None)
    client = desk(project)
    addresses = ["/undo", "/redo", "/look", "/show", "/jobs/x/cancel"]
    for page in pages().values():
        router = APIRouter(prefix="" if page.name == "start" else page.address)
        page.routes(Studio(project, pages()), router)
        addresses += [route.path for route in router.routes if "POST" in route.methods]
    assert len(addresses) > 40
    for address in addresses:
        answer = client.post(address)
        assert answer.status_code < 500, f"{address}: {answer.text[-300:]}"
        assert answer.headers.get("content-type", "text/html").startswith("text/html"), address


def test_a_column_that_is_not_there_gets_no_role(project, desk):
    before = project.text
    answer = desk(project).post("/data/role", column="agge", role="quasi")
    assert answer.status_code == 422
    assert "agge" in answer.text
    assert project.text == before
