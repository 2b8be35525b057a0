"""Fixtures for what comes from other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.migration.projects import entries, packed


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Write a project; entries can be changed, or taken out by giving None."""

    def build(changed: Mapping[str, bytes | None] | None = None, name: str = "patients.deid", **settings: Any) -> Path:
        content = {**entries(**settings), **(changed or {})}
        return packed(tmp_path / name, {entry: data for entry, data in content.items() if data is not None})

    return build
