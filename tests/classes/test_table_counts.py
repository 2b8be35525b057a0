"""Counts of a protected table follow from those of its input, and are those of a loop over every row."""

import itertools
import sys

import numpy as np
import polars as pl
import pytest
from tests.reference.tables import frame_of, random_table, schema_of

import celosia
from celosia.classes import TableCounts
from celosia.data.engines import engine_named
from celosia.data.engines.duckdb import DuckDB
from celosia.data.engines.lazy_frames import RECORD, SUPPRESSED, select_columns
from celosia.data.schema import Schema
from celosia.table.derive import with_record_ids
from celosia.table.edit import map_values
from celosia.table.suppression import suppress_classes

SEEDS = range(900, 912)


def read(seed, place, engine):
    """A table that is not in memory: persons with one combination, with several, and some without an id."""
    table = random_table(seed, 40, persons=True, weights=True, missing="category", gaps=True, letters="abcd")
    frame = frame_of(table).with_columns(
        pl.when(pl.col("n") < 24).then(pl.col("q").first().over("i")).otherwise("q").alias("q"),
        pl.when(pl.col("n") < 24).then(pl.col("r").first().over("i")).otherwise("r").alias("r"),
        pl.when(pl.col("n") % 13 == 5).then(None).otherwise("i").alias("i"),
    )
    frame.write_parquet(place / f"{seed}.parquet")
    return with_record_ids(celosia.read(place / f"{seed}.parquet", schema_of(table), engine=engine))


def protected(table, seed):
    """Coarser quasi-identifiers, and the classes of fewer than three persons suppressed; some lose their rows."""
    table = map_values(table, "q", ["a", "b", "c", "d", None], ["ab", "ab", "cd", "cd", None])
    if seed % 3 == 0:
        return table
    keys, counts = table.classes.histogram.cells, table.class_counts(in_order=True)
    return suppress_classes(table, keys.filter(pl.Series(counts.size < 3)), drop=seed % 3 == 2)


def persons(table, names, *, everyone):
    """The same by all rows."""
    marks = [SUPPRESSED] if SUPPRESSED in table.rows.types else []
    rows = table.engine.collect(select_columns(table.rows.frame, [*names, *marks, "i", RECORD]))
    rows = rows.filter(~pl.col(SUPPRESSED)) if marks and not everyone else rows
    grouped = rows.group_by(*names).agg(pl.col("i").n_unique().alias("persons"))
    return sorted(grouped.rows(), key=str)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.sampled(10)
def test_persons_of_any_columns_follow(seed, engine, tmp_path, monkeypatch):
    monkeypatch.setattr(type(engine_named(engine)), "resident", lambda *_: None)
    original = read(seed, tmp_path, engine)
    quasi = list(original.schema.quasi)
    original.counts.histogram([*quasi, "s"])
    for table in (original, protected(original, seed)):
        with monkeypatch.context() as patch:
            patch.setattr(TableCounts, "_by_engine", None)  # no row is read
            for names, suppressed in itertools.product(
                (quasi, ["q"], ["r"], ["s"], ["q", "s"], [*quasi, "s"]), (True, False)
            ):
                found = table.counts.histogram(names, suppressed=suppressed)
                counted = found.cells.with_columns(pl.Series("persons", found.persons))
                assert sorted(counted.rows(), key=str) == persons(table, names, everyone=suppressed), names
            total = table.classes.total
            sizes = table.classes.over(["r"])[1]
        every = table.engine.collect(select_columns(table.rows.frame, ["i"]))["i"].n_unique()
        assert total == every
        assert sorted(sizes) == sorted(count for _, count in persons(table, ["r"], everyone=False))


def test_persons_follow_through_a_further_column_that_a_step_changed(tmp_path, monkeypatch):
    """A person with flu and a cold counts once among the mild."""
    monkeypatch.setattr(DuckDB, "resident", lambda *_: None)
    original = read(900, tmp_path, "duckdb")
    original.counts.histogram([*original.schema.quasi, "s"])
    mapped = map_values(original, "s", ["flu", "cold", "hiv", "tbc", None], ["mild", "mild", "grave", "grave", None])
    with monkeypatch.context() as patch:
        patch.setattr(TableCounts, "_by_engine", None)
        found = mapped.counts.histogram(["s"])
    counted = found.cells.with_columns(pl.Series("persons", found.persons))
    assert sorted(counted.rows(), key=str) == persons(mapped, ["s"], everyone=True)


def test_weights_of_persons_count_once_in_every_order_of_the_columns(tmp_path):
    original = read(901, tmp_path, "duckdb")
    original.counts.histogram(original.schema.quasi)
    after = protected(original, 1)
    found = after.counts.histogram(["r", "q"], suppressed=False)
    rows = after.engine.collect(after.rows.frame).filter(~pl.col(SUPPRESSED))
    each = rows.group_by("r", "q", "i").agg(pl.col("w").mean()).group_by("r", "q").agg(pl.col("w").sum())
    expected = found.cells.join(each, on=["r", "q"], how="left", nulls_equal=True, maintain_order="left")["w"]
    assert np.allclose(found.weights, expected.to_numpy())


