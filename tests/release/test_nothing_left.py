"""A release without records is refused, and records that all look alike are one class, in memory as in the file."""

from __future__ import annotations

import pytest
from tests.reference.small import levels, released, table

import celosia
from celosia.errors import RequirementError
from celosia.models import KAnonymity
from celosia.table.suppression import drop_marks

TREE = levels(["a", "*"], ["b", "*"], ["c", "*"])
LETTERS = {"q": ["a", "a", "b", "c"]}


def test_a_release_without_records_is_refused(tmp_path):
    steps = [{"use": "suppress-records", "require": ["k-anonymity(k=3)"], "drop": True}]
    with pytest.raises(RequirementError, match="leave no record"):
        released(LETTERS, tmp_path, steps=steps, quasi=["q"])
    assert not list(tmp_path.glob("*safe*"))


STEPS = (
    {"use": "suppress-records", "require": ["k-anonymity(k=2)"]},
    {"use": "recode", "column": "q", "level": 1},
)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_what_was_suppressed_before_all_became_stars_is_in_their_class(engine):
    """Two records are starred, then the other two: the file shows four alike, and so does what is released."""
    roles = {"quasi": ["q"], "hierarchies": {"q": TREE}}
    given = celosia.read(table(LETTERS, **roles).polars(), celosia.Schema.of(**roles), engine=engine)
    done = celosia.protect(given, *STEPS)
    assert done.suppressed() == 2
    again = celosia.read(done.polars(), celosia.Schema.of(quasi=["q"]), engine=engine)
    for seen in (drop_marks(done), again):
        assert seen.suppressed() == 0
        assert KAnonymity(k=4).verdict(seen) == (4, True)
    assert drop_marks(given) is given


def test_such_a_release_is_written_and_confirmed(tmp_path):
    made = released(LETTERS, tmp_path, steps=STEPS, require=["k-anonymity(k=4)"], quasi=["q"], hierarchies={"q": TREE})
    assert made.holds
    assert made.certificate["requirements"][0]["value"] == 4
