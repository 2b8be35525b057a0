"""Groups of encoded columns, counted in place or by a group-by, against a dictionary."""

import numpy as np
import polars as pl
import pytest

from celosia import Schema
from celosia.classes import coded as module
from celosia.classes.coded import Coded


@pytest.mark.parametrize("few", [0, 1 << 16], ids=["group-by", "in place"])
@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("b", "a", "c")])
def test_groups_are_those_of_a_dictionary(monkeypatch, few, names):
    monkeypatch.setattr(module, "_FEW", few)
    draw = np.random.default_rng(7)
    rows = {
        "a": draw.integers(0, 5, 300),
        "b": [("x", "y", None)[i] for i in draw.integers(0, 3, 300)],
        "c": draw.normal(size=300).round(1),
    }
    frame = pl.DataFrame(rows)
    kept = np.flatnonzero(draw.random(300) < 0.8)
    coded = Coded(frame, Schema.of(quasi=["a", "b", "c"]), kept)
    first, count = {}, {}
    for place, row in enumerate(frame[kept].select(names).rows()):
        first.setdefault(row, place)
        count[row] = count.get(row, 0) + 1
    groups = coded.groups(names)
    assert np.all(np.diff(groups.key) > 0)
    told = {frame[kept].select(names).row(f): (int(f), int(n)) for f, n in zip(groups.first, groups.count, strict=True)}
    assert told == {row: (first[row], count[row]) for row in first}
    assert [frame[kept].select(names).row(groups.first[g]) for g in coded.place(names)] == frame[kept].select(
        names
    ).rows()


def test_no_rows_give_no_groups():
    coded = Coded(pl.DataFrame({"a": [1, 2]}), Schema.of(quasi=["a"]), np.zeros(0, np.int64))
    assert len(coded.groups(("a",)).key) == 0
