"""Runs of sorted values: the optimum against all partitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.kernels.neighbours.runs import fixed_runs, groups_along, shortest_path

AGES = np.array([42.0, 28, 50, 23, 12, 68, 30, 46, 55, 61])


def within(values, group):
    return sum(((values[group == g] - values[group == g].mean()) ** 2).sum() for g in set(group.tolist()))


def least(values, k):
    """The best over every way to cut sorted values into runs of at least k."""
    n = len(values)
    best = np.inf
    for cuts in range(n // k):
        for places in itertools.combinations(range(k, n - k + 1), cuts):
            ends = [0, *places, n]
            if all(b - a >= k for a, b in itertools.pairwise(ends)):
                best = min(
                    best, sum(((values[a:b] - values[a:b].mean()) ** 2).sum() for a, b in itertools.pairwise(ends))
                )
    return best


@pytest.mark.parametrize(("k", "sse"), [(2, 107.5), (3, 311.4167), (4, 664.0833), (5, 782.0)])
def test_worked_example(k, sse):
    group = groups_along(AGES, k)
    assert within(AGES, group) == pytest.approx(sse, abs=1e-4)


@given(st.lists(st.integers(-50, 50), min_size=4, max_size=12), st.integers(2, 4))
@settings(max_examples=80, deadline=None)
def test_no_partition_is_better(values, k):
    x = np.sort(np.array(values, dtype=float))
    if len(x) < k:
        return
    run = shortest_path(x, k)
    counts = np.bincount(run)
    assert counts.min() >= k
    assert counts.max() <= 2 * k - 1
    assert within(x, run) == pytest.approx(least(x, k), abs=1e-9)


def test_large_values_lose_no_digits():
    x = 1e9 + np.array([0.0, 0.001, 0.002, 5.0, 5.001, 5.002])
    assert shortest_path(x, 3).tolist() == [0, 0, 0, 1, 1, 1]


def test_fixed_runs_give_the_rest_to_the_last():
    assert fixed_runs(8, 3).tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert fixed_runs(2, 3).tolist() == [0, 0]
