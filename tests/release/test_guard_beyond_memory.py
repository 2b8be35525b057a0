"""The guard compares cells with those that they were where the rows are: one number comes back."""

import polars as pl
import pytest

import celosia
from celosia.data.engines import engine_named
from celosia.data.engines.duckdb import DuckDB
from celosia.release.output import column_profile, guard
from celosia.release.output.guard import inspect
from celosia.release.output.rarity import count_unchanged
from celosia.table.columns import has_many_values
from celosia.table.derive import with_record_ids
from celosia.table.edit import replace_by_batches


def test_cells_that_stayed_as_they_were_are_counted_in_the_engine(tmp_path, monkeypatch):
    """Of 100 incomes the 40 below 140 were bottom-coded to 140, which one had already: 60 records hold their own."""
    frame = pl.DataFrame({"age": [30, 40] * 50, "income": range(100, 200)})
    frame.write_parquet(tmp_path / "people.parquet")
    schema = celosia.Schema.of(quasi=["age"], insensitive=["income"])
    original = with_record_ids(celosia.read(tmp_path / "people.parquet", schema, engine="duckdb"))
    released = replace_by_batches(original, "income", lambda rows: rows["income"].clip(140))
    sizes, collect = [], DuckDB.collect

    def watched(self, frame):
        found = collect(self, frame)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(DuckDB, "collect", watched)
    assert count_unchanged(original, released, "income") == 60
    assert max(sizes) == 1


def register() -> pl.DataFrame:
    """Columns with many values: free, rare, repeated, names, addresses, numbers of cards; some cells are missing."""
    rows = range(120)
    names = ["Maria Garcia Lopez", "Pau Vila Serra", "Ana Ruiz Gil", "Jordi Puig Roca", "Marta Gil Soler"]
    return pl.DataFrame(
        {
            "who": [f"p{i // 2}" for i in rows],
            "age": [30 + i % 3 for i in rows],
            "measure": [None if i % 11 == 0 else i / 7 for i in rows],
            "shared": [i % 40 for i in rows],
            "account": [600_000_000 + i for i in rows],
            "name": [f"{names[i % 5]} {names[i // 5 % 5]}" for i in rows],
            "note": [f"wrote to a{i}@b.org" if i % 3 == 0 else f"note {i}" for i in rows],
            "weight": [1 + i / 100 for i in rows],
        }
    )


@pytest.mark.on_spark(long=True)
@pytest.mark.parametrize("person", [None, "who"])
def test_many_values_are_judged_where_they_are(engine, person, tmp_path, monkeypatch):
    """The same is seen where no value comes here but those whose form is tried: records left out, a column changed."""
    register().write_parquet(tmp_path / "people.parquet")
    free = ["measure", "shared", "account", "name", "note"]
    schema = celosia.Schema.of(quasi=["age"], insensitive=free, person=person, weight="weight")
    kind = type(engine_named(engine))

    def looked() -> list[list]:
        original = with_record_ids(celosia.read(tmp_path / "people.parquet", schema, engine=engine))
        noisy = replace_by_batches(original, "measure", lambda rows: rows["measure"] + rows["measure"] % 2)
        tables = {original.take(range(7, 120)): (), noisy: ("measure",)}
        return [[*inspect(original, table, changed, {})] for table, changed in tables.items()]

    monkeypatch.setattr(kind, "_column_limit", 10**6)
    usual = looked()
    monkeypatch.setattr(kind, "_column_limit", 10)
    asked = []
    for module in (guard, column_profile):
        monkeypatch.setattr(module, "has_many_values", lambda *at: (asked.append(has_many_values(*at)), asked[-1])[1])
    assert looked() == usual
    assert sum(asked) > 10
    assert {sight.column for sight in usual[0]} >= {"measure", "name", "note", "account"}
