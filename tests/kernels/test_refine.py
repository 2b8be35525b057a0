"""Classes split by one more column against dictionaries, and sets of columns found again by their masks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.kernels.grouping.refine import Workspace, refine
from celosia.kernels.grouping.suda import grow, place_of, rows_inside


def refined(classes, values, number, owner):
    """The classes with a candidate, and the candidates who are alone, by plain loops."""
    kept, alone = [], []
    for rows in classes:
        parts = {}
        for r in rows:
            if values[r] >= 0:
                parts.setdefault(values[r], []).append(r)
        single = {v for v, part in parts.items() if len({owner[r] if owner else r for r in part}) == 1}
        alone += [number[r] for r in rows if values[r] in single and number[r] >= 0]
        kept += [part for v, part in parts.items() if v not in single and any(number[r] >= 0 for r in part)]
    return kept, alone


@given(st.integers(0, 10**6), st.integers(0, 25), st.integers(1, 5), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_step_against_dictionaries(seed, n, width, persons):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(n).astype(np.int32)
    start = np.unique(np.concatenate([[0, n], rng.integers(0, n + 1, 4)])).astype(np.int32)
    values = rng.integers(-1, width, n).astype(np.int32)
    chosen = rng.random(n) < 0.4  # the candidates, numbered from 0
    number = np.where(chosen, np.cumsum(chosen) - 1, -1).astype(np.int32)
    owner = rng.integers(0, max(n // 2, 1), n) if persons else np.zeros(0, np.int64)
    bucket, room = np.zeros(width, np.int64), np.empty(width, np.int64)
    workspace = Workspace(number, owner, np.empty(n, np.int64), bucket, room, np.empty(width + 1, np.int64))
    target, target_start = np.empty(n, np.int32), np.zeros(n + 2, np.int32)
    found, alone = refine(values, rows, start, len(start) - 1, target, target_start, workspace)
    classes = [rows[a:b].tolist() for a, b in pairwise(start)]
    kept, singles = refined(classes, values.tolist(), number.tolist(), owner.tolist())
    assert [target[target_start[c] : target_start[c + 1]].tolist() for c in range(found)] == kept
    assert workspace.single[:alone].tolist() == singles
    assert not bucket.any(), "the workspace is clean for the next step"


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 500])
def test_masks_are_found_again_after_the_table_has_grown(size):
    """Twice as much room whenever half of it is used: also masks of the highest column that there can be."""
    rng = np.random.default_rng(size)
    masks = {1, 1 << 61, (1 << 61) | 1, (1 << 31) | (1 << 30), *rng.integers(1, 1 << 62, size).tolist()}
    key, row = np.full(2, -1, np.int64), np.empty(2, np.int64)
    for number, mask in enumerate(sorted(masks)):
        while 2 * (number + 1) > len(key):
            key, row = grow(key, row)
        at = place_of(key, mask)
        assert key[at] == -1
        key[at], row[at] = mask, number
    for number, mask in enumerate(sorted(masks)):
        assert row[place_of(key, mask)] == number
    assert key[place_of(key, 2)] == -1, "a mask that was never put in has a free place"


def test_the_sets_inside_a_set():
    """Of {a, b, c, d} those of three columns that keep the lowest one, as far as they are known."""
    key, row = np.full(16, -1, np.int64), np.empty(16, np.int64)
    known = {0b0111: 10, 0b1011: 11, 0b1110: 12, 0b0011: 13}
    for mask, number in known.items():
        at = place_of(key, mask)
        key[at], row[at] = mask, number
    inside = np.full(4, -1, np.int64)
    count = rows_inside(0b1111, 0, key, row, inside)
    assert sorted(inside[:count].tolist()) == [10, 11]  # 1110 lacks the lowest, 1101 is not known
    assert rows_inside(0b0001, 0, key, row, inside) == 0
    assert rows_inside(0b0111, 0, key, row, inside) == 1  # 0011 only
    assert inside[0] == 13
