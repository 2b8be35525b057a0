"""The modules of worked examples, found beside the tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"celosia_tests_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def thesis() -> ModuleType:
    return _load("thesis")


@pytest.fixture(scope="session")
def students() -> ModuleType:
    return _load("students")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "statement" in metafunc.fixturenames:
        found = _load("statements").ALL
        metafunc.parametrize("statement", found, ids=[f"{i}-{one[0]}" for i, one in enumerate(found)])
