"""The table of what was tried: its file is whole, and nothing in it failed."""

from __future__ import annotations

import json

from tests.trust.tried import KEPT, Tried, gathered

LEAST = 4_900
"""Cases of bad input in the table, of whole entrances: a sample has less than a hundred."""
SMALLEST = 4
"""Cases of the smallest entrance."""


def test_the_kept_counts_are_rows_without_failures() -> None:
    suites = json.loads(KEPT.read_text("utf-8"))
    rows = [Tried(**row) for suite in suites.values() for row in suite]
    assert [row.what for row in rows if row.failures or row.times < 1] == []
    assert len({row.what for row in rows}) == len(rows)


def test_bad_input_is_counted_by_whole_entrances() -> None:
    suites = json.loads(KEPT.read_text("utf-8"))
    rows = [Tried(**row) for suite in suites.values() for row in suite if row["what"].startswith("bad input: ")]
    assert sum(row.times for row in rows) >= LEAST
    assert [row.what for row in rows if row.times < SMALLEST] == []


def test_a_row_that_is_counted_anew_is_there_once() -> None:
    old, new, other = ({"what": what, "times": n} for what, n in (("a", 1), ("a", 9), ("b", 2)))
    assert gathered({"x": [old, other], "z": [old]}, {"y": [new]}) == {"x": [other], "y": [new]}
