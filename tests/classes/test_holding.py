"""Persons of a protected table follow from those of its input: the counts are those of a look at every row."""

import itertools

import numpy as np
import polars as pl
import pytest
from tests.reference.tables import frame_of, random_table, schema_of

import celosia
from celosia.data.engines import engine_named
from celosia.data.engines.engine import RECORD, SUPPRESSED

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
    return celosia.read(place / f"{seed}.parquet", schema_of(table), engine=engine).identified()


def protected(table, seed):
    """Coarser quasi-identifiers, and the classes of fewer than three persons suppressed; some lose their rows."""
    table = table.map("q", ["a", "b", "c", "d", None], ["ab", "ab", "cd", "cd", None])
    if seed % 3 == 0:
        return table
    keys, counts = table.keyed_counts()
    return table.suppress_classes(keys.filter(pl.Series(counts.size < 3)), drop=seed % 3 == 2)


def persons(table, names, *, everyone):
    """The same by all rows."""
    marks = [SUPPRESSED] if SUPPRESSED in table.engine.types(table.rows.frame) else []
    rows = table.engine.collect(table.engine.select(table.rows.frame, [*names, *marks, "i", RECORD]))
    rows = rows.filter(~pl.col(SUPPRESSED)) if marks and not everyone else rows
    grouped = rows.group_by(*names).agg(pl.col("i").n_unique().alias("persons"))
    return sorted(grouped.rows(), key=str)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.sampled(10)
def test_persons_of_any_columns_follow(seed, engine, tmp_path, monkeypatch):
    monkeypatch.setattr(type(engine_named(engine)), "resident", lambda *_: False)
    original = read(seed, tmp_path, engine)
    quasi = list(original.schema.quasi)
    for names in (quasi, [*quasi, "s"]):
        original.classes.patterns(names, everyone=True)
    original.classes.several(quasi, ["s"])
    for table in (original, protected(original, seed)):
        assert table.classes.holders(["s"]) is not None
        looked = monkeypatch.context()
        with looked as patch:
            patch.setattr(type(table.classes), "_looked_at", None)  # nobody looks at the rows
            for names, everyone in itertools.product(
                (quasi, ["q"], ["r"], ["s"], ["q", "s"], [*quasi, "s"]), (True, False)
            ):
                found = table.classes.patterns(names, everyone=everyone)
                told = found.cells.with_columns(pl.Series("persons", found.counted))
                assert sorted(told.rows(), key=str) == persons(table, names, everyone=everyone), (names, everyone)
            total = table.classes.total
            sizes = table.classes.sizes_over(["r"])
        everybody = table.engine.collect(table.engine.select(table.rows.frame, ["i"]))["i"].n_unique()
        assert total == everybody
        assert sorted(sizes) == sorted(count for _, count in persons(table, ["r"], everyone=False))


def test_a_further_column_that_a_step_changed_is_looked_at(tmp_path):
    """A person with flu and a cold counts once among the mild."""
    original = read(900, tmp_path, "duckdb")
    quasi = list(original.schema.quasi)
    original.classes.patterns([*quasi, "s"], everyone=True)
    original.classes.several(quasi, ["s"])
    mapped = original.map("s", ["flu", "cold", "hiv", "tbc", None], ["mild", "mild", "grave", "grave", None])
    assert mapped.classes.holders(["s"]) is None
    found = mapped.classes.patterns(["s"], everyone=True)
    told = found.cells.with_columns(pl.Series("persons", found.counted))
    assert sorted(told.rows(), key=str) == persons(mapped, ["s"], everyone=True)


def test_weights_of_persons_count_once_in_every_order_of_the_combinations(tmp_path):
    original = read(901, tmp_path, "duckdb")
    original.classes.patterns(list(original.schema.quasi), everyone=True)
    after = protected(original, 1)
    found = after.classes.patterns(["r", "q"])
    rows = after.engine.collect(after.rows.frame).filter(~pl.col(SUPPRESSED))
    each = rows.group_by("r", "q", "i").agg(pl.col("w").mean()).group_by("r", "q").agg(pl.col("w").sum())
    expected = found.cells.join(each, on=["r", "q"], how="left", nulls_equal=True, maintain_order="left")["w"]
    assert np.allclose(found.weight, expected.to_numpy())
