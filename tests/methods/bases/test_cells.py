"""The cells of a perturbation: units, strata, bounds of types, and the way back into a column."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, ParameterError
from celosia.methods.bases import cells
from celosia.methods.bases.units import Units, distinct_counts, units_of


def table(columns, **schema):
    return celosia.read(pl.DataFrame(columns), celosia.Schema.of(**schema))


@pytest.mark.parametrize("seed", range(5))
def test_combinations_are_numbered_in_their_order(seed):
    """The slow way: sort the different tuples, missing (-1) first."""
    rng = np.random.default_rng(seed)
    parts = [rng.integers(-1, 4, 30) for _ in range(3)]
    rows = list(zip(*(p.tolist() for p in parts), strict=True))
    order = {row: i for i, row in enumerate(sorted(set(rows)))}
    assert cells.combine_codes(parts).tolist() == [order[row] for row in rows]


def test_strata_are_parted_by_columns_and_by_more():
    data = table({"a": ["x", None, "x", "y", None], "b": [1, 1, 2, 1, 1]})
    each = Units.records(5)

    def as_sets(parts):
        return {tuple(part.tolist()) for part in parts}

    assert as_sets(cells.strata(data, ["a"], each)) == {(0, 2), (1, 4), (3,)}
    assert as_sets(cells.strata(data, ["a", "b"], each)) == {(0,), (2,), (1, 4), (3,)}
    assert as_sets(cells.strata(data, [], each, [np.array([0, 1, 0, 1, 0])])) == {(0, 2, 4), (1, 3)}
    assert [part.tolist() for part in cells.strata(data, [], each)] == [[0, 1, 2, 3, 4]]
    empty = celosia.read(data.polars().head(0))
    assert cells.strata(empty, ["a"], Units.records(0)) == []


HOMES = {"home": [1, 1, 2, None, None], "rent": [5, 5, 7, 1, 2], "age": [1, 2, 3, 4, 5], "same": [0, 0, 9, None, None]}


@pytest.mark.parametrize(
    ("names", "member"),
    [
        (["rent"], [0, 0, 1, 2, 3]),  # equal within the home; who has none is alone
        (["rent", "same"], [0, 0, 1, 2, 3]),
        (["age"], [0, 1, 2, 3, 4]),
        ([], [0, 1, 2, 3, 4]),
        (["home"], [0, 1, 2, 3, 4]),  # the column itself is no reason to take homes
    ],
)
def test_homes_are_units_where_all_columns_are_theirs(names, member):
    assert cells.units("noise", table(HOMES, household="home"), names).member.tolist() == member


def test_columns_of_homes_and_persons_do_not_mix():
    told = "noise: column 'rent' is the same within households, column 'age' is not; protect .* in two steps"
    with pytest.raises(ParameterError, match=told):
        cells.units("noise", table(HOMES, household="home"), ["age", "rent"])


def test_units_pick_spread_and_differ():
    data = table(HOMES)
    homes = units_of(data, "home")
    assert homes.first.tolist() == [0, 2, 3, 4]
    assert homes.pick(np.array([10, 11, 12, 13, 14])).tolist() == [10, 12, 13, 14]
    assert homes.expand(np.array([0.5, 1.5, 2.5, 3.5])).tolist() == [0.5, 0.5, 1.5, 2.5, 3.5]
    assert [homes.count_differing(data, name) for name in ("rent", "age", "same")] == [0, 1, 0]
    assert units_of(data, None).each
    assert units_of(data, "age").each  # everybody is alone: nothing to copy
    assert distinct_counts(np.array([5, 5, 6, 5]), np.array([0, 0, 0, 1])).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("dtype", "declared", "expected"),
    [
        (pl.Float64, None, (-math.inf, math.inf)),
        (pl.Float64, (0.25, 9.5), (0.25, 9.5)),
        (pl.Int64, (0.25, 9.5), (1.0, 9.0)),
        (pl.Int8, None, (-128.0, 127.0)),
        (pl.UInt8, (-5, 300), (0.0, 255.0)),
        (pl.Int32, (-5, 5), (-5.0, 5.0)),
        (pl.UInt16, None, (0.0, 65535.0)),
        (pl.Int64, None, (-math.inf, math.inf)),
        (pl.UInt64, None, (0.0, math.inf)),
    ],
)
def test_bounds_of_columns_and_their_types(dtype, declared, expected):
    frame = pl.DataFrame({"v": pl.Series([1, 2], dtype=dtype)})
    schema = celosia.Schema.of(bounds={} if declared is None else {"v": declared})
    assert cells.bounds(celosia.read(frame, schema), "v") == expected


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int32, pl.Int64, pl.UInt64, pl.Float32, pl.Float64])
def test_new_numbers_take_the_type_of_the_old_column(dtype):
    old = pl.Series("v", [1, 2, None, 4], dtype=dtype)
    new = np.array([7.5, math.nan, math.nan, 3.0])
    made = cells.as_column(old, new)
    assert made.dtype == dtype
    assert made.name == "v"
    assert made[1] == 2  # no new number: the old cell stays
    assert made[2] is None
    assert made[0] == (8 if dtype.is_integer() else 7.5)  # halves to even
    loose = cells.as_column(old, new, whole=False)
    assert loose[0] == 7.5
    assert loose.dtype == (pl.Float64 if dtype.is_integer() else dtype)


def test_the_largest_numbers_of_a_type_come_out_as_such():
    """A float cannot hold 2⁶³ - 1: the largest float below is taken, not one that overflows."""
    for dtype, most in ((pl.Int64, 2**63), (pl.UInt64, 2**64)):
        made = cells.as_column(pl.Series("v", [0], dtype=dtype), np.array([1e30]))[0]
        assert 0 < most - made <= 2048
    assert cells.as_column(pl.Series("v", [0], dtype=pl.UInt8), np.array([1e9]))[0] == 255
    assert cells.as_column(pl.Series("v", [0], dtype=pl.UInt8), np.array([-3.0]))[0] == 0


def test_put_gives_every_member_the_number_of_the_unit():
    data = table(HOMES, household="home")
    homes = units_of(data, "home")
    made = cells.replace_numbers(data, homes, {"rent": np.array([1.4, 2.6, math.nan, 9.0])}).polars()["rent"]
    assert made.to_list() == [1, 1, 3, 1, 9]
    assert data.polars()["rent"].to_list() == HOMES["rent"]


@pytest.mark.parametrize(
    ("names", "kind", "told"),
    [
        ([], ParameterError, "noise: give at least one column"),
        (["n", "f", "n"], ParameterError, "noise: column 'n' is named twice"),
        (["t"], DataError, "noise: column 't' holds text or dates, but numbers are needed"),
        (["b"], DataError, "noise: column 'b' holds true and false, but numbers are needed; use pram"),
    ],
)
def test_only_numbers_are_perturbed(names, kind, told):
    data = table({"n": [1], "f": [1.5], "t": ["secret"], "b": [True]})
    with pytest.raises(kind, match=told) as caught:
        cells.check_numeric("noise", data, names)
    assert "secret" not in str(caught.value)


def test_what_has_no_variance_or_gaps_is_refused():
    x = np.array([[1.0, 2.0, math.nan], [1.0, math.nan, math.nan], [1.0, 3.0, math.nan]])
    cells.refuse_constant("noise", x[:, [1]], ["b"])
    with pytest.raises(DataError, match="noise: column 'a' is constant"):
        cells.refuse_constant("noise", x, ["a", "b", "c"])
    with pytest.raises(DataError, match="noise: column 'c' has no values"):
        cells.refuse_constant("noise", x[:, 1:], ["b", "c"])
    with pytest.raises(DataError, match="noise: 1 records have missing values in these columns; fill them in"):
        cells.refuse_missing("noise", x[:, :2], "fill them in")
    cells.refuse_missing("noise", x[:, :1], "")


def test_impossible_is_what_was_not_so_before():
    before = table({"age": [3, 30, None], "job": ["none", "nurse", "nurse"]})
    after = before.replace({"job": pl.Series(["nurse", "nurse", "none"])})
    assert cells.created_impossible("pram", before, after, ["age < 10 AND job = 'nurse'"]).tolist() == [
        True,
        False,
        False,
    ]
    assert cells.created_impossible("pram", after, after, ["age < 10 AND job = 'nurse'"]).tolist() == [False] * 3
    assert cells.created_impossible("pram", before, after, []).tolist() == [False] * 3
    both = ["age < 10 AND job = 'nurse'", "job = 'none' AND age IS NULL"]
    assert cells.created_impossible("pram", before, after, both).tolist() == [True, False, True]
