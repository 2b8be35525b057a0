"""What is published: the source distribution, its size, and the page that an index shows."""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import celosia

ROOT = Path(__file__).parents[1]
MOST_BYTES = 3_000_000
sys.path.insert(0, str(ROOT / "tools"))


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The source distribution as a release builds it."""
    pytest.importorskip("hatchling")
    from hatchling.builders.sdist import SdistBuilder

    return Path(next(SdistBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")))))


def test_the_source_distribution_is_small_and_has_no_pictures(archive):
    assert archive.stat().st_size < MOST_BYTES
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    assert not [name for name in names if name.endswith(".png")]
    needed = {"src/celosia/__init__.py", "tests/test_names.py", "tools/index_readme.py", "README.md", "LICENSE"}
    assert needed <= names


def test_the_version_is_in_one_place(archive):
    assert archive.name == f"celosia-{celosia.__version__}.tar.gz"
    for place in (ROOT, ROOT / "packages" / "reproduce"):
        assert "version" in tomllib.loads((place / "pyproject.toml").read_text("utf-8"))["project"]["dynamic"]


def test_an_index_shows_the_pictures_of_the_readme_by_their_addresses():
    pytest.importorskip("hatchling")
    from index_readme import index_readme

    text = (ROOT / "README.md").read_text("utf-8")
    shown = index_readme(text, "https://files.example/1.0")
    targets = re.findall(r"\]\(([^)]+)\)", shown)
    assert len(targets) > 10
    assert all(target.startswith("https://files.example/1.0/") for target in targets)
    assert "](docs/" not in index_readme(text), "without an address there is nothing that a reader could not open"


def test_every_classifier_is_known():
    known = pytest.importorskip("trove_classifiers").classifiers
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(project["classifiers"]) <= known
