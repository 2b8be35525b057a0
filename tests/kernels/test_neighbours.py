"""Searches for near records against all pairs: the tree, mixed distances, bounds, exchanged ranks and rare items."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.kernels.neighbours import likely_exchange
from celosia.kernels.neighbours.kd_tree import build, farthest, nearest, remove
from celosia.kernels.neighbours.likely_exchange import Exchange, costs_of_pairs, likeliest
from celosia.kernels.neighbours.mixed_nearest import mixed_nearest
from celosia.kernels.neighbours.nearest_within import costs_within, nearest_within
from celosia.kernels.neighbours.scoreboard import Held, Knowledge, scoreboard

seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 60), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_the_tree_finds_the_nearest_and_the_farthest_of_those_that_live(seed, n, d):
    """Small whole numbers, so that many are equally near: then the lower number of a record counts."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, d)).astype(float)
    tree, living = build(points, np.arange(n)), list(range(n))
    for _ in range(min(n, 8)):
        x = rng.integers(-1, 6, d).astype(float)
        square = {i: float(((points[i] - x) ** 2).sum()) for i in living}
        k = int(rng.integers(1, 6))
        close, squares = np.empty(k, np.int64), np.empty(k)
        count = nearest(tree, x, k, close, squares)
        expected = sorted(living, key=lambda i: (square[i], i))[:k]
        assert close[:count].tolist() == expected
        assert squares[:count].tolist() == [square[i] for i in expected]
        assert farthest(tree, x) == (min(living, key=lambda i: (-square[i], i)) if living else -1)
        if living:
            gone = living.pop(int(rng.integers(len(living))))
            remove(tree, gone)
    for gone in living:
        remove(tree, gone)
    assert farthest(tree, np.zeros(d)) == -1


