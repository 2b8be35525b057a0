"""The public domain of a column: cells of records, and values drawn for cells."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia.methods.bases.domain import Domain, canonical_numbers

DRAWS = 20_000


@pytest.mark.parametrize(("cell", "low", "high"), [(0, 10.0, 12.0), (1, 12.0, 40.0)])
def test_numbers_of_an_interval_are_equally_likely(cell, low, high):
    """The mean is the middle and the deviation (high - low)/√12; their errors are below 1 % of the width."""
    drawn = Domain("x", edges=(10.0, 12.0, 40.0)).column(np.full(DRAWS, cell), np.random.default_rng(1))
    x, width = drawn.to_numpy(), high - low
    assert drawn.name == "x"
    assert (x >= low).all()
    assert (x < high).all()
    assert x.mean() == pytest.approx((low + high) / 2, abs=0.01 * width)
    assert x.std() == pytest.approx(width / np.sqrt(12), abs=0.01 * width)
    assert not 0.7 < x.std() / (0.7 * width / np.sqrt(12)) < 1.3
    assert np.histogram(x, 10, (low, high))[0] == pytest.approx(DRAWS / 10, rel=0.12)  # 5 deviations of a bin


@pytest.mark.parametrize("more", ["", "x", "2.5"])
def test_a_number_of_eighteen_digits_is_one_whatever_the_column_was_read_as(more):
    cells = ["9999999999999999", "-123456789012345678", "7"]
    assert canonical_numbers(pl.Series([*cells, more]))[:3].equals(canonical_numbers(pl.Series(map(int, cells))))


def test_whole_numbers_of_an_interval_are_equally_likely():
    """Between 0.5 and 4.5 lie 1, 2, 3 and 4, between 4.5 and 5 none: the number above it is in the bounds."""
    domain = Domain("x", edges=(0.5, 4.5, 5.0, 9.0), whole=True)
    drawn = domain.column(np.zeros(DRAWS, np.int64), np.random.default_rng(2))
    assert drawn.dtype == pl.Int64
    counts = np.bincount(drawn.to_numpy(), minlength=5)
    assert counts[0] == 0
    assert counts[1:] == pytest.approx([DRAWS / 4] * 4, rel=0.06)
    assert domain.column(np.array([1, 1]), np.random.default_rng(3)).to_list() == [5, 5]
    last = domain.column(np.full(1000, 2), np.random.default_rng(4))
    assert sorted(last.unique()) == [5, 6, 7, 8]


def test_a_number_is_in_the_cell_that_begins_with_it():
    domain = Domain("x", edges=(10.0, 12.0, 40.0))
    assert domain.size == 2
    assert domain.codes(pl.Series([9.0, 10.0, 11.9, 12.0, 40.0, 50.0, None])).tolist() == [0, 0, 0, 1, 1, 1, -1]
