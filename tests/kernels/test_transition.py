"""Drawing from transition matrices; matching across areas."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.kernels.neighbours.transition import transit
from celosia.kernels.search.match import match_across


def test_draws_follow_the_matrix():
    matrix = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
    codes = np.repeat([0, 1, 2], 30_000)
    new = transit(codes, matrix, np.random.default_rng(0).random(len(codes)))
    for i in range(3):
        share = np.bincount(new[codes == i], minlength=3) / 30_000
        assert np.abs(share - matrix[i]).max() < 0.013  # 4.5 standard errors
        assert np.abs(share - matrix[i][::-1]).max() > 0.05 or (matrix[i] == matrix[i][::-1]).all()


def test_what_cannot_be_reached_is_not_reached():
    matrix = np.array([[0.5, 0.5 - 1e-12, 0.0], [1, 0, 0], [0, 0, 1]])
    new = transit(np.zeros(1000, np.int64), matrix, np.append(np.random.default_rng(0).random(999), 1 - 2**-53))
    assert set(new.tolist()) == {0, 1}


@given(st.integers(1, 60), st.integers(1, 4), st.integers(1, 4), st.integers(0, 1000))
@settings(max_examples=80, deadline=None)
def test_partners_agree_on_the_bucket_and_differ_in_area(n, buckets, areas, seed):
    rng = np.random.default_rng(seed)
    bucket, area = rng.integers(0, buckets, n), rng.integers(0, areas, n)
    partner = np.full(n, -1)
    wanted = rng.permutation(n)[: n // 2]
    alone = match_across(wanted, bucket, area, partner, rng)
    moved = np.flatnonzero(partner >= 0)
    assert (partner[partner[moved]] == moved).all()
    assert (bucket[moved] == bucket[partner[moved]]).all()
    assert (area[moved] != area[partner[moved]]).all()
    left = wanted[partner[wanted] < 0]
    assert len(left) == alone
    for u in left:
        assert not ((bucket == bucket[u]) & (area != area[u]) & (partner < 0)).any()
