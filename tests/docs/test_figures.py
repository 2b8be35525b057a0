"""``tools/figures.py`` counts what is in the tree, and fails above a ceiling."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import ClassVar

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import figures


def test_the_inherited_names_of_a_part_by_hand():
    class Small(figures.BaseModel):
        home: ClassVar = ""

        def value(self) -> float:
            return 0.0

        @property
        def share(self) -> float:
            return 0.0

        def _hidden(self) -> None: ...

    assert figures.count_inherited(Small) == (2, 1)


def test_a_figure_above_its_ceiling_is_named_and_one_that_was_skipped_is_not():
    (message,) = figures.risen({"source_lines": 12, "readability": None}, {"source_lines": 10, "readability": 1.0})
    assert message.startswith("source_lines: 12 is above the ceiling of 10.")
    assert not figures.risen({"source_lines": 10}, {"source_lines": 10})


def test_every_ceiling_is_of_a_figure():
    ceilings = tomllib.loads(figures.CEILINGS.read_text("utf-8"))
    assert set(ceilings) <= set(figures.figures())


@pytest.mark.parametrize("name", ["faults", "equivalent"])
def test_every_mutant_that_is_kept_is_of_a_line_that_exists(name):
    root = figures.ROOT
    kept = tomllib.loads((root / "tools" / f"{name}.toml").read_text("utf-8"))
    for mutant in (each for several in kept.values() for each in several):
        assert mutant["before"] in (root / mutant["file"]).read_text("utf-8"), mutant
        assert all((root / test.partition("::")[0]).exists() for test in mutant.get("tests", ())), mutant
