from __future__ import annotations

import itertools

import numpy as np
import pytest

from celosia.kernels.disclosure.count_estimates import anatomy_count, reconstruction_error, spread_count


def test_anatomy_is_the_mean_over_all_shuffles():
    group = np.array([0, 0, 0, 1, 1, 1, 1])
    value = np.array([1, 0, 0, 1, 1, 0, 0])
    matching = np.array([True, True, False, True, False, True, True])
    held = np.bincount(group, weights=value).astype(np.int64)
    shuffles = [
        (np.array(a + b) * matching).sum()
        for a, b in itertools.product(itertools.permutations(value[:3]), itertools.permutations(value[3:]))
    ]
    assert anatomy_count(matching, group, held) == pytest.approx(np.mean(shuffles))


def test_extremes():
    nobody, everybody = np.zeros(3, bool), np.ones(3, bool)
    group, held = np.array([0, 0, 1]), np.array([1, 1])
    assert anatomy_count(nobody, group, held) == 0
    assert anatomy_count(everybody, group, held) == 2
    assert anatomy_count(np.zeros(0, bool), np.zeros(0, int), np.zeros(0, int)) == 0
    assert spread_count(np.zeros(0), np.zeros(0, int)) == 0
    assert spread_count(np.array([1.0]), np.array([7])) == 7
    assert reconstruction_error(np.zeros(0, int), np.zeros(0, int)) == 0


def test_reconstruction_error_by_definition():
    rng = np.random.default_rng(1)
    group, value = rng.integers(0, 5, 60), rng.integers(0, 4, 60)
    total = 0.0
    for i in range(60):
        inside = value[group == group[i]]
        for s in range(4):
            share = (inside == s).mean()
            total += (1 - share) ** 2 if s == value[i] else share**2
    assert reconstruction_error(group, value) == pytest.approx(total)


def test_least_error_is_reached_by_different_values():
    group, value = np.repeat(np.arange(5), 4), np.tile(np.arange(4), 5)
    assert reconstruction_error(group, value) == pytest.approx(20 * (1 - 1 / 4))
