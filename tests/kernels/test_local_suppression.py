from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.kernels.grouping.row_groups import group_rows
from celosia.kernels.search.gather import gather
from celosia.kernels.search.local_suppression import cover
from celosia.search.cells.blank_places import Places


def random_places(rng, patterns):
    """Every pattern may move to a few places; nobody twice to the same."""
    pairs = {(int(rng.integers(0, 5)), p) for p in range(patterns) for _ in range(3)}
    pairs |= {(5, p) for p in range(patterns)}  # a place that is open to all, and dear
    place, pattern = (np.array(column) for column in zip(*sorted(pairs), strict=True))
    place = np.unique(place, return_inverse=True)[1]
    cost = np.where(place == place.max(), 9.0, rng.integers(1, 4, len(place)).astype(float))
    return Places.of(place, pattern, cost, np.zeros(len(place), np.int64), patterns)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_cover_leaves_nobody_short_and_no_move_idle(seed, patterns):
    rng = np.random.default_rng(seed)
    places = random_places(rng, patterns)
    count = rng.integers(1, 4, patterns)
    lack = rng.integers(1, 4, patterns)
    able = np.ones(len(places.pattern), bool)
    moved = cover(places.as_moves(), able, count, lack)

    def short(moves):
        """Patterns that neither moved wholly nor got enough matches from others at their places."""
        gone = np.bincount(places.pattern, weights=moves, minlength=patterns)
        at = np.bincount(places.place, weights=moves)
        help_ = np.bincount(places.pattern, weights=at[places.place] - moves, minlength=patterns)
        return ((gone < count) & (help_ < lack)).any()

    assert (moved >= 0).all()
    assert (np.bincount(places.pattern, weights=moved, minlength=patterns) <= count).all()
    assert not short(moved)
    assert (moved > 0).sum() <= len(moved)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 4))
def test_gather_fills_every_used_place(seed, patterns, k):
    rng = np.random.default_rng(seed)
    places = random_places(rng, patterns)
    lacking = rng.random(patterns) < 0.6
    must = np.where(lacking, rng.integers(1, 3, patterns), 0)
    spare = np.where(lacking, 0, rng.integers(0, 3, patterns))
    base = rng.integers(0, 3, len(places.start) - 1)
    base[-1] = k  # the place that is open to all has company
    moved = gather(places.as_moves(), base, must, spare, k)
    gone = np.bincount(places.pattern, weights=moved, minlength=patterns)
    at = np.bincount(places.place, weights=moved, minlength=len(base))
    assert (gone[lacking] == must[lacking]).all()
    assert (gone[~lacking] <= spare[~lacking]).all()
    assert ((at == 0) | (at + base >= k)).all()


def test_one_move_helps_its_whole_place():
    places = Places.of(np.zeros(3, int), np.arange(3), np.ones(3), np.zeros(3, int), 3)
    moved = cover(places.as_moves(), np.ones(3, bool), np.ones(3, int), np.ones(3, int))
    assert moved.sum() == 1


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_rows_are_grouped_on_some_columns(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 3, (int(rng.integers(0, 30)), 3)).astype(np.int32)
    columns = np.flatnonzero(rng.random(3) < 0.6)
    ids, groups = group_rows(codes, columns)
    rows = [tuple(row[columns]) for row in codes]
    assert groups == len(set(rows))
    assert ids.tolist() == [list(dict.fromkeys(rows)).index(row) for row in rows]
