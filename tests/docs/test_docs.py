"""The documentation is run: every example executes, every command and part occurs."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from celosia.cli.main import app
from celosia.cli.main import run as command
from celosia.parts import parts

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "reference" not in p.relative_to(ROOT / "docs").parts),
]
BLOCK = re.compile(r"^```(python|console)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples start from: a small population, its hierarchies and its policy."""
    from celosia.demo import prepare

    place = tmp_path_factory.mktemp("example")
    prepare(place, persons=1500)
    shutil.copy(place / "original.csv", place / "patients.csv")
    return place


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, example, tmp_path, monkeypatch, capsys):
    place = tmp_path / "work"
    shutil.copytree(example, place)
    monkeypatch.chdir(place)
    names: dict[str, object] = {"__name__": "example"}
    for language, info, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if "skip" in info:
            continue
        if language == "python" and ">>>" not in code:
            exec(compile(code, str(page), "exec"), names)
        elif language == "python":
            _doctest(code, names, page)
        else:
            for line in code.replace("\\\n", " ").splitlines():
                if line.startswith("$ celosia"):
                    _shell(line[2:], capsys)


def _doctest(code: str, names: dict[str, object], page: Path) -> None:
    import doctest

    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0


def _shell(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, _, comment = line.partition("  #")
    expected = 3 if "exit code 3" in comment else 0
    words = shlex.split(text)[1:]
    assert not {"studio", "serve"} & set(words[:2]), f"{line}: it serves until it is stopped; mark the block with skip"
    code = command(words)
    assert code == expected, f"{line}\n{capsys.readouterr().err}"


def test_every_command_and_part_has_a_page():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from build import TITLES, pages
    finally:
        sys.path.pop(0)
    written = pages()
    names = [c.name or c.callback.__name__ for c in app.registered_commands if c.callback]
    for name in [*names, *(g.name for g in app.registered_groups)]:
        assert f"## celosia {name.replace('_', '-')}\n" in written["command-line.md"]
    for kind in TITLES:
        for name in parts(kind):
            assert any(path.endswith(f"/{name}.md") for path in written), name


def test_what_each_part_does_with_persons_is_listed():
    sys.path.insert(0, str(ROOT / "docs"))
    from build import COUNTING, TITLES, persons

    page = persons()
    for kind in TITLES:
        for name, cls in parts(kind).items():
            line = f"/{name}.md) | {COUNTING[cls.persons]} |"
            assert (line in page) == (kind != "hierarchy"), f"{kind} {name}"


def test_formulas_became_markup():
    sys.path.insert(0, str(ROOT / "docs"))
    from build import pages

    for path, text in pages().items():
        outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        assert ":math:" not in outside, path
        assert ".. math::" not in outside, path


def test_no_page_loads_anything_from_elsewhere():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|link|iframe)[^>]+https?://", text), page


def test_the_schemas_are_in_the_reference_and_each_field_is_explained():
    import json

    sys.path.insert(0, str(ROOT / "docs"))
    from build import schemas

    written = schemas()
    page = written.pop("schemas/index.md")
    assert sorted(written) == ["schemas/certificate-1.json", "schemas/policy-1.json", "schemas/record-1.json"]
    for path, text in written.items():
        assert f"({path.removeprefix('schemas/')})" in page
        for field, info in json.loads(text)["properties"].items():
            assert f"| `{field}` |" in page, f"{path}: {field}"
            assert info["description"], f"{path}: {field}"
