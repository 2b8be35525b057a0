"""Columns that no step changed are counted in the table that was read."""

import narwhals as nw
import polars as pl
import pytest

import celosia
from celosia.table.columns import cheapest_frame_with, count_values
from celosia.table.derive import with_record_ids
from celosia.table.edit import map_values, replace_by_batches, replace_by_expressions
from celosia.table.suppression import suppress_classes


@pytest.fixture
def table(engine, tmp_path):
    path = tmp_path / "people.parquet"
    pl.DataFrame({"age": [30, 31, 30, None], "city": list("abca"), "pay": [1.5, 2.5, 1.5, 4.0]}).write_parquet(path)
    schema = celosia.Schema.of(quasi=["age", "city"], insensitive=["pay"])
    return with_record_ids(celosia.read(path, schema, engine=engine))


def counts(tally: pl.DataFrame) -> list[tuple]:
    return sorted(tally.rows(), key=str)


def test_a_column_that_no_step_changed_is_counted_in_the_input(table):
    before = counts(count_values(table, "pay"))
    mapped = map_values(table, "city", ["a", "b", "c"], ["x", "x", "y"])
    assert mapped.provenance.lineage.keeps_column("pay")
    assert not mapped.provenance.lineage.keeps_column("city")
    assert cheapest_frame_with(mapped, ["pay"]) is table.rows.frame
    assert cheapest_frame_with(mapped, ["pay", "city"]) is mapped.rows.frame
    assert counts(count_values(mapped, "pay")) == before
    assert counts(count_values(mapped, "city")) == [("x", 3), ("y", 1)]


def test_a_column_that_lost_rows_or_cells_is_counted_anew(table):
    gone = suppress_classes(table, pl.DataFrame({"age": [30], "city": ["a"]}), drop=True)
    assert not gone.provenance.lineage.keeps_column("pay")
    assert counts(count_values(gone, "pay")) == [(1.5, 1), (2.5, 1), (4.0, 1)]
    rounded = replace_by_expressions(table, {"pay": nw.col("pay").round(0)})
    assert not rounded.provenance.lineage.keeps_column("pay")
    drawn = replace_by_batches(table, "pay", lambda rows: rows["pay"] + 1)
    assert drawn.provenance.lineage is None or not drawn.provenance.lineage.keeps_column("pay")
    assert counts(count_values(drawn, "pay")) == [(2.5, 2), (3.5, 1), (5.0, 1)]
    assert cheapest_frame_with(drawn, ["pay"]) is drawn.rows.frame
