"""Copied uniques and nearest originals: by hand, against a copy, a fresh sample and a control."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable
from celosia.risk import CopiedUniques, NearestOriginal


def test_copied_uniques_by_hand():
    original = celosia.read(pl.DataFrame({"a": [1, 1, 2, 3], "b": ["x", "x", "y", None]}))
    release = celosia.read(pl.DataFrame({"a": [1, 2, 3, 3, 9], "b": ["x", "y", None, "y", "z"]}))
    # (2, y) and (3, missing) are unique in the original and in the release; (1, x) occurs twice there
    assert CopiedUniques().value(original, release) == 2 / 5
    assert CopiedUniques().records(original, release)["copied"].to_list() == [False, True, True, False, False]
    assert CopiedUniques(columns=["a"]).value(original, release) == 3 / 5
    control = pl.DataFrame({"a": [2, 7, 8, 9], "b": ["y", "x", "x", "x"]})
    found = CopiedUniques(control=control).evidence(original, release)
    assert (found["rate"], found["control"]) == (0.4, 0.25)
    assert found["value"] == pytest.approx((0.4 - 0.25) / 0.75)
    assert found["interval"][0] <= found["value"] <= found["interval"][1]


def test_rows_and_numbers_of_another_type_are_compared_by_value():
    original = celosia.read(pl.DataFrame({"a": [1, 2, 3]}))
    assert CopiedUniques().value(original, celosia.read(pl.DataFrame({"a": [1.0, 2.0, 2.5]}))) == pytest.approx(2 / 3)


@pytest.fixture
def halves():
    rng = np.random.default_rng(0)

    def sample():
        x = rng.normal(size=(600, 3))
        return pl.DataFrame({"x": x[:, 0], "y": x[:, 1] + x[:, 0], "c": np.where(x[:, 2] > 0, "u", "v")})

    return sample(), sample(), sample()


def test_a_copy_is_near_and_a_fresh_sample_is_not(halves):
    used, control, fresh = halves
    original = celosia.read(used)
    risk = NearestOriginal(control=control)
    noisy = used.with_columns(pl.col("x") + 1e-4)
    assert risk.value(original, celosia.read(used)) == 1.0
    assert risk.value(original, celosia.read(noisy)) > 0.95
    found = risk.evidence(original, celosia.read(fresh))
    assert found["value"] < 0.12
    assert not found["better_than_guessing"]
    assert len(risk.records(original, celosia.read(fresh))) == len(fresh)
    assert risk.records(original, original)["distance"].max() == 0


def test_without_a_control_there_is_no_answer(halves):
    original = celosia.read(halves[0])
    with pytest.raises(NotApplicable, match="give a control table"):
        NearestOriginal().value(original, original)


def test_the_tables_are_cut_to_one_size(halves):
    used, control, fresh = halves
    original = celosia.read(used)
    small = NearestOriginal(control=control.head(100)).value(original, celosia.read(fresh))
    assert small < 0.15  # with 600 against 100 people most records would be nearer to the 600


def test_both_are_measured_by_compare(halves):
    used, control, _ = halves
    table = celosia.read(used)
    made = celosia.protect(table, celosia.methods.SequentialTrees(), seed=1)
    found = celosia.compare(
        table, made, ["contingency"], [CopiedUniques(control=control), NearestOriginal(control=control)]
    )
    assert [finding.reason for finding in (*found.losses, *found.risks)] == ["", "", ""]
