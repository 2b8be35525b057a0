"""The guard compares cells with those that they were where the rows are: one number comes back."""

import polars as pl

import celosia
from celosia.data.engines.duckdb import DuckDB
from celosia.release.leaving.guard import _Look


def test_cells_that_stayed_as_they_were_are_counted_in_the_engine(tmp_path, monkeypatch):
    """Of 100 incomes the 40 below 140 were bottom-coded to 140, which one had already: 60 records hold their own."""
    frame = pl.DataFrame({"age": [30, 40] * 50, "income": range(100, 200)})
    frame.write_parquet(tmp_path / "people.parquet")
    schema = celosia.Schema.of(quasi=["age"], insensitive=["income"])
    original = celosia.read(tmp_path / "people.parquet", schema, engine="duckdb").identified()
    released = original.batched("income", lambda rows: rows["income"].clip(140))
    look, sizes, collect = _Look(original, released, frozenset({"income"}), formal=False), [], DuckDB.collect

    def watched(self, frame):
        found = collect(self, frame)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(DuckDB, "collect", watched)
    assert look._own("income") == 60
    assert max(sizes) == 1
