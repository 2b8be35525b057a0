"""Columns that no step changed are counted in the table that was read."""

import narwhals as nw
import polars as pl
import pytest

import celosia
from celosia.table.columns import cheapest_frame_with, count_values


@pytest.fixture
def table(engine, tmp_path):
    path = tmp_path / "people.parquet"
    pl.DataFrame({"age": [30, 31, 30, None], "city": list("abca"), "pay": [1.5, 2.5, 1.5, 4.0]}).write_parquet(path)
    schema = celosia.Schema.of(quasi=["age", "city"], insensitive=["pay"])
    return celosia.read(path, schema, engine=engine).identified()


def counts(tally: pl.DataFrame) -> list[tuple]:
    return sorted(tally.rows(), key=str)


def test_a_column_that_no_step_changed_is_counted_in_the_input(table):
    before = counts(count_values(table, "pay"))
    mapped = table.map("city", ["a", "b", "c"], ["x", "x", "y"])
    assert mapped.lineage.keeps_column("pay")
    assert not mapped.lineage.keeps_column("city")
    assert cheapest_frame_with(mapped, ["pay"]) is table.rows.frame
    assert cheapest_frame_with(mapped, ["pay", "city"]) is mapped.rows.frame
    assert counts(count_values(mapped, "pay")) == before
    assert counts(count_values(mapped, "city")) == [("x", 3), ("y", 1)]


def test_a_column_that_lost_rows_or_cells_is_counted_anew(table):
    gone = table.suppress_classes(pl.DataFrame({"age": [30], "city": ["a"]}), drop=True)
    assert not gone.lineage.keeps_column("pay")
    assert counts(count_values(gone, "pay")) == [(1.5, 1), (2.5, 1), (4.0, 1)]
    rounded = table.with_columns({"pay": nw.col("pay").round(0)})
    assert not rounded.lineage.keeps_column("pay")
    drawn = table.batched("pay", lambda rows: rows["pay"] + 1)
    assert drawn.lineage is None or not drawn.lineage.keeps_column("pay")
    assert counts(count_values(drawn, "pay")) == [(2.5, 2), (3.5, 1), (5.0, 1)]
    assert cheapest_frame_with(drawn, ["pay"]) is drawn.rows.frame
