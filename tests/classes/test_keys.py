"""The numbers of rows that are kept on disk: they tell the columns, and the digest of the table without its texts."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.classes import encode
from celosia.classes.keys import Keys, packed, tellable
from celosia.data.engines import engine_named
from celosia.data.engines.engine import KEY, ROWS

ROWS_OF_IT = 150_000  # more than two blocks


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "sex": pl.Series(["F", "M", None]).gather(rng.integers(0, 3, ROWS_OF_IT)),
            "pay": rng.normal(size=ROWS_OF_IT).round(3),
            "age": rng.choice([20, 21, 23, 40], ROWS_OF_IT),
            "area": [f"it's {code}" for code in rng.integers(0, 2000, ROWS_OF_IT)],
        }
    )


@pytest.fixture(scope="module")
def path(people, tmp_path_factory):
    place = tmp_path_factory.mktemp("keys") / "people.parquet"
    people.write_parquet(place)
    return place


def kept_of(path, name):
    engine = engine_named(name)
    domains = {column: encode(pl.read_parquet(path)[column]).values for column in ("area", "sex", "age")}
    return Keys.of(engine, engine.scan(path), domains)


@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_the_numbers_are_those_of_the_rows_in_their_order(path, people, name):
    kept = kept_of(path, name)
    codes = {column: encode(people[column]).codes for column in kept.domains}
    expected = packed(codes, kept.domains)
    assert kept.rows().collect()[KEY].to_list() == expected.tolist()
    counted = kept.histogram().sort(KEY)
    assert (counted[KEY].to_list(), counted[ROWS].to_list()) == tuple(
        each.tolist() for each in np.unique(expected, return_counts=True)
    )


@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_the_digest_by_numbers_is_that_of_the_cells(path, people, name, monkeypatch):
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    schema = celosia.Schema.of(quasi=["area", "sex"], sensitive=["age"], insensitive=["pay"])
    table = celosia.read(path, schema, engine=name).identified()
    table.classes.count_together(["area", "sex"], ["age"], keep=True)
    assert table.classes.kept is not None
    assert set(table.classes.kept.domains) == {"area", "sex", "age"}  # not the pay, which comes from the engine
    assert table.fingerprint() == celosia.read(people).fingerprint()


def test_another_cell_in_the_last_block_is_another_digest(people):
    other = people.with_columns(
        sex=pl.when(pl.int_range(pl.len()) == ROWS_OF_IT - 1).then(pl.lit("X")).otherwise("sex")
    )
    assert celosia.read(other).fingerprint() != celosia.read(people).fingerprint()


def test_the_file_goes_with_the_numbers(path):
    kept = kept_of(path, "polars")
    place = kept.path
    assert place.stat().st_size > 0
    del kept
    assert not place.exists()


def test_numbers_tell_fewer_than_2_to_62_combinations():
    assert tellable({"a": pl.Series(range(2**10)), "b": pl.Series([1])})
    assert not tellable({str(i): pl.Series(range(2**7)) for i in range(9)})
