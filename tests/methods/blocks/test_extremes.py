"""Blocks at their edges: none, one, such that cannot be cut, columns with gaps."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia.errors import DataError
from celosia.methods import InBlocks

PAY = {"area": ["N", "S", None, "S", "N", None], "pay": [10.0, 30.0, 12.0, 34.0, 14.0, 38.0]}
PAIRS = "microaggregate(columns=[pay], k=2)"


def done(method, columns=PAY, engine="polars", **options):
    frame = pl.DataFrame(columns, schema_overrides={"pay": pl.Float64, "near": pl.Float64})
    table = celosia.read(frame, celosia.Schema.of(quasi=["pay"]), engine=engine)
    return celosia.protect(table, InBlocks(method=method, **options), seed=1)


@pytest.mark.parametrize("options", [{"by": ["area"]}, {"size": 2}, {"by": ["area"], "size": 2}])
def test_an_empty_table_has_no_blocks(engine, options):
    made = done(PAIRS, {"area": pl.Series([], dtype=pl.String), "pay": []}, engine, **options)
    assert len(made) == 0
    assert made.history[-1]["blocks"] == 0


def test_records_without_a_stratum_are_one(engine):
    made = done(PAIRS, engine=engine, by=["area"])
    # N 10, 14; S 30, 34; without one 12, 38
    assert made.polars()["pay"].to_list() == [12.0, 32.0, 25.0, 32.0, 12.0, 25.0]
    assert {key: made.history[-1][key] for key in ("blocks", "smallest", "largest")} == {
        "blocks": 3, "smallest": 2, "largest": 2,
    }  # fmt: skip


def test_a_block_as_large_as_allowed_is_not_cut(engine):
    assert done(PAIRS, engine=engine, size=6).history[-1]["blocks"] == 1
    assert done(PAIRS, engine=engine, size=5).history[-1]["blocks"] == 2


def test_blocks_are_cut_where_they_spread_most():
    columns = {"pay": [1.0, 2.0, 3.0, 4.0], "near": [0.0, 100.0, 0.0, 100.0], "flat": [5.0, 5.0, 5.0, 5.1]}
    # pay and near both spread over all of their range; near is cut as the first of the two, flat only where named
    made = done(PAIRS, columns, near=["near", "pay"], size=2)
    assert made.polars()["pay"].to_list() == [2.0, 3.0, 2.0, 3.0]
    assert done(PAIRS, columns, near=["pay"], size=2).polars()["pay"].to_list() == [1.5, 1.5, 3.5, 3.5]


def test_a_missing_number_is_below_every_border():
    columns = {"pay": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "near": [None, None, 1.0, 2.0, 3.0, 4.0]}
    made = done(PAIRS, columns, near=["near"], size=4)  # the median of 1 2 3 4 is 2.5
    assert made.history[-1]["largest"] == 4
    assert made.polars()["pay"][4:].to_list() == [5.5, 5.5]
    nothing = done(PAIRS, {"pay": [1.0, 2.0, 3.0, 4.0], "near": [None] * 4}, near=["near"], size=2)
    assert nothing.history[-1]["blocks"] == 1  # nothing to cut by


@pytest.mark.parametrize(
    ("method", "options", "told"),
    [
        (
            "microaggregate(columns=[pay], k=3)",
            {"by": ["area"]},
            "microaggregate: k is 3, but there are only 2 records",
        ),
        ("pram(columns=[area])", {"size": 2}, "in-blocks: blocks are cut by numeric columns: name some under near"),
        (PAIRS, {"size": 2, "near": ["area"]}, "in-blocks: blocks are cut by numeric columns"),
    ],
)
def test_blocks_that_cannot_be(method, options, told):
    with pytest.raises(DataError, match=told):
        done(method, **options)
