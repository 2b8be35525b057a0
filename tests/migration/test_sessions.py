"""The sessions of the two pages run as they are printed, and their numbers are those of the reference results."""

from __future__ import annotations

import pytest
from tests.migration import sessions


@pytest.mark.parametrize("name", sessions.PAGES)
def test_a_session_runs_from_what_it_starts_with_and_shows_what_is_printed(name, shared, tmp_path):
    """Stale? ``python -m tests.migration.sessions`` writes what is printed now."""
    for needed in sessions.NEEDED[name]:
        shared(needed)
    assert sessions.session(name, tmp_path) == sessions.PAGES[name].read_text("utf-8")


def test_imported_projects_end_where_arx_ended(shared, tmp_path):
    for needed in sessions.NEEDED["arx"]:
        shared(needed)
    page = sessions.PAGES["arx"].read_text("utf-8")
    golden = sessions.golden_scenarios()
    assert set(golden) == set(sessions.SCENARIOS)
    for name, row in golden.items():
        ours = sessions.imported_and_protected(name, tmp_path)
        assert ours["levels"] == row["levels"], name
        assert ours["suppressed"] == row["suppressed"], name
        assert ours["classes"] == row["classes"], name
        # ARX rounds the loss of each column to ten digits
        assert ours["score"] == pytest.approx(float(row["score"]), rel=1e-8), name
        assert sessions.arx_line(name, row, ours) in page, "stale? python -m tests.migration.sessions"


def test_the_imported_introduction_measures_what_sdcmicro_measures(shared, tmp_path):
    for needed in sessions.NEEDED["sdcmicro"]:
        shared(needed)
    script = sessions.prepared("sdcmicro", tmp_path) / "intro.R"
    written = sessions.write(sessions.translate(script), tmp_path / "policy.toml", source=script)
    numbers = sessions.testdata_numbers(written[0])
    assert sessions.as_table(numbers) in sessions.PAGES["sdcmicro"].read_text("utf-8")
    for what, (theirs, ours) in numbers.items():
        if theirs is None:
            assert ours == 0 or "cells" in what
        elif "if a blank is a value" in what:  # what that reading leaves open, in both tools
            assert min(theirs, ours) > 0, what
        elif "blank" in what:
            assert ours <= theirs, what
        else:  # its DIS is in single precision
            assert ours == pytest.approx(theirs, rel=1e-6), what
