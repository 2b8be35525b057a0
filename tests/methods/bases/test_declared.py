"""What is declared about columns: their cells, counts of them with a bound per person, and values on the way back."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import ParameterError, SchemaError, UnknownName
from celosia.methods.bases import dp_cells
from celosia.methods.bases.domain import Domain, domain
from celosia.table.suppression import suppress_records


def table(columns, overrides=None, **schema):
    return celosia.read(pl.DataFrame(columns, schema_overrides=overrides), celosia.Schema.of(**schema))


@pytest.mark.parametrize(
    ("columns", "bounds", "given", "expected"),
    [
        ({"v": ["x", "y"]}, {"v": (0, 3)}, {}, {"values": (0, 1, 2, 3)}),  # the type that was read decides nothing
        ({"v": [1.5, 2]}, {"v": (0.5, 3.5)}, {}, {"values": (1, 2, 3)}),
        ({"v": [1, 2]}, {"v": (0, 3)}, {"v": [7, 8, 7]}, {"values": (7, 8)}),  # given goes first, each once
        ({"v": [1]}, {"v": (0, 299)}, {}, {"edges": (0.0, 100.0, 200.0, 300.0), "whole": True}),
    ],
)
def test_a_domain_is_what_is_declared(columns, bounds, given, expected):
    found = domain("who", table(columns, bounds=bounds), "v", given, 3, whole=["v"])
    assert found == Domain("v", **expected)
    assert found.size == (3 if "edges" in expected else len(expected["values"]))


def test_bounds_of_decimals_are_cut_into_intervals():
    for cells in ([1], [1.0], ["a"]):
        assert domain("who", table({"v": cells}, bounds={"v": (0, 3)}), "v", {}, 3) == Domain("v", edges=(0, 1, 2, 3))


def test_an_order_is_a_domain():
    data = table({"v": ["b"]}, kinds={"v": "ordinal"}, orders={"v": ["a", "b", "c"]})
    assert domain("who", data, "v", {}, 3).values == ("a", "b", "c")


@pytest.mark.parametrize(
    ("columns", "bounds", "given", "told"),
    [
        ({"v": ["a"]}, {}, {}, "the values of 'v' are not declared, and which occur is itself private"),
        ({"v": [1]}, {}, {}, "the values of 'v' are not declared"),
        ({"v": [True]}, {}, {}, "the values of 'v' are not declared"),
        ({"v": [1]}, {"v": (0.2, 0.8)}, {}, "no value of 'v' is declared: .* no whole number lies within its bounds"),
        ({"v": ["a"]}, {}, {"v": []}, "no value of 'v' is declared: its `values` are empty"),
        ({"v": ["a"]}, {}, {"v": [1, "1"]}, "two of the declared values of 'v' are the same"),  # one person, two cells
    ],
)
def test_what_is_not_declared_is_refused(columns, bounds, given, told):
    with pytest.raises(ParameterError, match=f"^who: {told}"):
        domain("who", table(columns, bounds=bounds), "v", given, 3, whole=["v"])


def test_codes_of_values_and_of_intervals():
    words = Domain("v", values=("a", None, "b"))
    assert words.codes(pl.Series(["b", "a", "z", None])).tolist() == [2, 0, -1, 1]
    assert Domain("v", values=("a",)).codes(pl.Series(["a", None])).tolist() == [0, -1]
    # [0, 1) [1, 2) [2, 3]; beyond the bounds is in the cell at the end
    numbers = Domain("v", edges=(0.0, 1.0, 2.0, 3.0))
    x = pl.Series([0.0, 0.99, 1.0, 2.5, 3.0, 99.0, -5.0, None])
    assert numbers.codes(x).tolist() == [0, 0, 1, 2, 2, 2, 0, -1]
    assert Domain("v", values=(1.5, 2)).codes(pl.Series([1, 2])).tolist() == [-1, 1]
    for cells in (["1", "2.50", "x", "NA"], [1, 2.5, 7, None]):
        assert Domain("v", values=(1, 2.5)).codes(pl.Series(cells, strict=False)).tolist() == [0, 1, -1, -1]


@pytest.mark.parametrize("bins", [2, 3, 7, 50])
@pytest.mark.parametrize("bounds", [(0, 130), (-7, 993), (5, 150)])
def test_a_value_of_a_cell_is_in_that_cell(bins, bounds):
    whole = domain("who", table({"v": [1]}, bounds={"v": bounds}), "v", {}, bins, whole=["v"])
    real = domain("who", table({"v": [1.0]}, bounds={"v": bounds}), "v", {}, bins)
    for found, dtype in ((whole, pl.Int64), (real, pl.Float64)):
        cells = np.repeat(np.arange(found.size), 200)
        made = found.column(cells, np.random.default_rng(0))
        assert made.dtype == dtype
        assert made.is_between(*bounds).all()
        assert (found.codes(made) == cells).all()


def test_every_whole_number_of_an_interval_can_come():
    found = domain(
        "who", table({"v": [1]}, bounds={"v": (0, 129)}), "v", {}, 3, whole=["v"]
    )  # 130 numbers in three cells
    made = found.column(np.repeat(np.arange(3), 4000), np.random.default_rng(0))
    assert sorted(made.unique()) == list(range(130))


def test_public_values_are_all_or_none():
    data = table({"a": ["x"], "n": [1], "f": [0.5]}, bounds={"n": (0.5, 3), "f": (0, 1)})
    declared = dp_cells.public_values("who", data, ["a", "n"], {"a": ["x", "y", "x"]})
    assert [each.values for each in declared] == [("x", "y"), (1, 2, 3)]
    assert dp_cells.public_values("who", data, ["a", "n"], {}) is None
    assert dp_cells.public_values("who", data, ["f"], {})[0].values == (0, 1)  # bounds declare whole numbers
    with pytest.raises(ParameterError, match="who: no value of 'a' is declared"):
        dp_cells.public_values("who", data, ["a"], {"a": []})
    with pytest.raises(ParameterError, match="give 4000000 cells; at most 2000000 are counted"):
        dp_cells.public_values("who", data, ["a", "n"], {"a": range(2000), "n": range(2000)})


def test_cells_are_counted_where_records_are_not_suppressed(engine):
    frame = pl.DataFrame({"a": ["x", "x", None, "y"], "b": [1, 1, 2, 2]})
    data = celosia.read(frame, celosia.Schema.of(quasi=["a"]), engine=engine)
    assert set(dp_cells.count_cells(data, ["a", "b"], 1).rows()) == {("x", 1, 2), (None, 2, 1), ("y", 2, 1)}
    fewer = suppress_records(data, np.array([True, False, False, False]))
    assert set(dp_cells.count_cells(fewer, ["b"], 1).rows()) == {(1, 1), (2, 2)}


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_no_person_is_in_more_cells_than_allowed(rows):
    data = table({"who": [0] * 9 + [1, 1, 2], "a": [*"abcdefghi", "a", "a", "z"]}, person="who")
    for _ in range(20):
        found = dict(dp_cells.count_cells(data, ["a"], rows).rows())
        assert found["z"] == 1
        assert sum(found.values()) == min(rows, 9) + min(rows, 2) + 1
    kept = {tuple(sorted(dp_cells.count_cells(data, ["a"], 1)["a"])) for _ in range(40)}
    assert len(kept) > 3  # which of her rows stays is drawn anew each time


@pytest.mark.parametrize("seed", range(4))
def test_declared_cells_are_all_there_once_and_in_order(seed):
    rng = np.random.default_rng(seed)
    rows = list(zip(rng.choice(["x", "y", "?"], 40).tolist(), rng.integers(0, 4, 40).tolist(), strict=True))
    rows = [(None if a == "?" else a, b) for a, b in rows]
    counts = dp_cells.count_cells(celosia.read(pl.DataFrame(rows, schema=["a", "b"], orient="row")), ["a", "b"], 1)
    declared = [Domain("a", values=("y", None, "w")), Domain("b", values=(2, 0, 1))]
    expected = [(*cell, Counter(rows)[cell]) for cell in itertools.product(*(each.values for each in declared))]
    assert dp_cells.fill_cells(counts, declared).rows() == expected


@pytest.mark.parametrize("cells", [["8001", "8002.0", "x"], [8001, 8002, 9], [8001.0, 8002.0, None]])
def test_a_cell_is_counted_whatever_its_type(cells):
    counts = pl.DataFrame({"v": cells, "count": [4, 1, 7]})
    assert dp_cells.fill_cells(counts, [Domain("v", values=(8001, 8002))]).rows() == [(8001, 4), (8002, 1)]
    assert dp_cells.fill_cells(counts, [Domain("v", values=("8001", "8003"))]).rows() == [("8001", 4), ("8003", 0)]


def test_columns_to_count():
    data = table({"a": [1], "count": [2]})
    for columns in ([], ["a", "a"]):
        with pytest.raises(ParameterError, match="who: name at least one column, each once"):
            dp_cells.check_columns("who", data, columns)
    with pytest.raises(SchemaError, match="who: a column is named 'count', which the counts need; rename it"):
        dp_cells.check_columns("who", data, ["a", "count"])
    with pytest.raises(UnknownName, match="no column named 'b'"):
        dp_cells.check_columns("who", data, ["b"])


@pytest.mark.parametrize(("total", "expected"), [(None, 7), (3, 3), (0.4, 0), (-5.0, 0), (2.5, 2)])
def test_consistent_counts_are_whole_and_add_up(total, expected):
    noisy = np.array([4.4, -2.0, 0.3, 4.6])  # 7.3 in all
    found = dp_cells.consistent(noisy, total)
    assert found.sum() == expected
    assert found.min() >= 0
    assert np.issubdtype(found.dtype, np.integer)
