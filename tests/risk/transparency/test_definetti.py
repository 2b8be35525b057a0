"""Anatomy and a learner: what the groups of a file tell about each other."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable
from celosia.risk import Definetti


def test_the_learner_beats_random_worlds_on_adult_as_published(shared):
    data = pl.read_csv(shared("data/adult/adult.csv"), separator=";")
    quasi = [name for name in data.columns if name != "occupation"]
    table = celosia.read(data, celosia.Schema.of(quasi=quasi, sensitive=["occupation"]))
    found = [
        Definetti().evidence(table, celosia.protect(table, f"anatomise(l={l}, groups=buckets)", seed=1)) for l in (2, 5)
    ]
    assert [round(f["control"], 2) for f in found] == [0.5, 0.2], "random worlds: one in l"
    assert all(f["value"] > 1.3 * f["control"] for f in found)
    assert all(f["due_to_the_certificate"] for f in found)
    assert found[0]["value"] > found[1]["value"], "more values in a group leave more doubt"


def test_nothing_is_learnt_where_nothing_is_to_learn():
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"x": rng.integers(0, 5, 3000).astype(str), "ill": rng.integers(0, 4, 3000).astype(str)})
    table = celosia.read(data, celosia.Schema.of(quasi=["x"], sensitive=["ill"]))
    found = Definetti().evidence(table, celosia.protect(table, "anatomise(l=2, groups=buckets)", seed=1))
    assert found["value"] == pytest.approx(found["control"], abs=0.03)
    assert not found["due_to_the_certificate"]


def test_it_needs_an_anatomy():
    table = celosia.read(
        pl.DataFrame({"x": [1, 2], "ill": ["a", "b"]}), celosia.Schema.of(quasi=["x"], sensitive=["ill"])
    )
    with pytest.raises(NotApplicable, match="anatomise"):
        Definetti().value(table, table)
