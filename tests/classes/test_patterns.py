"""Combinations are found again, whichever of them are looked for."""

import polars as pl

from celosia.classes import Patterns
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
