"""Records and cells that are suppressed, drawn or left out: options, extremes, persons."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError, RequirementError
from celosia.methods import Drop, Sample, Subset, SuppressCells, SuppressRecords
from celosia.models import KAnonymity, LDiversity
from celosia.streams import Stream

CLASSES = {"a": [1, 1, 2, 3, 3], "s": ["x", "y", "x", "z", "z"], "p": [1, 2, 3, 4, 4]}


def table(columns=CLASSES, engine="polars", **schema):
    given = {"quasi": ["a"], "sensitive": ["s"]} if columns is CLASSES else {}
    return celosia.read(pl.DataFrame(columns), celosia.Schema.of(**{**given, **schema}), engine=engine)


def suppressed(data, *require, **options):
    return celosia.protect(data, SuppressRecords(require=list(require), **options))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [("1", "x"), ("1", "y"), ("*", None), ("3", "z"), ("3", "z")]),
        ({"blank": True}, [("1", "x"), ("1", "y"), ("*", None), ("3", "z"), ("3", "z")]),
        ({"drop": True}, [(1, "x"), (1, "y"), (3, "z"), (3, "z")]),
        ({"drop": True, "blank": True}, [(1, "x"), (1, "y"), (3, "z"), (3, "z")]),
    ],
)
def test_who_is_alone_is_suppressed(engine, options, expected):
    done = suppressed(table(engine=engine), KAnonymity(k=2), **options)
    assert done.polars().select("a", "s").rows() == expected
    assert done.history[-1]["suppressed"] == 1
    assert done.history[-1]["share"] == pytest.approx(0.2)


def test_a_class_of_one_person_or_of_one_value_goes_too():
    two = suppressed(table(person="p"), KAnonymity(k=2), drop=True)
    assert two.polars()["a"].to_list() == [1, 1]  # the two rows of a = 3 are one person's
    both = suppressed(table(), KAnonymity(k=2), LDiversity(l=2), drop=True)
    assert both.polars()["a"].to_list() == [1, 1]


def test_where_all_would_go():
    assert suppressed(table(), KAnonymity(k=4)).polars()["a"].to_list() == ["*"] * 5  # five who look alike
    with pytest.raises(
        RequirementError, match=r"k at least 6 cannot be met: only suppressed records would be left, .* 5"
    ):
        suppressed(table(), KAnonymity(k=6))
    assert len(suppressed(table(), KAnonymity(k=6), drop=True)) == 0
    empty = celosia.read(table().polars().head(0), table().schema)
    assert suppressed(empty, KAnonymity(k=6)).history[-1]["share"] == 0.0


def test_what_was_suppressed_before_is_not_counted_again():
    once = suppressed(table(), KAnonymity(k=2))
    twice = suppressed(once, KAnonymity(k=2))
    assert twice.history[-1]["suppressed"] == 0
    assert twice.polars().equals(once.polars())


def test_a_requirement_of_the_file_is_refused():
    with pytest.raises(
        ParameterError, match="suppress-records: average-risk judges the whole file, not class by class"
    ):
        suppressed(table(), "average-risk(risk=0.1)")
    with pytest.raises(ParameterError, match="suppress-records: require must have at least 1 items"):
        SuppressRecords(require=[])


def test_rare_cells_by_hand():
    columns = {"v": ["a", "a", "b", None, None, "c"], "p": [1, 1, 2, 3, 4, 5]}
    # persons with a: 1; b: 1; missing: 2; c: 1
    made = celosia.protect(table(columns, person="p"), SuppressCells(columns=["v"], fewer_than=2))
    assert made.polars()["v"].to_list() == [None] * 6
    assert made.history[-1]["suppressed"] == {"v": 4}  # a missing value was none to suppress
    by_row = celosia.protect(table(columns), SuppressCells(columns=["v"], fewer_than=2, by="star"))
    assert by_row.polars()["v"].to_list() == ["a", "a", "*", None, None, "*"]


@pytest.mark.parametrize("by", ["missing", "star"])
def test_both_rules_must_agree(by):
    columns = {"v": [1, 2, 2, 3], "x": [0, 0, 9, 9]}
    made = celosia.protect(table(columns), SuppressCells(columns=["v"], where="x = 9", fewer_than=2, by=by))
    assert made.polars()["v"].to_list() == ([1, 2, 2, None] if by == "missing" else ["1", "2", "2", "*"])


def test_cells_of_new_records_are_blanked_by_a_condition_only():
    assert SuppressCells(columns=["v"], where="v > 1").freeze({}).where == "v > 1"
    with pytest.raises(DataError, match=r"rare values \(fewer_than\) are counted over all records"):
        SuppressCells(columns=["v"], fewer_than=2).freeze({})
    with pytest.raises(ParameterError, match="suppress-cells: fewer_than must be at least 2, got 1"):
        SuppressCells(columns=["v"], fewer_than=1)


def test_weights_of_a_sample_add_up_to_those_of_the_file():
    columns = {"i": range(100), "h": [i // 4 for i in range(100)], "w": [2.5] * 100}
    for options in ({"size": 20}, {"size": 5, "by": "h"}, {"share": 1.0}):
        done = celosia.protect(table(columns, weight="w"), Sample(**options), seed=1)
        assert done.polars()["w"].sum() == pytest.approx(250)
        assert done.history[-1]["weights divided by"] == pytest.approx(len(done) / 100)
    assert Sample(size=2).overwrites(table(columns, weight="w").schema) == ("w",)
    assert Sample(size=2, reweigh=False).overwrites(table(columns, weight="w").schema) == ()
    assert Sample(size=2).overwrites(table(columns).schema) == ()


def test_a_sample_of_nobody():
    done = celosia.protect(table({"i": [1, 2], "w": [1.0, 1.0]}, weight="w"), Sample(share=1e-9), seed=1)
    assert len(done) == 0
    assert done.history[-1]["kept"] == 0
    assert "weights divided by" not in done.history[-1]


@pytest.mark.parametrize("share", [0, -0.5, 1.01])
@pytest.mark.parametrize("method", [Sample, Subset])
def test_a_share_is_above_0_and_at_most_1(method, share):
    with pytest.raises(ParameterError, match=rf"{method.name}: share must be (more than 0|at most 1)\.0, got"):
        method(share=share)


def test_a_subset_at_random_is_of_persons():
    data = table({"p": [1, 1, 1, 2, 2, 3], "v": range(6)}, person="p")
    for seed in range(8):
        outcome = Subset(size=2).apply(data, Stream(seed))
        kept = outcome.table.polars()["p"].to_list()
        assert len(set(kept)) == 2
        assert len(kept) == sum(data.polars()["p"].to_list().count(p) for p in set(kept))
        assert outcome.evidence == {"kept": len(kept), "of": 6}
        assert outcome.aside["population"].polars().equals(data.polars())


def test_the_records_of_a_second_file_match_in_all_columns_and_once():
    data = table({"a": ["x", "x", None, "y"], "n": [1, 2, 3, None]})
    wanted = pl.DataFrame({"n": [1.0, 1.0, 3.0, None], "a": ["x", "x", None, "y"], "other": [0, 0, 0, 0]})
    kept = celosia.protect(data, Subset(matching=wanted)).polars()
    assert kept.rows() == [("x", 1), (None, 3), ("y", None)]  # twice in the second file, once here
    by_one = celosia.protect(data, Subset(matching=wanted, on=["a"])).polars()
    assert len(by_one) == 4


def test_nothing_is_dropped_where_nothing_names_anybody():
    frame = pl.DataFrame({"name": ["A"], "age": [30]})
    assert celosia.protect(celosia.read(frame), Drop()).names == ("name", "age")
    named = celosia.read(frame, celosia.Schema.of(identifiers=["name"], quasi=["age"]))
    assert celosia.protect(named, Drop(columns=["age"])).names == ("name",)
    gone = celosia.protect(named, Drop())
    assert gone.schema.identifiers == ()
    assert gone.history[-1]["dropped"] == ["name"]
    assert np.array_equal(gone.polars()["age"], [30])


def test_cells_of_suppressed_records_stay_suppressed():
    """A missing cell would show the record as an ordinary one, so that the file and its certificate disagree."""
    data = table({"a": ["x", "x", "y"], "n": [9, 9, 9]}, quasi=["a"])
    done = celosia.protect(
        data, SuppressRecords(require=[KAnonymity(k=2)]), SuppressCells(columns=["a"], where="n > 5")
    )
    assert done.polars()["a"].to_list() == [None, None, "*"]


def test_suppressed_records_without_a_value_are_not_anatomised():
    data = table(
        {"a": ["F", "M"] * 20 + ["X"], "s": ["flu", "cold", "hiv", "none"] * 10 + ["hiv"]}, quasi=["a"], sensitive=["s"]
    )
    steps = [SuppressRecords(require=[KAnonymity(k=3)]), celosia.methods.Anatomise(l=2)]
    with pytest.raises(RequirementError, match="1 suppressed records have no value of 's'"):
        celosia.protect(data, *steps)
