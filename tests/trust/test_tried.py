"""The table of what was tried: its file is whole, and nothing in it failed."""

from __future__ import annotations

import json

from tests.trust.tried import KEPT, Tried


def test_the_kept_counts_are_rows_without_failures() -> None:
    suites = json.loads(KEPT.read_text("utf-8"))
    rows = [Tried(**row) for suite in suites.values() for row in suite]
    assert [row.what for row in rows if row.failures or row.times < 1] == []
    assert len({row.what for row in rows}) == len(rows)
