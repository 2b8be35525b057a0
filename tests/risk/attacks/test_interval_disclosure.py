"""Interval disclosure: ties reach to both sides, and a mirrored file has the same risk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.risk.attacks.interval_disclosure import inside

PERCENTS = (5, 20, 60)
cells = st.one_of(st.integers(-4, 4).map(float), st.just(float("nan")))


def test_ties_reach_from_the_first_and_the_last_of_them():
    # protected 0, 1, 1, 1, 1, 2; 40 % of six values are one on each side: from 0 to 2 around every 1
    y = np.array([0.0, 1, 1, 1, 1, 2])
    x = np.array([0.0, 0, 2, 2, 0, 2])
    assert inside(x[:, None], y[:, None], [40.0], "rank").ravel().tolist() == [1.0] * 6
    assert inside(-x[:, None], -y[:, None], [40.0], "rank").ravel().tolist() == [1.0] * 6


@pytest.mark.parametrize("kind", ["rank", "relative", "sd"])
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=40))
def test_mirrored_files_have_the_same_risk(kind, rows):
    x, y = np.array(rows).T[:, :, None]
    assert (inside(x, y, PERCENTS, kind) == inside(-x, -y, PERCENTS, kind)).all()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=40), st.sampled_from([5.0, 20.0, 60.0]))
def test_ranks_by_walking_through_the_sorted_column(rows, percent):
    x, y = np.array(rows).T
    column = sorted(v for v in y if not np.isnan(v))
    steps = int(percent / 200 * len(column) + 1e-9)
    for i, (own, protected) in enumerate(rows):
        expected = 0.0
        if not np.isnan(own) and not np.isnan(protected):
            places = [k for k, v in enumerate(column) if v == protected]
            low, high = max(places[0] - steps, 0), min(places[-1] + steps, len(column) - 1)
            expected = float(column[low] <= own <= column[high])
        assert inside(x[:, None], y[:, None], [percent], "rank")[i, 0] == expected
