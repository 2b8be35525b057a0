"""What all tests share: where the reference data lie, and the engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """Path of a reference file, or skip the test with the reason when it is not there."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"needs the reference file {name}, which is not part of the project")
        return path

    return find


@pytest.fixture(params=["polars", "duckdb"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine in turn."""
    return str(request.param)
