"""The maps for developers are true: packages, layers, files and names that they mention exist."""

from __future__ import annotations

import configparser
import importlib
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "celosia"
DEVELOPERS = ROOT / "docs" / "developers"
PAGES = (ROOT / "CONTRIBUTING.md", *(DEVELOPERS / f"{name}.md" for name in ("architecture", "parts", "tests")))
ASIDE = {"__pycache__", "templates", "words"}
"""Folders that hold no modules."""


def is_package(path: Path) -> bool:
    """Whether a folder is a part of the tree: one of which only compiled files are left is not."""
    files = (file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return path.is_dir() and path.name not in ASIDE and any(files)


def rows() -> list[tuple[str, str]]:
    """The rows of the table: packages and their content."""
    text = PAGES[0].read_text(encoding="utf-8")
    table = text.split("| packages |", 1)[1].split("\n\n", 1)[0]
    return [tuple(line.strip("| ").split(" | ", 1)) for line in table.splitlines()[2:]]


def named(cell: str) -> list[str]:
    return [name.rstrip("/") for name in re.findall(r"`([a-z_]+/?)`", cell)]


def test_the_map_has_the_layers_in_their_order():
    layers = configparser.ConfigParser()
    layers.read(ROOT / ".importlinter", encoding="utf-8")
    listed = layers["importlinter:contract:layers"]["layers"].split("\n")
    wanted = [{name.strip() for name in line.split("|")} for line in listed if line.strip()]
    assert [set(named(packages)) for packages, _ in rows()] == wanted[::-1]


def test_every_package_is_in_the_table():
    there = {path.name for path in SOURCE.iterdir() if is_package(path)}
    there |= {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert {name for packages, _ in rows() for name in named(packages)} == there


def test_the_pictures_name_every_package_and_have_a_text_alternative():
    for name in ("packages.svg", "data-flow.svg"):
        picture = ET.parse(ROOT / "docs" / "assets" / name).getroot()
        parts = {
            tag: [e.text or "" for e in picture.iter(f"{{http://www.w3.org/2000/svg}}{tag}")]
            for tag in ("title", "desc", "text")
        }
        assert all(parts["title"])
        assert all(parts["desc"])
        if name == "packages.svg":
            for package in (package for cells, _ in rows() for package in named(cells)):
                assert package in parts["text"], package
                assert re.search(rf"\b{package}\b", parts["desc"][0]), package


@pytest.mark.parametrize(("packages", "content"), rows())
def test_every_folder_of_a_package_is_in_the_table(packages, content):
    folders = {path.name for package in named(packages) for path in (SOURCE / package).glob("*/") if is_package(path)}
    mentioned = {name.rstrip("/") for name in re.findall(r"`([a-z_]+/)`", content)}
    inside = {path.name for package in named(packages) for path in (SOURCE / package).rglob("*/")}
    everywhere = {name for cells, _ in rows() for name in named(cells)}
    assert folders <= mentioned
    assert mentioned <= inside | everywhere, "a folder in the text does not exist"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_names_that_a_page_mentions_exist(page):
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"`((?:tests|src|packages|docs|tools|changelog\.d)/[\w./*-]*)`", text)
    paths += [f"src/celosia/{path}" for path in re.findall(r"`((?:data|kernels)/[\w./]+)`", text)]
    assert paths
    for path in paths:
        assert list(ROOT.glob(path.rstrip("/"))), f"{page.name} mentions {path}, which is not there"
    for name in re.findall(r"`(celosia(?:\.\w+)+)`", text):
        assert _importable(name), f"{page.name} mentions {name}, which is not there"


def _importable(name: str) -> bool:
    """A module, or something in one."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, thing = name.rpartition(".")
        return hasattr(importlib.import_module(module), thing)
    return True


def test_what_is_written_by_hand_is_where_the_list_says():
    lines = (ROOT / "docs" / "developers" / "by-hand.md").read_text("utf-8").splitlines()
    places = [
        place for line in lines if line.startswith("| `") for place in re.findall(r"`([^`]+)`", line.split("|")[1])
    ]
    assert len(places) > 15
    for place in places:
        assert (SOURCE / place).exists() or (ROOT / place).exists(), place
