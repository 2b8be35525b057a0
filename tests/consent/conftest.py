"""The modules of worked examples, found beside the tests."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.rules.rules import Catalogue, read_toml


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"celosia_tests_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def thesis() -> ModuleType:
    return _load("thesis")


@pytest.fixture(scope="session")
def students() -> ModuleType:
    return _load("students")


@pytest.fixture
def catalogue(students: ModuleType) -> Catalogue:
    """The inferences of the small registry of students."""
    return read_toml(students.CATALOGUE)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Preferences]:
    """An empty store in a file."""
    opened = Preferences.create(tmp_path / "choices.db")
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def notation() -> ModuleType:
    return _load("notation")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "statement" in metafunc.fixturenames:
        found = _load("notation").statements()
        names = [f"{one.subject}-{one.dialect}-{i}" for i, one in enumerate(found)]
        metafunc.parametrize("statement", found, ids=names)
    if "refusal" in metafunc.fixturenames:
        metafunc.parametrize("refusal", _load("notation").refused(), ids=str)
