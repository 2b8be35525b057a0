"""Pairs of rank swapping: window, once each, all choices equally likely."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.kernels.neighbours.swap import pairs, pairs_jointly, pairs_normal


class Choices:
    """Stands for a generator whose draws lead to given positions; runs the algorithm as plain Python."""

    def __init__(self, targets, n, window):
        self.targets = iter(targets)
        self.n = n
        self.window = window

    def random(self):
        i, l = next(self.targets)
        width = min(self.n - 1, i + self.window) - i
        return (l - i - 1 + 0.5) / width


def test_replay_of_the_worked_example():
    ages = np.array([42, 28, 51, 23, 12, 68, 30, 46, 55, 61])
    order = np.argsort(ages)
    # sorted positions (from 1) 1↔2, 3↔5, 4↔7, 6↔8, 9↔10
    choices = Choices([(0, 1), (2, 4), (3, 6), (5, 7), (8, 9)], 10, 3)
    python = getattr(pairs, "py_func", pairs)
    import celosia.kernels.neighbours.swap as module

    inner = module._free_between
    try:
        module._free_between = getattr(inner, "py_func", inner)
        partner = python(10, 3, choices)
    finally:
        module._free_between = inner
    result = np.empty(10, int)
    result[order] = ages[order[partner]]
    assert result.tolist() == [28, 42, 30, 12, 23, 61, 51, 55, 46, 68]


@given(st.integers(1, 80), st.integers(0, 90), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_no_rank_moves_farther_than_the_window(n, window, seed):
    partner = pairs(n, window, np.random.default_rng(seed))
    place = np.arange(n)
    assert (partner[partner] == place).all(), "each value moves once"
    assert np.abs(partner - place).max() <= window
    # nobody who could have changed places was left out: the records that stay have no free record in their window
    alone = np.flatnonzero(partner == place)
    assert (np.diff(alone) > window).all()


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_normal_steps_pair_everybody_once(n, window, seed):
    partner = pairs_normal(n, window, np.random.default_rng(seed))
    assert (partner[partner] == np.arange(n)).all()
    assert (partner == np.arange(n)).sum() == n % 2


def test_the_first_record_takes_each_candidate_equally_often():
    rng = np.random.default_rng(0)
    counts = np.bincount([pairs(12, 4, rng)[0] for _ in range(8000)], minlength=12)
    assert counts[1:5].sum() == 8000
    assert np.abs(counts[1:5] - 2000).max() < 5 * np.sqrt(2000)


def test_normal_steps_have_the_stated_mean():
    rng = np.random.default_rng(0)
    step = np.array([pairs_normal(600, 100, rng)[0] for _ in range(3000)])
    # N(w/2, (w/2)²) given that it is positive: mean w/2 (1 + φ(1)/Φ(1)) = 0.6438 w; far from 0.7 and 1.3 times that
    assert step.mean() == pytest.approx(64.38, abs=2.5)
    assert step.max() > 100, "no interval is sure to hold the original rank"


@given(st.integers(2, 50), st.integers(1, 40), st.integers(1, 3), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_joint_pairs_keep_the_window_in_every_column(n, window, d, seed):
    rng = np.random.default_rng(seed)
    ranks = np.column_stack([rng.permutation(n) for _ in range(d)])
    partner = pairs_jointly(ranks, np.argsort(ranks[:, 0]), window, rng)
    assert (partner[partner] == np.arange(n)).all()
    assert np.abs(ranks - ranks[partner]).max() <= window
