"""A policy that cannot be read: every page says why and offers a way back."""

from __future__ import annotations

import pytest

from celosia.demo import prepare
from celosia.errors import CelosiaError
from celosia.studio.pages import pages
from celosia.studio.project import Project

pytest.importorskip("babel")
pytestmark = pytest.mark.xdist_group("studio-broken")
BROKEN = {
    "no TOML": (lambda good: good.replace(b"[schema]", b"[schema", 1), "at line "),
    "unknown part": (lambda good: good + b'\n[[require]]\nuse = "k-anonimity"\n', "no model named"),
    "wrong value": (lambda good: good.replace(b"k = 5", b"k = 0", 1), "k must be at least"),
    "not UTF-8": (lambda good: good + b"\n# caf\xe9\n", "line {last} is not UTF-8 text"),
    "empty": (lambda _: b" ", "the policy needs [input]"),
    "outside": (lambda good: good.replace(b"original.csv", b"/etc/a.csv", 1), "outside the project"),
}


@pytest.fixture(params=BROKEN)
def broken(tmp_path, desk, request):
    """Pages of a project whose policy was changed by hand, the text before, and what the message contains."""
    opened = desk(Project(prepare(tmp_path / "clinic", 60).parent))
    assert opened.get("/").status_code == 200
    good, (spoil, reason) = opened.project.path.read_bytes(), BROKEN[request.param]
    assert spoil(good) != good
    opened.project.path.write_bytes(spoil(good))
    return opened, good, reason.format(last=spoil(good).count(b"\n"))


def test_every_page_says_why_and_offers_a_way_back(broken):
    opened, _, reason = broken
    for page in pages().values():
        answer = opened.get(page.address)
        assert answer.status_code in (200, 422), page.address
        assert reason in answer.text.replace("&#39;", "'"), page.address
        assert 'action="/restore"' in answer.text, page.address
        assert 'href="/show"' in answer.text, page.address
    assert opened.get("/show").status_code == 200
    assert opened.get("/nowhere").status_code == 404


def test_the_last_valid_policy_comes_back(broken):
    opened, good, _ = broken
    version, text = opened.project.version, opened.project.text
    assert opened.post("/restore", version="another").status_code == 409
    assert opened.post("/restore", version=version).headers["location"] == "/?said=restored"
    assert opened.project.path.read_bytes() == good
    assert opened.get("/data").status_code == 200
    opened.project.undo()
    assert opened.project.text == text, "the broken text can be looked at again"


def test_the_text_is_edited_where_it_is_shown(broken):
    opened, good, _ = broken
    answer = opened.get("/show")
    assert "<textarea" in answer.text
    assert opened.post("/show", text=good.decode()).status_code == 303
    assert opened.project.path.read_bytes() == good


def test_what_could_not_be_decoded_is_not_written_back(tmp_path):
    project = Project(prepare(tmp_path / "clinic", 60).parent)
    project.path.write_bytes(project.path.read_bytes() + b"# caf\xe9\n")
    before = project.path.read_bytes()
    with pytest.raises(CelosiaError, match="is not UTF-8 text"):
        project.change(lambda text: text + "# more\n")
    assert project.path.read_bytes() == before


def test_without_an_earlier_policy_there_is_only_the_text(tmp_path, desk):
    opened = desk(Project(tmp_path / "clinic"))
    opened.project.path.write_text("[input")
    answer = opened.get("/")
    assert answer.status_code == 422
    assert 'action="/restore"' not in answer.text
    assert opened.post("/restore").status_code == 422


def test_the_last_valid_policy_is_known_after_a_restart(tmp_path, desk):
    place = prepare(tmp_path / "clinic", 60)
    good = place.read_bytes()
    assert desk(Project(place.parent)).get("/").status_code == 200
    place.write_text("[input")
    opened = desk(Project(place.parent))
    assert opened.post("/restore").status_code == 303
    assert place.read_bytes() == good
