"""A release that holds because a column, or everything, is suppressed: the terminal and the first page say so."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia.release.report import render
from celosia.show.blocks import short_release_blocks

STEPS = {
    "one column": {"use": "recode", "column": "age", "level": 2},
    "everything": {"use": "generalise", "levels": {"age": 2, "sex": 1}, "require": ["k-anonymity(k=12)"]},
}


@pytest.mark.parametrize("language", ["en", "es", "ca"])
@pytest.mark.parametrize("what", STEPS)
def test_columns_with_nothing_left_are_named(tmp_path, what, language):
    pl.DataFrame({"sex": ["f", "m"] * 6, "age": range(12)}).write_parquet(tmp_path / "in.parquet")
    policy = {
        "input": {"path": str(tmp_path / "in.parquet")},
        "schema": {"quasi": ["sex", "age"], "hierarchies": {"age": "intervals(width=5)"}},
        "require": ["k-anonymity(k=6)"],
        "step": [STEPS[what]],
        "output": {"path": str(tmp_path / "out.csv"), "report": False},
    }
    release = celosia.run(celosia.Policy.of(policy))
    assert release.holds
    verdict = short_release_blocks(release)[0].title
    page = render(release, edition="external", language=language)
    first = page[: page.index('id="requirements"')]
    nothing = {"en": "nothing left (*)", "es": "no queda nada (*)", "ca": "no queda res (*)"}[language]
    names = "age" if what == "one column" else "sex, age"
    assert f"{names}: {nothing}." in first
    if what == "one column":
        assert verdict == "Every requirement holds. Nothing is left of: age (every cell is suppressed)."
    else:
        assert verdict.startswith("The requirements hold only because nothing is left")
        assert "(sex, age)" in verdict
