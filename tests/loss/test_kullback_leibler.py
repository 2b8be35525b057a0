"""The divergence by hand at its ends: nothing left, and nothing there."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.loss import KullbackLeibler
from celosia.table.suppression import suppress_records

AGES = celosia.read(pl.DataFrame({"age": [1, 1, 2, 3]}), celosia.Schema.of(quasi=["age"]))


def test_all_records_suppressed_are_spread_over_all_combinations():
    """Shares of 1/2, 1/4, 1/4: 1.5 bits. Suppressed, each of the three values is as likely: log2(3) bits."""
    gone = suppress_records(AGES, np.ones(4, dtype=bool))
    assert KullbackLeibler().parts(AGES, gone) == {"entropy": 1.5, "cross": pytest.approx(math.log2(3))}
    assert KullbackLeibler().value(AGES, gone) == pytest.approx(math.log2(3) - 1.5)


def test_one_of_four_suppressed():
    """Two records of 1 and one of 2 stay: 3/4 of what they cost; the fourth may be any of three, and is one of four."""
    some = suppress_records(AGES, np.array([False, False, False, True]))
    cross = (2 * 1 + 1 * 2) / 4 + (math.log2(3) + 2) / 4
    assert KullbackLeibler().parts(AGES, some)["cross"] == pytest.approx(cross)


def test_of_no_records_nothing_is_lost():
    empty = celosia.read(pl.DataFrame({"age": []}, schema={"age": pl.Int64}), celosia.Schema.of(quasi=["age"]))
    assert KullbackLeibler().parts(empty, empty) == {"entropy": 0, "cross": 0}
