"""What the documentation says of each reproduction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

REPRODUCED = Path(__file__).resolve().parents[2] / "docs" / "assets" / "reproduced.json"


@pytest.fixture
def documented():
    """The row of an experiment in the index that `make reproduce` wrote for the documentation."""
    rows = {row["experiment"]: row for row in json.loads(REPRODUCED.read_text())["experiments"]}
    return rows.__getitem__


@pytest.fixture
def as_documented(documented):
    """Compare what an experiment counts with what the documentation says that it counts."""

    def same(name, report):
        row = documented(name)
        assert row["counts"] == report["counts"], "the experiment changed: run `make reproduce`"
        assert row["nearest to print"] == report.get("nearest to print")
        assert row["match within"] == report["match within"]

    return same
