"""The least number of records to remove, against trying every way to remove them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from celosia.kernels.grouping.removal import removed_for_caps, removed_for_distance


def tried(counts, holds):
    """Remove records in every possible way; the fewest after which the rest holds (or nothing is left)."""
    best = sum(counts)
    for left in itertools.product(*(range(c + 1) for c in counts)):
        n = sum(left)
        if n and holds(np.array(left) / n):
            best = min(best, sum(counts) - n)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_never_too_high_and_mostly_exact(seed):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 5, (8, 3))
    classes[:, 0] += 1
    q = np.array([0.5, 0.3, 0.2])
    rows, values = np.nonzero(classes)
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=8))])
    entries = (start.astype(np.int64), values.astype(np.int32), classes[rows, values].astype(np.int64))
    for t in (0.1, 0.3):
        got = removed_for_distance(*entries, q, t)
        want = [tried(c, lambda p, t=t: np.abs(p - q).sum() / 2 <= t + 1e-12) for c in classes.tolist()]
        assert (got <= want).all()
        assert ((got == 0) == (np.array(want) == 0)).all()
    cap = np.array([0.6, 0.45, 0.4])
    got = removed_for_caps(*entries, cap)
    want = [tried(c, lambda p: (p <= cap + 1e-12).all()) for c in classes.tolist()]
    assert (got <= want).all()
    assert ((got == 0) == (np.array(want) == 0)).all()
    assert (got >= np.array(want) - 3).all()  # whole records cannot always be cut as finely as shares


def test_what_holds_need_not_lose_anything():
    start, value, count = np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.array([5, 5])
    assert removed_for_distance(start, value, count, np.array([0.5, 0.5]), 0.0).tolist() == [0]
    assert removed_for_caps(start, value, count, np.array([0.5, 0.5])).tolist() == [0]
    # 9 against 1 at q = 1/2: with x of the nine gone, the lack is 1/2 - 1/(10 - x) <= 0.25 from x = 6 on
    assert removed_for_distance(start, value, np.array([9, 1]), np.array([0.5, 0.5]), 0.25).tolist() == [6]