@given(seeds, st.integers(1, 12), st.integers(1, 12), st.integers(0, 2), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_mixed_distances_over_all_pairs(seed, n, m, p, q):
    rng = np.random.default_rng(seed)
    numbers, others = (np.where(rng.random((k, p)) < 0.2, np.nan, rng.integers(0, 3, (k, p)) / 2) for k in (n, m))
    codes, other_codes = (rng.integers(-1, 2, (k, q)).astype(np.int32) for k in (n, m))
    weights = rng.integers(1, 3, p + q).astype(float)
    first, best, tied, second, second_tied = mixed_nearest(numbers, codes, others, other_codes, weights)
    for i in range(n):
        away = []
        for j in range(m):
            gaps = [
                (0.0 if math.isnan(b) else 1.0) if math.isnan(a) else 1.0 if math.isnan(b) else abs(a - b)
                for a, b in zip(numbers[i], others[j], strict=True)
            ]
            gaps += [float(a != b) for a, b in zip(codes[i], other_codes[j], strict=True)]
            away.append(sum(w * gap for w, gap in zip(weights, gaps, strict=True)))
        levels = sorted(set(away))
        assert best[i] == pytest.approx(levels[0])
        assert first[i] == away.index(levels[0])
        assert tied[i] == away.count(levels[0])
        assert second[i] == pytest.approx(levels[1] if len(levels) > 1 else math.inf)
        assert second_tied[i] == (away.count(levels[1]) if len(levels) > 1 else 0)


@given(seeds, st.integers(1, 8), st.integers(1, 10))
@settings(max_examples=60, deadline=None)
def test_the_nearest_inside_bounds(seed, n, m):
    rng = np.random.default_rng(seed)
    x, y = (np.where(rng.random((k, 2)) < 0.15, np.nan, rng.integers(0, 4, (k, 2)).astype(float)) for k in (n, m))
    low = np.nan_to_num(x) - rng.integers(0, 3, (n, 2))
    high = np.nan_to_num(x) + rng.integers(0, 3, (n, 2))
    weights = np.array([1.0, 0.5])
    begin = rng.integers(0, m + 1, n)
    end = np.array([int(rng.integers(b, m + 1)) for b in begin])
    least, tied = nearest_within(x, low, high, y, weights, begin, end)

    def cost(i, j):
        total = 0.0
        for c in range(2):
            a, b = x[i, c], y[j, c]
            if math.isnan(a) and math.isnan(b):
                continue
            if math.isnan(a) or math.isnan(b) or not low[i, c] <= b <= high[i, c]:
                return math.inf
            total += weights[c] * (a - b) ** 2
        return total

    for i in range(n):
        costs = [cost(i, j) for j in range(begin[i], end[i])]
        expected = min(costs, default=math.inf)
        assert least[i] == pytest.approx(expected)
        assert tied[i] == (costs.count(expected) if math.isfinite(expected) else 0)
    rows, columns = (grid.ravel() for grid in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    pairs = costs_within(rows, columns, x, low, high, y, weights)
    assert pairs.tolist() == pytest.approx([cost(i, j) for i in range(n) for j in range(m)])


def step_cost(own, other, reach, mode):
    """The least cost of a step between any rank of one value and any rank of the other: by trying all of them."""
    if own[0] < 0 or other[0] < 0:
        return 0.0 if own[0] < 0 and other[0] < 0 else math.inf
    costs = []
    for a in range(own[0], own[1] + 1):
        for b in range(other[0], other[1] + 1):
            if mode == likely_exchange.WINDOW:
                costs.append(0.0 if abs(a - b) <= reach else math.inf)
            elif mode == likely_exchange.BUCKETS:
                size = max(int(reach), 1)
                costs.append(math.log(2) * abs(a // size - b // size))
    return min(costs)


@pytest.mark.parametrize("mode", [likely_exchange.WINDOW, likely_exchange.BUCKETS])
@given(seeds, st.integers(1, 6), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_the_likeliest_exchange(mode, seed, n, m):
    rng = np.random.default_rng(seed)

    def ranks(k):
        first = rng.integers(0, 9, (k, 2))
        last = first + rng.integers(0, 3, (k, 2))
        gone = rng.random((k, 2)) < 0.1
        pairs = np.stack([np.where(gone, -1, first), np.where(gone, -1, last)], axis=2)
        return pairs.reshape(k, 4).astype(np.int32)

    own, others = ranks(n), ranks(m)
    group, other_group = (rng.integers(0, 2, (k, 2)).astype(np.int32) for k in (n, m))
    reach = rng.integers(1, 4, (n, 2)).astype(float)
    about = Exchange(own, group, reach, others, other_group, np.full(2, mode))
    begin, end = np.zeros(n, np.int64), np.full(n, m)
    least, tied = likeliest(about, begin, end)
    rows, columns = (grid.ravel() for grid in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    pairs = costs_of_pairs(rows, columns, about).reshape(n, m)
    for i in range(n):
        for j in range(m):
            alike = (group[i] == other_group[j]).all()
            steps = [
                step_cost(own[i, 2 * c : 2 * c + 2], others[j, 2 * c : 2 * c + 2], reach[i, c], mode) for c in (0, 1)
            ]
            assert pairs[i, j] == pytest.approx(sum(steps) if alike else math.inf), (i, j)
        expected = pairs[i].min()
        assert least[i] == pytest.approx(expected)
        assert tied[i] == (np.isclose(pairs[i], expected).sum() if np.isfinite(expected) else 0)


def test_a_normal_exchange_goes_about_half_the_reach():
    """The likeliest step is half the reach; nearer and farther ones cost the same for the same distance from it."""
    ranks = np.array([[10, 10]], np.int32)
    others = np.array([[r, r] for r in (10, 12, 14, 16, 18)], np.int32)
    group, other_group = np.zeros((1, 1), np.int32), np.zeros((5, 1), np.int32)
    about = Exchange(ranks, group, np.full((1, 1), 8.0), others, other_group, np.array([likely_exchange.NORMAL]))
    costs = costs_of_pairs(np.zeros(5, np.int64), np.arange(5), about)
    assert costs.tolist() == pytest.approx([0.5, 0.125, 0.0, 0.125, 0.5])  # ((step - 4) / 4)² / 2


@given(seeds, st.integers(2, 6), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_people_by_rare_items(seed, persons, items):
    rng = np.random.default_rng(seed)
    held = [
        (p, i, *rng.integers(0, 3, 1)) for p in range(persons) for i in range(items) for _ in range(rng.integers(0, 3))
    ]
    held.sort(key=lambda row: (row[1], row[0]))
    values = np.array([[float(row[2])] for row in held]).reshape(-1, 1)
    values[rng.random(len(values)) < 0.2] = np.nan
    begin = np.searchsorted([row[1] for row in held], np.arange(items + 1))
    weight, scale = rng.integers(1, 4, items).astype(float), 2.0
    known = [(int(rng.integers(-1, items)), float(rng.integers(0, 3))) for _ in range(3)]
    target = int(rng.integers(persons))
    best, stands = scoreboard(
        Held(begin, np.array([row[0] for row in held], np.int64), values, weight, np.array([scale])),
        Knowledge(
            np.array([0, 3]), np.array([k[0] for k in known]), np.array([[k[1]] for k in known]), np.array([target])
        ),
        persons,
    )

    def alike(value, wanted):
        return 1.0 if math.isnan(value) else math.exp(-abs(value - wanted) / scale)

    score = [
        sum(
            weight[item]
            * max((alike(values[r, 0], wanted) for r, row in enumerate(held) if row[:2] == (p, item)), default=0.0)
            for item, wanted in known
            if item >= 0
        )
        for p in range(persons)
    ]
    assert score[best[0]] == pytest.approx(max(score))
    for without in (0, 1):
        some = [s for p, s in enumerate(score) if not (without and p == target)]
        spread = float(np.std(some))
        ranked = sorted(some)
        expected = (ranked[-1] - ranked[-2]) / spread if len(some) > 1 and spread > 1e-9 else 0.0
        assert stands[0, without] == pytest.approx(expected, abs=1e-6)