@pytest.mark.parametrize("person", [None, "i"])
def test_weights_have_the_same_digits_on_every_engine_and_way(person, tmp_path, monkeypatch):
    table = random_table(902, 300, persons=True, weights=True, missing="category", gaps=True, letters="abcd")
    frame = frame_of(table).with_columns(pl.Series("w", np.random.default_rng(1).lognormal(size=300)))
    frame.write_parquet(tmp_path / "x.parquet")
    schema = Schema.of(quasi=["q", "r"], sensitive=["s"], weight="w", person=person)
    found = [celosia.read(frame, schema).counts.histogram(["q", "r"]).weights.tolist()]
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    for engine in ("polars", "duckdb"):
        counts = celosia.read(tmp_path / "x.parquet", schema, engine=engine).counts
        counts.prepare(["q", "r"], ["s"], keep_rows=True)
        direct = celosia.read(tmp_path / "x.parquet", schema, engine=engine)
        found += [table.histogram(["q", "r"]).weights.tolist() for table in (counts, direct.counts)]
        found.append(direct.counts.histogram(["s", "r", "q"]).project(["q", "r"]).weights.tolist())
    assert all(weights == found[0] for weights in found)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_values_that_are_grouped_without_codes_give_what_codes_give(tmp_path, monkeypatch, weight):
    """Also the order of an ordinal column, and missing values last."""
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    draw = np.random.default_rng(3)
    sizes = pl.Series(["small", "middle", "large", None])
    rows = {
        "size": sizes.gather(draw.integers(0, 4, 400)),
        "age": pl.Series([20, 21, 40, None]).gather(draw.integers(0, 4, 400)),
        "ill": pl.Series(["b", "a", None]).gather(draw.integers(0, 3, 400)),
        "weight": draw.integers(1, 4, 400),
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "people.parquet")
    order = {"size": ["small", "middle", "large"]}
    schema = Schema.of(quasi=["size", "age"], sensitive=["ill"], weight=weight, kinds={"size": "ordinal"}, orders=order)
    found = {}
    for memory in (None, 1 << 30):  # with a limit values are listed first
        table = celosia.read(tmp_path / "people.parquet", schema, engine="duckdb")
        table.engine.memory = memory
        counts = table.classes.counts_in_order(("ill",))
        every = table.counts.histogram(["size", "age", "ill"], suppressed=False)
        found[memory] = (
            counts.size.tolist(),
            counts.of("ill").dense().tolist(),
            every.rows.tolist(),
            None if every.weights is None else every.weights.tolist(),
            {name: (column.codes.tolist(), column.values.to_list()) for name, column in every.columns.items()},
            {name: domain.values.to_list() for name, domain in table.counts.domains.items()},
        )
    assert found[None] == found[1 << 30]
    assert found[None][-1]["size"] == sizes.to_list()


def test_a_wider_histogram_serves_fewer_columns(tmp_path, monkeypatch):
    original = read(903, tmp_path, "polars")
    original.counts.prepare(original.schema.quasi, ["s"])
    monkeypatch.setattr(TableCounts, "_by_engine", None)
    for names in (["q"], ["s"], ["r", "s"], []):
        assert original.counts.histogram(names).persons.sum() > 0


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("seed", [1, 2])
def test_records_of_entries_are_those_whose_place_is_there(seed, engine, tmp_path):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {"a": pl.Series(["x", "y", None]).gather(rng.integers(0, 3, 300)), "b": rng.integers(0, 9, 300)}
    )
    frame.write_parquet(tmp_path / "rows.parquet")
    table = celosia.read(tmp_path / "rows.parquet", celosia.Schema.of(quasi=["a", "b"]), engine=engine)
    table.counts.prepare(["a", "b"], [], keep_rows=True)
    entries = rng.permutation(len(table.counts.histogram(["a", "b"])))[:7]
    records, entry = table.counts.records_of(["a", "b"], entries)
    place = table.counts.place(["a", "b"])
    assert records.tolist() == [record for record, own in enumerate(place.tolist()) if own in entries]
    assert entry.tolist() == place[records].tolist()


def test_rarest_records_have_the_smallest_frequencies(tmp_path):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"a": rng.integers(0, 9, 200), "b": rng.integers(0, 9, 200)})
    table = celosia.read(frame, celosia.Schema.of(quasi=["a", "b"]))
    records, frequency = table.classes.rarest_records(25)
    every = table.frequencies()
    assert frequency.tolist() == every[records].tolist()
    assert len(records) >= 25
    assert set(records.tolist()) == set(np.flatnonzero(every <= np.sort(every)[24]).tolist())
