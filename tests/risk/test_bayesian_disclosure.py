"""Bayesian disclosure where sensitive cells are missing: by hand."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia.risk import BayesianDisclosure


def test_missing_released_values_are_left_out_of_the_counts():
    """One class shows flu once and cold twice; one cold is blanked. The mean prior is 1/4 for flu and 3/4 for cold.

    A woman: g(flu) = 1 · 0.5 / 0.25 = 2 and g(cold) = 2 · 0.5 / 0.75 = 4/3, so 0.6 and 0.4. A man has no flu: 1.
    """
    people = {"sex": ["F", "F", "M", "M"], "illness": ["flu", "cold", "cold", "cold"]}
    schema = celosia.Schema.of(quasi=["sex"], sensitive=["illness"])
    original = celosia.read(pl.DataFrame(people), schema)
    released = celosia.read(pl.DataFrame({"sex": ["any"] * 4, "illness": ["flu", "cold", None, "cold"]}), schema)
    prior = pl.DataFrame({"sex": ["F", "F", "M"], "illness": ["flu", "cold", "cold"], "probability": [0.5, 0.5, 1.0]})
    records = BayesianDisclosure(prior=prior).records(original, released)
    assert records["posterior"].to_list() == pytest.approx([0.6, 0.4, 1.0, 1.0])
