"""Combinations are found again, whichever of them are looked for."""

import sys

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.classes import Patterns
from celosia.data.engines.duckdb import DuckDB
from celosia.data.engines.engine import ROWS
from celosia.data.schema import Kind, Schema

CELLS = pl.DataFrame({"age": ["x", "x", "y", "y"], "town": ["1", "2", "1", "3"], ROWS: [1, 2, 3, 4]})


def patterns(cells: pl.DataFrame) -> Patterns:
    schema = Schema.of(quasi=["age", "town"]).bind(dict.fromkeys(("age", "town"), Kind.NOMINAL))
    return Patterns.of_histogram(cells, schema, ["age", "town"])


def test_some_combinations_are_found_although_they_lack_the_last_value_of_a_column():
    """(x, 1) and (y, 1) are the places 0 and 2; by the values that occur in them alone they would be 0 and 1."""
    assert patterns(CELLS).find(patterns(CELLS[[0, 2]])).tolist() == [0, 2]


def test_all_combinations_are_found_in_any_order():
    assert patterns(CELLS).find(patterns(CELLS[[3, 0, 2, 1]])).tolist() == [3, 0, 2, 1]
    assert patterns(CELLS).find(patterns(CELLS)).tolist() == [0, 1, 2, 3]


def test_persons_are_counted_when_somebody_asks():
    asked = []
    held = patterns(CELLS).held(lambda: asked.append(1) or CELLS[ROWS].to_numpy() - 1, lambda: None, Schema())
    few = held.take(CELLS[ROWS].to_numpy() > 2)
    assert not asked
    assert few.counted.tolist() == [2, 3]
    assert few.rows.tolist() == [3, 4]
    assert asked == [1]


@pytest.mark.parametrize("weight", [None, "weight"])
def test_values_that_are_grouped_outright_give_what_codes_give(tmp_path, monkeypatch, weight):
    """Also the order of an ordinal column, and missing values last; the values of no column are listed first."""
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
    found, listed, tallies = {}, [], DuckDB.tallies

    def noted(engine, frame, names):
        listed.append(names)
        return tallies(engine, frame, names)

    monkeypatch.setattr(DuckDB, "tallies", noted)
    for outright in (True, False):
        monkeypatch.setattr(DuckDB, "groups_values", outright)
        classes = celosia.read(tmp_path / "people.parquet", schema, engine="duckdb").classes
        counts = classes.keyed(("ill",))[1]
        every = classes.patterns(["size", "age", "ill"])
        codes = {name: every.column(name) for name in every.names}
        found[outright] = (
            counts.size.tolist(),
            counts.of("ill").dense().tolist(),
            every.rows.tolist(),
            None if every.weight is None else every.weight.tolist(),
            {name: (column.codes.tolist(), column.values.to_list()) for name, column in codes.items()},
            {name: values.to_list() for name, values in classes.listed.items()},
        )
        assert bool(listed) != outright
    assert found[True] == found[False]
    assert found[True][-1]["size"] == sizes.to_list()
