"""Constant columns whose mean is rounded: no attack may take the rounding for a spread, nor miss the constant."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.kernels.statistics.deviation import middles, spreads
from celosia.risk import AttributeDisclosure, Averaging, CodingBounds

LEVELS = [0.1, 0.125]  # twelve times 0.1 has a mean beside 0.1, that of 0.125 is 0.125 to the last digit


def original(level):
    """A constant column beside one whose mean, 5.5, is no value."""
    data = {"id": [str(i) for i in range(12)], "known": np.arange(12), "x": [level] * 12, "y": np.arange(12.0)}
    return celosia.read(pl.DataFrame(data), celosia.Schema.of(identifiers=["id"], sensitive=["x", "y"]))


@pytest.mark.parametrize("level", LEVELS)
def test_the_error_of_an_estimate_is_no_share_of_a_rounding(level):
    table = original(level)
    found = CodingBounds().evidence(table, celosia.protect(table, "round(columns=[x, y], base=4)"))
    assert found["error"]["x"] == pytest.approx(level**2)  # all are released as 0, and that is the estimate
    assert list(found["width"]) == ["y"], "a width in deviations needs a deviation"


@pytest.mark.parametrize("level", LEVELS)
def test_whoever_guesses_the_mean_of_a_constant_column_is_right(level):
    table = original(level)
    moved = table.replace({name: table.column(name) + pl.Series(np.arange(12) / 8) for name in ("x", "y")})
    found = Averaging(earlier=[moved.polars()], known=[], columns=["id"]).evidence(table, moved)
    assert found["baseline"] == 0.5


@pytest.mark.parametrize("level", LEVELS)
def test_a_constant_column_of_the_release_is_guessed(level):
    table = original(level)
    assert AttributeDisclosure(known=["known"], target=["x", "y"]).evidence(table, table)["baseline"] == 0.5


def test_means_and_spreads_of_the_numbers_that_are_there():
    x = np.random.default_rng(3).normal(5, 2, (40, 3))
    x[::3, 1] = np.nan
    assert middles(x) == pytest.approx(np.nanmean(x, axis=0), rel=1e-14)
    assert spreads(x) == pytest.approx(np.nanstd(x, axis=0), rel=1e-14)
    holes = np.array([[0.1, np.nan]] * 10 + [[np.nan, np.nan]])
    assert middles(holes)[0] == 0.1
    assert np.isnan(middles(holes)[1])
    assert spreads(holes).tolist() == [0.0, 0.0]
    assert spreads(holes[:0]).tolist() == [0.0, 0.0]
    assert np.isnan(middles(holes[:0])).all()
