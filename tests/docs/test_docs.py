"""The documentation is run: every example executes, every command and part occurs, every picture was made."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from celosia.cli.main import app
from celosia.parts import CountsRows, parts

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tools")]

import build
import catalogue
import changelog
from console import run_page
from outputs import FROM_NOTHING, insert_tables
from pictures import ASSETS, KEPT, digest, stale

PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "reference" not in p.relative_to(ROOT / "docs").parts),
]


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples start from: a small population, its hierarchies and its policy."""
    from celosia.demo import prepare

    place = tmp_path_factory.mktemp("example")
    prepare(place, persons=1500)
    shutil.copy(place / "original.csv", place / "patients.csv")
    return place


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """The generated pages."""
    return build.pages()


@pytest.mark.parametrize("page", [p for p in PAGES if p not in FROM_NOTHING], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, example, tmp_path):
    place = tmp_path / "work"
    shutil.copytree(example, place)
    run_page(page, place)


@pytest.mark.parametrize("page", FROM_NOTHING, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_from_an_empty_folder_and_shows_what_is_printed(page, tmp_path):
    """Stale? `make outputs` writes what is printed now."""
    assert insert_tables(run_page(page, tmp_path)) == page.read_text("utf-8")


def test_every_command_and_part_has_a_page(written):
    names = [c.name or c.callback.__name__ for c in app.registered_commands if c.callback]
    for name in [*names, *(g.name for g in app.registered_groups)]:
        assert f"## celosia {name.replace('_', '-')}\n" in written["command-line.md"]
    for kind in catalogue.TITLES:
        for name in parts(kind):
            place = f"{catalogue.folder(kind)}/{name}.md"
            assert place in written, name
            assert f"[{name}]({place})" in written["catalogue.md"], name


def test_every_public_name_is_in_the_python_reference(written):
    import celosia

    for name in celosia._HOMES:
        assert f":: celosia.{name}\n" in written["python.md"], name


def test_what_each_part_does_with_persons_is_listed(written):
    for kind in catalogue.TITLES:
        for name, cls in parts(kind).items():
            if kind == "hierarchy":
                assert f"/{name}.md) |" not in written["persons.md"], name
                continue
            unit = cls.persons
            told = f"counts rows: {unit.reason}" if isinstance(unit, CountsRows) else build.COUNTING[unit]
            assert f"/{name}.md) | {told} |" in written["persons.md"], f"{kind} {name}"


def test_formulas_became_markup(written):
    for path, text in written.items():
        outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        assert ":math:" not in outside, path
        assert ".. math::" not in outside, path


def test_no_page_loads_anything_from_elsewhere():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|link|iframe)[^>]+https?://", text), page


def test_every_how_to_is_in_the_list():
    listed = (ROOT / "docs/how-to/index.md").read_text("utf-8")
    for page in (ROOT / "docs/how-to").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name})" in listed, f"add a line for {page.name} to how-to/index.md"


def test_the_schemas_are_in_the_reference_and_each_field_is_explained(written):
    files = sorted(path for path in written if path.startswith("schemas/"))
    assert files == ["schemas/certificate-1.json", "schemas/policy-1.json", "schemas/record-1.json"]
    assert "#:schema ./policy-1.json" in written["policy-file.md"]
    for path in files:
        page = written["policy-file.md" if "policy" in path else "evidence-files.md"]
        assert f">{path.removeprefix('schemas/')}</a>" in page
        for field, info in json.loads(written[path])["properties"].items():
            assert f"| `{field}` |" in page, f"{path}: {field}"
            assert info["description"], f"{path}: {field}"


def test_every_picture_is_made_by_the_command_that_makes_pictures():
    kept = json.loads(KEPT.read_text("utf-8"))
    shown = {
        (page.parent / place).resolve()
        for page in PAGES
        for place in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text("utf-8"))
    }
    assert shown
    for path in shown:
        assert path.is_file(), path
        if path.suffix != ".svg":
            name = path.relative_to(ASSETS).as_posix()
            assert kept.get(name, {}).get("sha256") == digest(path), f"{name}: make it by `make pictures`"
    unused = set(ASSETS.rglob("*.png")) - shown
    assert not unused, f"pictures that no page shows: {sorted(path.name for path in unused)}"


def test_no_picture_shows_what_is_no_longer_so():
    groups = stale()
    assert not groups, f"templates, words or styles have changed since: python tools/pictures.py {' '.join(groups)}"


def test_a_picture_becomes_stale_when_a_word_that_it_shows_changes(tmp_path, monkeypatch):
    import pictures

    words, shown = tmp_path / "src/celosia/studio/words/en.toml", tmp_path / "pictures.json"
    words.parent.mkdir(parents=True)
    words.write_text('risk = "risk"')
    monkeypatch.setattr(pictures, "ROOT", tmp_path)
    monkeypatch.setattr(pictures, "KEPT", shown)
    now = {group: {"group": group, "sources": pictures.sources(group)} for group in pictures.SOURCES}
    shown.write_text(json.dumps(now))
    assert stale() == []
    words.write_text('risk = "danger"')
    assert stale() == ["studio", "walks"]
    shown.write_text(json.dumps({"x.png": {"group": "report"}}))
    assert stale() == ["report"], "one of which nobody knows what it was drawn from"


def test_the_changelog_has_every_fragment_and_keeps_what_was_released(tmp_path):
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "README.md").write_text("how")
    (tmp_path / "changelog.d" / "new-thing.md").write_text("- A new thing.\n")
    first = changelog.built(tmp_path)
    assert first == "# What has changed\n\n## Not yet released\n\n### New thing\n\n- A new thing.\n"
    (tmp_path / "CHANGELOG.md").write_text(f"{first}\n## 0.9.0 (2026-01-01)\n\n### Old\n\n- Old.\n")
    assert changelog.built(tmp_path) == (tmp_path / "CHANGELOG.md").read_text(), "built twice is the same"
    (tmp_path / "changelog.d" / "new-thing.md").unlink()
    assert changelog.built(tmp_path) == "# What has changed\n\n## 0.9.0 (2026-01-01)\n\n### Old\n\n- Old.\n"
    whole = changelog.built()
    for path in changelog.fragments():
        assert path.read_text("utf-8").strip() in whole, path.name
