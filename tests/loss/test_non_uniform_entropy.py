"""The bits of suppressed records by hand, counted as ARX counts them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.loss import NonUniformEntropy
from celosia.table.suppression import suppress_records


def test_suppressed_records_cost_the_bits_that_tell_them_apart():
    """Nothing is generalised. One a and one b are gone: each is one of two, a bit for each of them."""
    table = celosia.read(pl.DataFrame({"q": list("aaabb")}), celosia.Schema.of(quasi=["q"]))
    bits = NonUniformEntropy(normalised=False, as_arx=True)
    assert bits.value(table, suppress_records(table, np.array([True, False, False, True, False]))) == pytest.approx(2)
    # two of a and one of b: 2 log2(3 / 2) + log2(3)
    three = suppress_records(table, np.array([True, True, False, True, False]))
    assert bits.value(table, three) == pytest.approx(2 * np.log2(1.5) + np.log2(3))
    assert bits.value(table, table) == 0
