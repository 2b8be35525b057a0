"""The size of a population from the weights of a sample."""

from __future__ import annotations

import numpy as np
import polars as pl

from celosia import Schema, read
from celosia.views.population import population_size


def test_it_does_not_depend_on_the_order_of_the_records():
    """The weights add up to 370.5 in any order; in floating point the last bits differ, and they rounded the half."""
    weights = np.array([3.1] * 45 + [7.7] * 30)
    sizes = set()
    for seed in range(60):
        shuffled = np.random.default_rng(seed).permutation(weights)
        frame = pl.DataFrame({"q": np.arange(len(weights)), "w": shuffled})
        sizes.add(population_size(read(frame, Schema.of(quasi=["q"], weight="w")), None))
    assert sizes == {370}
