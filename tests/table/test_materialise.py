"""Rows that are written from codes and mapped entries are those that the steps make row by row."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.data.engines.lazy_frames import select_columns
from celosia.streams import Stream
from celosia.table.columns import count_values
from celosia.table.derive import with_record_ids
from celosia.table.edit import map_values
from celosia.table.frames import stream_rows
from celosia.table.materialise import Materialised, shuffle
from celosia.table.suppression import suppress_classes


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
    table = with_record_ids(celosia.read(people, schema, engine=engine))
    changed = map_values(
        table, "area", count_values(table, "area")["area"], count_values(table, "area")["area"].str.head(6)
    )
    rare = changed.counts.histogram(["sex", "age", "area"], suppressed=False)
    rare = rare.cells.filter(pl.Series(rare.rows < 6))
    assert len(rare) > 0
    changed = suppress_classes(changed, rare, drop=drop)
    stream = Stream(11).child("order")
    assert Materialised.of(changed) is not None
    materialised = stream_rows(shuffle(changed, stream)).collect()
    plain = changed.engine.collect(select_columns(changed.engine.shuffle(changed.rows.frame, stream), changed.names))
    assert materialised.equals(plain, null_equal=True)
    assert materialised.schema == plain.schema
    assert (len(materialised) < 600) == drop
    assert changed.suppressed() == (0 if drop else int((materialised["area"] == "*").sum()))


def test_columns_that_were_changed_record_by_record_have_no_lineage(people):
    table = with_record_ids(celosia.read(people, celosia.Schema.of(quasi=["sex", "age"])))
    changed = table.replace({"age": np.arange(600)})
    assert Materialised.of(changed) is None


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_one_derivation_of_all_stored_columns_serves_fewer(people, engine):
    quasi = ["sex", "age", "area"]
    rounded = pl.scan_parquet(people).with_columns(pl.col("pay").round(0).clip(-1, 1)).collect()
    rounded.write_parquet(people)
    schema = celosia.Schema.of(quasi=quasi, sensitive=["pay"], hierarchies={"area": "prefixes"})

    def changed(*, keep):
        table = with_record_ids(celosia.read(people, schema, engine=engine))
        if keep:
            table.counts.prepare(quasi, ["pay"], keep_rows=True)
            assert set(table.counts.stored.domains) == {*quasi, "pay"}
        short = count_values(table, "area")["area"].str.head(6)
        return map_values(table, "area", count_values(table, "area")["area"], short)

    kept, plain = changed(keep=True), changed(keep=False)
    for names in (["area"], quasi, [*quasi, "pay"]):
        ours, theirs = (each.counts.histogram(names, suppressed=False, rows_only=True) for each in (kept, plain))
        assert ours.cells.with_columns(n=ours.rows).equals(theirs.cells.with_columns(n=theirs.rows), null_equal=True)
    assert Materialised.of(kept) is not None
    assert [set(each.before.names) for each in kept.provenance.lineage._derived.values()] == [{*quasi, "pay"}]
    drawn = kept.replace({"pay": np.arange(600.0)})  # it has no lineage: the others still have one
    assert set(drawn.provenance.lineage.derive(quasi, rows_only=True).before.names) == set(quasi)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("person", [None, "who"])
def test_stored_codes_of_persons_are_written_too(people, engine, person):
    frame = pl.read_parquet(people).with_columns(who=pl.int_range(pl.len()) // 3)
    frame.write_parquet(people)
    schema = celosia.Schema.of(quasi=["sex", "area"], person=person, hierarchies={"area": "prefixes"})
    table = with_record_ids(celosia.read(people, schema, engine=engine))
    table.counts.prepare(["sex", "area"], [], keep_rows=True)
    changed = map_values(
        table, "area", count_values(table, "area")["area"], count_values(table, "area")["area"].str.head(6)
    )
    stream = Stream(11).child("order")
    found = stream_rows(shuffle(changed, stream)).collect()
    plain = changed.engine.collect(select_columns(changed.engine.shuffle(changed.rows.frame, stream), changed.names))
    assert found.equals(plain, null_equal=True)
