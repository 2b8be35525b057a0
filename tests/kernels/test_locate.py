"""Places in a sorted list against numpy's search."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.kernels.grouping.locate import locate, range_starts


@pytest.mark.parametrize("top", [50, 10**6, 2**61])
def test_places_are_those_of_a_search(top):
    rng = np.random.default_rng(top)
    keys = np.unique(np.concatenate([rng.integers(0, top, 40), np.arange(min(top, 30))]))
    given = np.concatenate([keys, rng.integers(0, top + 5, 200), [0, top + 4, -3]])
    expected = [int(np.flatnonzero(keys == each)[0]) if each in keys else -1 for each in given]
    assert locate(keys, *range_starts(keys), given).tolist() == expected


def test_an_empty_list_holds_nothing():
    keys = np.array([], dtype=np.int64)
    assert locate(keys, *range_starts(keys), np.array([0, 7])).tolist() == [-1, -1]
