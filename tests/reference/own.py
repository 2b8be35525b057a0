"""Second implementations that are in the test file of their part: ``tests/**/test_<name>.py``."""

from __future__ import annotations

import importlib
from pathlib import Path

from celosia.parts import parts

TESTS = Path(__file__).parents[1]


def load(kind: str) -> None:
    """Import the test files of the parts of a kind that register a second implementation."""
    for name in parts(kind):
        for file in TESTS.rglob(f"test_{name.replace('-', '_')}.py"):
            if "from tests.reference" in file.read_text("utf-8"):
                importlib.import_module(".".join(("tests", *file.relative_to(TESTS).with_suffix("").parts)))
