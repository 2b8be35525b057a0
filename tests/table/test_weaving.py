"""Rows that are put together from followed combinations are those that the steps make row by row."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.streams import Stream
from celosia.table.weaving import Weaving


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    rng = np.random.default_rng(5)
    pl.DataFrame(
        {
            "sex": pl.Series(["F", "M", None]).gather(rng.integers(0, 3, 600)),
            "age": rng.choice([20, 21, 23, 40], 600),  # with gaps
            "area": [f"it's {code}" for code in rng.integers(0, 150, 600)],
            "pay": rng.normal(size=600).round(3),
        }
    ).write_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_cells_and_order_are_those_of_the_steps(people, engine, drop):
    schema = celosia.Schema.of(quasi=["sex", "age", "area"], hierarchies={"area": "prefixes"})
    table = celosia.read(people, schema, engine=engine).identified()
    changed = table.map("area", table.tally("area")["area"], table.tally("area")["area"].str.head(6))
    rare = changed.classes.patterns(["sex", "age", "area"])
    rare = rare.cells.filter(pl.Series(rare.rows < 6))
    assert len(rare) > 0
    changed = changed.suppress_classes(rare, drop=drop)
    stream = Stream(11).child("order")
    assert Weaving.of(changed) is not None
    woven = changed.shuffled(stream).streamed().collect()
    plain = changed.engine.collect(
        changed.engine.select(changed.engine.shuffle(changed.rows.frame, stream), changed.names)
    )
    assert woven.equals(plain, null_equal=True)
    assert woven.schema == plain.schema
    assert (len(woven) < 600) == drop
    assert changed.suppressed() == (0 if drop else int((woven["area"] == "*").sum()))


def test_cells_that_no_values_lead_to_are_not_woven(people):
    table = celosia.read(people, celosia.Schema.of(quasi=["sex", "age"])).identified()
    changed = table.replace({"age": np.arange(600)})
    assert Weaving.of(changed) is None


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_combinations_of_all_kept_columns_are_followed_once_and_serve_fewer(people, engine):
    quasi = ["sex", "age", "area"]
    rounded = pl.scan_parquet(people).with_columns(pl.col("pay").round(0).clip(-1, 1)).collect()
    rounded.write_parquet(people)
    schema = celosia.Schema.of(quasi=quasi, sensitive=["pay"], hierarchies={"area": "prefixes"})

    def changed(*, keep):
        table = celosia.read(people, schema, engine=engine).identified()
        if keep:
            table.classes.count_together(quasi, ["pay"], keep=True)
            assert set(table.classes.kept.domains) == {*quasi, "pay"}
        short = table.tally("area")["area"].str.head(6)
        return table.map("area", table.tally("area")["area"], short)

    kept, plain = changed(keep=True), changed(keep=False)
    for names in (["area"], quasi, [*quasi, "pay"]):
        ours, theirs = kept.classes.patterns(names), plain.classes.patterns(names)
        assert ours.cells.with_columns(n=ours.rows).equals(theirs.cells.with_columns(n=theirs.rows), null_equal=True)
    assert Weaving.of(kept) is not None
    assert [set(each.patterns.names) for each in kept.trace._followed] == [{*quasi, "pay"}]
    drawn = kept.replace({"pay": np.arange(600.0)})  # what it is now follows from nothing: the others still do
    assert set(drawn.trace.followed(quasi).patterns.names) == set(quasi)
