"""Scores of candidates for a quantile: the true one is best, and a row moves no score by more than it says."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.kernels.budget.ranks import rank_scores


def scores(values, candidates, q, inside=0.0):
    less = np.array([sum(v < c for v in values) for c in candidates])
    more = np.array([sum(v > c for v in values) for c in candidates])
    return rank_scores(less, more, q, inside)


VALUES = [1, 1, 2, 3, 5, 8, 8, 8, 13]
CANDIDATES = range(15)


@pytest.mark.parametrize("q", [0.1, 0.25, 0.5, 0.75])
def test_the_best_candidate_is_the_quantile(q):
    best = CANDIDATES[int(scores(VALUES, CANDIDATES, q).argmax())]
    # the smallest value with at least a share q at or below it (candidates between two values may score as well)
    assert best == np.quantile(VALUES, q, method="inverted_cdf")
    assert (scores(VALUES, CANDIDATES, q) <= 0).all()


@pytest.mark.parametrize("q", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_row_more_moves_no_score_by_more_than_the_larger_share(q):
    before = scores(VALUES, CANDIDATES, q, inside=2.0)
    moves = [np.abs(scores([*VALUES, row], CANDIDATES, q, inside=2.0) - before).max() for row in range(-1, 16)]
    assert max(moves) == pytest.approx(max(q, 1 - q))


def test_the_ends_are_aimed_at_from_inside():
    less, more = np.arange(6), np.arange(6)[::-1]
    assert int(rank_scores(less, more, 0.0, 2).argmax()) == 2
    assert int(rank_scores(less, more, 1.0, 2).argmax()) == 3
    assert rank_scores(less, more, 1.0).tolist() == [-5.0, -4.0, -3.0, -2.0, -1.0, 0.0]
    assert not np.signbit(rank_scores(less, more, 0.0)[0]), "0 and not -0"
