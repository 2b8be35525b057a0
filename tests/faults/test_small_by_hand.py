"""Numbers of evidence by hand, each chosen so that an easy slip in the code gives another one."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia import Schema, loss, methods, models, protect, read, risk
from celosia.table.derive import with_record_ids


def test_records_that_were_dropped_are_altered():
    """Two of five are gone, one of the three that stay is changed: three of five."""
    table = read(pl.DataFrame({"a": [1, 2, 3, 4, 5], "b": ["x"] * 5}), Schema.of(quasi=["a"]))
    kept = protect(table, methods.Subset(where="a > 2"), methods.SuppressCells(columns=["a"], where="a = 3"))
    assert len(kept) == 3
    assert loss.AlteredRecords().value(table, kept) == pytest.approx(3 / 5)
    none = protect(table, methods.Subset(where="a > 2"))
    assert loss.AlteredRecords().value(table, none) == pytest.approx(2 / 5)


def test_the_prosecutor_looks_for_the_smallest_class():
    """Classes of 1, 2 and 4: the highest risk is 1, not a quarter; without the first it is a half."""
    table = read(pl.DataFrame({"q": ["a", "b", "b", "c", "c", "c", "c"]}), Schema.of(quasi=["q"]))
    assert risk.Prosecutor().value(table) == 1.0
    rest = read(table.polars().slice(1), Schema.of(quasi=["q"]))
    assert risk.Prosecutor().value(rest) == 0.5
    assert risk.Prosecutor().evidence(rest)["value"] == 0.5
    assert risk.Prosecutor().records(rest)["risk"].to_list() == [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]


def test_a_comparison_is_of_the_protected_with_the_original():
    """Losses that are not the same both ways: one of two records dropped, and categories that were merged."""
    table = with_record_ids(
        read(pl.DataFrame({"q": ["a", "b", "b", "b"], "x": [0.0, 1.0, 2.0, 5.0]}), Schema.of(quasi=["q"]))
    )
    fewer = protect(table, methods.Subset(where="q = 'b'"))
    (found,) = celosia.compare(table, fewer, ["altered-records"]).losses
    assert found.value == 0.25  # one of four is gone; the other way round none of three would be
    doubled = table.replace({"x": pl.Series([0.0, 2.0, 4.0, 10.0])})
    (error,) = celosia.compare(table, doubled, ["relative-error(columns=[x])"]).losses
    back = loss.RelativeError(columns=["x"])
    assert error.value == back.value(table, doubled)
    assert error.value != pytest.approx(back.value(doubled, table)), "the two ways differ, or the test could not fail"
    starred = protect(table, methods.SuppressRecords(require=["k-anonymity(k=2)"]))
    (entropy,) = celosia.compare(table, starred, ["suppression"]).losses
    assert entropy.value == 0.25
    comparison = celosia.compare(table, fewer, ["altered-records"])
    assert (len(comparison.original), len(comparison.protected)) == (4, 3)
    (attack,) = celosia.compare(table, doubled, [], ["distance-linkage(columns=[x], scale='none')"]).risks
    assert attack.value == risk.DistanceLinkage(columns=["x"], scale="none").value(table, doubled)
    assert attack.value != risk.DistanceLinkage(columns=["x"], scale="none").value(doubled, table)


def test_t_closeness_compares_a_class_with_the_whole_table():
    """Half of all are ill, but all of one class and none of the other: distance 1/2 for both, never 0."""
    table = read(
        pl.DataFrame({"q": ["a", "a", "b", "b"], "s": ["ill", "ill", "well", "well"]}),
        Schema.of(quasi=["q"], sensitive=["s"]),
    )
    assert models.TCloseness(t=0.1).value(table) == 0.5
    assert models.TCloseness(t=0.1).classes(table)["t"].to_list() == [0.5, 0.5]
    assert not models.TCloseness(t=0.4).holds(table)
    assert models.TCloseness(t=0.5).holds(table)
    # the baseline stays that of the input when records are left out: 2 of 4 were ill, 2 of 2 that stay are
    ill = protect(table, methods.Subset(where="s = 'ill'"))
    assert models.TCloseness(t=0.1).value(ill) == 0.5
