"""Rows in a drawn order, part by part: those of one sort of all of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia.data.engines import record_order
from celosia.data.engines.lazy_frames import RECORD
from celosia.data.engines.record_order import sort_by_draw
from celosia.data.spill import spill_folder
from celosia.streams import Stream


class Few:
    """A stream with two words only, so that most records have the same."""

    def with_digest(self):
        return self

    def words(self, ids):
        return np.repeat(((ids % 2).astype(np.uint64) << np.uint64(63))[:, None], 4, axis=1)


def batches(ids, size=70):
    for start in range(0, len(ids), size):
        some = ids[start : start + size]
        yield pl.DataFrame({"cell": [f"row {i}" for i in some], RECORD: some})


@pytest.mark.parametrize("part", [10_000, 300, 7])
def test_it_is_the_order_of_the_words(part, monkeypatch):
    monkeypatch.setattr(record_order, "PART", part)
    ids = np.flatnonzero(np.arange(1500) % 3)  # some records are left out
    stream = Stream(5).child("order")
    expected = ids[np.argsort(stream.words(ids)[:, 0], kind="stable")]
    done = pl.concat(sort_by_draw(batches(ids), len(ids), stream))
    assert done.columns == ["cell"]
    assert done["cell"].to_list() == [f"row {i}" for i in expected]
    assert not list(spill_folder().glob("order-*"))


@pytest.mark.parametrize("part", [100_000, 30_000])
def test_ties_keep_the_order_of_the_ids(part, monkeypatch):
    monkeypatch.setattr(record_order, "PART", part)
    rows = 80_000  # fewer are sorted in a way that keeps them by chance
    done = pl.concat(sort_by_draw(batches(np.arange(rows), 7000), rows, Few()))
    assert done["cell"].to_list() == [f"row {i}" for i in [*range(0, rows, 2), *range(1, rows, 2)]]


def test_nothing_stays_where_the_reader_stops(monkeypatch):
    monkeypatch.setattr(record_order, "PART", 100)
    rows = sort_by_draw(batches(np.arange(900)), 900, Stream(5))
    next(rows)
    assert list(spill_folder().glob("order-*"))
    rows.close()
    assert not list(spill_folder().glob("order-*"))


def test_no_rows_have_no_order():
    assert list(sort_by_draw([], 0, Stream(5))) == []
