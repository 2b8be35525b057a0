"""Releases whose certificate was right and whose verification said otherwise, or stopped.

A test marked ``xfail(strict=True)`` shows a fault that is still there: whoever mends it deletes the mark.
"""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.reference.small import levels, released

from celosia import methods, models
from celosia.errors import CelosiaError
from celosia.release.verify.verify import verify


def test_everything_suppressed_is_verified(tmp_path):
    step = methods.SuppressRecords(require=["k-anonymity(k=2)"])
    made = released({"q": list("ab")}, tmp_path, quasi=["q"], steps=[step], require=[models.KAnonymity(k=2)])
    assert all(check.passed is not False for check in verify(made.paths["certificate"]))


def test_a_distance_from_the_input_is_not_checked_against_the_release(tmp_path):
    model = models.TCloseness(t=0.5)
    made = released(
        {"n": [1, 2, 3, 4], "q": list("aabb"), "s": list("xyzz")},
        tmp_path, quasi=["q"], sensitive=["s"], steps=[methods.Subset(where="n < 4")], require=[model],
    )  # fmt: skip
    assert all(check.passed is not False for check in verify(made.paths["certificate"]))


def test_a_distance_on_a_hierarchy_does_not_stop_the_verification(tmp_path):
    model = models.TCloseness(t=1, distance="hierarchical")
    hierarchy = levels(["x", "g", "*"], ["y", "g", "*"])
    made = released(
        {"q": list("aabb"), "s": list("xyxy")},
        tmp_path, quasi=["q"], sensitive=["s"], hierarchies={"s": hierarchy}, require=[model],
    )  # fmt: skip
    assert all(check.passed is not False for check in verify(made.paths["certificate"]))


def test_a_declared_order_counts_in_the_verification(tmp_path):
    model = models.TCloseness(t=1, distance="ordered")
    made = released(
        {"q": list("aab"), "s": ["low", "high", "mid"]},
        tmp_path, quasi=["q"], sensitive=["s"], kinds={"s": "ordinal"}, orders={"s": ["low", "mid", "high"]},
        require=[model],
    )  # fmt: skip
    assert all(check.passed is not False for check in verify(made.paths["certificate"]))


def test_withheld_sets_are_said_not_to_be_checkable(tmp_path):
    sets = {"q": {"low": "(-inf;1;2)", "high": "(1;2;inf)"}}
    made = released(
        {"q": [1.0, 1.5, 1.75, 2.0, 9.0, 20.0]}, tmp_path, quasi=["q"], require=[models.QAnonymity(q=2, sets=sets)]
    )
    assert all(check.passed is not False for check in verify(made.paths["certificate"]))


def test_people_of_a_generalised_class_do_not_stop_the_verification(tmp_path):
    people = tmp_path / "people.csv"
    pl.DataFrame({"q": list("aabbb")}).write_csv(people)
    hierarchy = levels(["a", "ab", "*"], ["b", "ab", "*"])
    made = released(
        {"q": list("aab")}, tmp_path, quasi=["q"], hierarchies={"q": hierarchy},
        steps=[methods.Recode(column="q", level=1)], require=[models.KMap(k=2, population=str(people))],
    )  # fmt: skip
    assert all(check.passed is not False for check in verify(made.paths["certificate"]))


def test_suppressed_records_stay_suppressed_when_sensitive_columns_join(tmp_path):
    model = models.LDiversity(l=2, column="s", others="quasi")
    made = released(
        {"q": list("aab"), "s": list("xyx"), "o": list("uuu")}, tmp_path, quasi=["q"], sensitive=["s", "o"],
        steps=[methods.SuppressRecords(require=["k-anonymity(k=2)"])], require=[model],
    )  # fmt: skip
    assert all(check.passed is not False for check in verify(made.paths["certificate"]))


def test_a_certificate_that_lacks_a_key_is_named_in_one_sentence(tmp_path):
    made = released({"q": list("aa")}, tmp_path, quasi=["q"], require=[models.KAnonymity(k=2)])
    stated = json.loads(made.paths["certificate"].read_text())
    del stated["schema"]
    made.paths["certificate"].write_text(json.dumps(stated))
    with pytest.raises(CelosiaError):
        verify(made.paths["certificate"])
