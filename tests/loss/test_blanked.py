"""A cell that was emptied tells nothing: it costs as much as a star."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia.parts import build

DATA = pl.DataFrame({"a": ["x", "y", "z", "w"], "b": ["p", "p", "q", None]})
SCHEMA = celosia.Schema.of(quasi=["a", "b"])


@pytest.mark.parametrize(
    "loss",
    ["domain-loss(aggregate=arithmetic)", "certainty-penalty", "precision", "non-uniform-entropy", "kullback-leibler"],
)
def test_an_emptied_cell_costs_what_a_star_costs(loss):
    part = build("loss", loss)
    original = celosia.read(DATA, SCHEMA)
    empty = celosia.read(DATA.with_columns(a=pl.Series(["x", None, "z", None])), SCHEMA)
    starred = celosia.read(DATA.with_columns(a=pl.Series(["x", "*", "z", "*"])), SCHEMA)
    assert part.value(original, original) == pytest.approx(part.identity_value(original))
    assert part.value(original, empty) > part.identity_value(original)
    if "entropy" not in loss and "kullback" not in loss:
        assert part.value(original, empty) == pytest.approx(part.value(original, starred))


def test_a_value_that_was_missing_before_costs_nothing():
    part = build("loss", "domain-loss(aggregate=arithmetic)")
    original = celosia.read(DATA, SCHEMA)
    assert part.value(original, celosia.read(DATA, SCHEMA)) == 0
