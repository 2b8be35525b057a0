"""Dependences between columns: the sample of a large table gives nearly what all records give."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import methods
from celosia.views.comparing.dependences import dependences

ROWS = 6000


def _tables(place, *, wide):
    """Table whose first two columns depend on each other, and the same one generalised."""
    rng = np.random.default_rng(4)
    a = rng.integers(0, 6, ROWS)
    columns = {
        "a": pl.Series([f"{i}" for i in a]),
        "b": pl.Series([f"{i}" for i in (a + rng.integers(0, 3, ROWS)) % 6]),
        "c": rng.integers(0, 8, ROWS),
    }
    columns |= {"further": pl.Series([f"{i}" for i in rng.integers(0, 5, ROWS)])} if wide else {}
    pl.DataFrame(columns).write_parquet(place / "rows.parquet")
    schema = celosia.Schema.of(quasi=["a", "b", "c"], hierarchies={"c": {"use": "intervals", "width": 4}})
    table = celosia.read(place / "rows.parquet", schema)
    table.counts.prepare(["a", "b", "c"], [], keep_rows=True)
    return table, celosia.protect(table, methods.Generalise(require=["k-anonymity(k=10)"], suppress=0.05), seed=1)


@pytest.mark.parametrize("wide", [False, True])
def test_a_sample_gives_nearly_the_dependences_of_all_records(wide, tmp_path, monkeypatch):
    """Without a further column the sample is one of the joint counts, with it one of the rows."""
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    every = {each.measure: each for each in dependences(*_tables(tmp_path, wide=wide))}
    monkeypatch.setattr(sys.modules["celosia.views.comparing.dependences"], "MOST_RECORDS", ROWS // 3)
    sampled = {each.measure: each for each in dependences(*_tables(tmp_path, wide=wide))}
    assert every.keys() == sampled.keys() == {"cramer"}
    exact, found = every["cramer"], sampled["cramer"]
    assert exact.sampled is None
    assert found.sampled == ROWS // 3
    assert found.names == exact.names
    for side in ("before", "after"):
        assert np.array(getattr(found, side)) == pytest.approx(np.array(getattr(exact, side)), abs=0.06)
    assert found.before[0][1] > 0.4  # the dependence that is there
