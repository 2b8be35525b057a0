"""Small pictures: bars in the order of their values, none where they would say nothing."""

from __future__ import annotations

import polars as pl

import celosia
from celosia.studio.sketch import pair, sketch
from celosia.views.comparing.columns import column_pairs


def test_ranges_stand_in_the_order_of_their_values():
    ages = [*range(20, 40), *[61] * 30, *[75] * 10]
    table = celosia.read(
        pl.DataFrame({"age": ages}), celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=20)"})
    )
    safe = celosia.protect(table, "recode(column=age, level=1)", seed=1)
    drawn = pair(column_pairs(table, safe, ["age"])[0])
    labels = [label for label, _, _ in drawn.after.bars]
    assert labels == [label for label, _, _ in drawn.before.bars]
    lows = [float(label.split(" – ")[0]) for label in labels]
    assert lows == sorted(lows), "by value, not by frequency"
    assert abs(sum(share for _, share, _ in drawn.after.bars) - 1) < 1e-9
    assert max(height for _, _, height in (*drawn.before.bars, *drawn.after.bars)) == 1


def test_values_of_their_own_have_no_bars():
    names = pl.Series([f"Ana {i % 300}" for i in range(500)])
    assert sketch(names).bars == (), "the eight commonest names are 16 of 500 records"
    assert len(sketch(pl.Series(["F", "M"] * 25)).bars) == 2
    assert sketch(pl.Series([None, None], dtype=pl.String)).bars == ()
