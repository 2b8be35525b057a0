"""What all tests share: where the reference data lie, and the engines."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared(name: str) -> Path:
    """Path of a reference file, or skip the test with the reason when it is not there."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs the reference file {name}, which is not part of the project")
    return path


@pytest.fixture(name="shared")
def shared_fixture():
    return shared
