"""The report for everybody: which counts are withheld, by hand."""

from __future__ import annotations

import pytest

from celosia.consent.publication.edition import WITHHELD, public


def report_of(*owners, total=None, everybody=100, strengthen=()):
    blocks = [
        {"inference": f"i{n}", "owners": n, "rows": 2 * n, "rows whose X it decides": n, "X": 10, "columns": ["a"]}
        for n in owners
    ]
    total = max(owners, default=0) if total is None else total
    groups = {"all": {"value": 0.5}, "blocking": {"value": 0.4}, "others": {"value": 0.6}}
    facts = {"rows": 200, "smallest class": 9, "blocked rows": 2 * total, "of them blocked": 1.0, "X": 10}
    return {
        "method": {"strengthen": list(strengthen)},
        "before": {"alpha": 0.5},
        "rows without an owner": 0,
        "owners": everybody,
        "owners who block": total,
        "rows marked": 2 * total,
        "blocks": blocks,
        "facts": facts,
        "measured": {"coarser": {"losses": groups, "p_reid": groups, "facts": facts, "alpha": 0.0, "cm": {}}},
    }


@pytest.mark.parametrize("few", [0, 1, 4, 30, 66, 67, 99, 100])
def test_counts_of_blocks_are_withheld(few):
    shown = public(report_of(few))
    assert shown["blocks"][0]["owners"] is None
    assert shown["blocks"][0]["rows"] is None
    assert shown["blocks"][0]["rows whose X it decides"] is None
    assert shown["rows marked"] is None
    assert shown["withheld"] == WITHHELD
    assert shown["facts"] == {"rows": 200, "smallest class": 9}
    assert shown["measured"]["coarser"]["facts"] == {"rows": 200, "smallest class": 9}
    for name in ("losses", "p_reid"):
        assert set(shown["measured"]["coarser"][name]) == {"all"}


def test_one_person_more_changes_no_number():
    assert public(report_of(66)) == {**public(report_of(67)), "blocks": public(report_of(66))["blocks"]}


def test_who_asked_is_for_the_publisher_alone():
    """Every coarse place belongs to a blocking owner: who reads that knows who asked."""
    shown = public(report_of(30))
    assert "of them blocked" not in shown["facts"]
    assert "of them blocked" not in shown["measured"]["coarser"]["facts"]
    assert report_of(30)["facts"]["of them blocked"] == 1.0


def test_numbers_over_all_rows_are_withheld_when_rows_are_left_out():
    """300 people in the result and 225 in the file: 75 block, and one person more shows who."""
    shown = public(report_of(75, everybody=300, strengthen=("exclude",)))
    assert shown["owners"] is None
    assert shown["rows without an owner"] is None
    assert shown["before"] == shown["measured"] == {}
