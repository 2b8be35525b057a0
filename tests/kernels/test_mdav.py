"""MDAV: the definition word by word as a second way; worked examples; reference losses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from celosia.kernels.neighbours import regroup
from celosia.kernels.neighbours.blocks import in_blocks
from celosia.kernels.neighbours.mdav import mdav, v_mdav
from celosia.kernels.neighbours.regroup import error, improve, neighbours, settle

AGES = np.array([[42.0], [28], [50], [23], [12], [68], [30], [46], [55], [61]])


def by_definition(points, k):
    """Algorithm MDAV with full scans; ties to the lower index."""
    group = np.full(len(points), -1)
    rest = np.arange(len(points))
    label = 0

    def squares(x):
        total = np.zeros(len(rest))
        for a in range(points.shape[1]):
            total += (points[rest, a] - x[a]) ** 2
        return total

    def take(x):
        nonlocal rest, label
        nearest = np.argsort(squares(x), kind="stable")[:k]
        group[rest[nearest]] = label
        label += 1
        rest = np.delete(rest, nearest)

    while len(rest) >= 2 * k:
        both = len(rest) >= 3 * k
        mean = np.array([math.fsum(points[rest, a]) / len(rest) for a in range(points.shape[1])])
        r = rest[np.argmax(squares(mean))]
        take(points[r])
        if both:
            s = rest[np.argmax(squares(points[r]))]
            take(points[s])
    group[rest] = label
    return group


def sizes_are_right(group, n, k):
    counts = np.bincount(group)
    assert counts.min() >= k
    assert counts.max() <= 2 * k - 1 or n < 2 * k
    assert counts.sum() == n


def standardised(path):
    x = np.genfromtxt(path, delimiter=",", skip_header=1)
    return (x - x.mean(axis=0)) / x.std(axis=0)


def test_ages_by_hand():
    # the farthest from the mean 41.5 is 12, with 23 and 28; the farthest from 12 is 68, with 61 and 55; the rest is one
    assert mdav(AGES, 3).tolist() == [2, 0, 2, 0, 0, 1, 2, 2, 1, 1]
    assert error(AGES, mdav(AGES, 3)) == pytest.approx(442.6667, abs=1e-4)


@pytest.mark.parametrize(
    ("k", "groups", "sse"),
    [
        (2, [{1, 2}, {9, 10}, {3, 4}, {7, 8}, {5, 6}], 203),
        (3, [{1, 2, 3}, {8, 9, 10}, {4, 5, 6, 7}], 783),
        (4, [{1, 2, 3, 4}, {5, 6, 7, 8, 9, 10}], 1890),
        (5, [{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}], 1724.8),
    ],
)
def test_exercise_two_of_the_course(k, groups, sse):
    x = np.array([[10.0, 90], [9, 80], [8, 70], [7, 60], [6, 50], [5, 40], [4, 30], [3, 20], [2, 10], [1, 9]])
    found = mdav(x, k)
    assert [set((np.flatnonzero(found == g) + 1).tolist()) for g in range(len(groups))] == groups
    assert error(x, found) == pytest.approx(sse)


@pytest.mark.parametrize("seed", range(12))
def test_same_groups_as_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(10, 250)), int(rng.integers(1, 6)), int(rng.integers(2, 7))
    points = [rng.normal(size=(n, d)), rng.integers(0, 6, (n, d)).astype(float), np.exp(2 * rng.normal(size=(n, d)))]
    for x in points:
        assert mdav(x, k).tolist() == by_definition(x, k).tolist()


def test_same_groups_on_a_file_of_a_few_thousand_records():
    x = np.exp(np.random.default_rng(5).normal(size=(3000, 4)))
    assert mdav(x, 4).tolist() == by_definition(x, 4).tolist()


@given(
    arrays(np.float64, st.tuples(st.integers(4, 40), st.integers(1, 3)), elements=st.floats(-1e6, 1e6)),
    st.integers(2, 4),
    st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_sizes_and_search_on_any_input(x, k, seed):
    group = mdav(x, k)
    sizes_are_right(group, len(x), k)
    better = improve(x, group, k, 5, np.random.default_rng(seed))
    sizes_are_right(better, len(x), k)
    assert error(x, better) <= error(x, group) * (1 + 1e-12)
    sizes_are_right(in_blocks(x, k), len(x), k)
    assert error(x, in_blocks(x, k)) <= error(x, group) * (1 + 1e-12)
    assert np.bincount(v_mdav(x, k, 0.3)).min() >= k


@pytest.mark.parametrize("n", [3, 4, 5])
def test_fewer_than_two_groups_of_records_are_one_group(n):
    assert set(mdav(np.arange(float(n))[:, None], 3)) == {0}
    assert set(improve(np.arange(float(n))[:, None], np.zeros(n, np.int64), 3, 10, np.random.default_rng(0))) == {0}


def test_equal_records_and_two_clusters():
    assert np.bincount(mdav(np.zeros((10, 2)), 3)).tolist() == [3, 3, 4]
    x = np.repeat([[0.0, 0.0], [9.0, 9.0]], 5, axis=0)
    assert error(x, improve(x, mdav(x, 3), 3, 20, np.random.default_rng(0))) == 0


@pytest.mark.parametrize(
    ("name", "k", "loss", "reference"),
    [
        ("tarragona", 3, 16.93, 16.9325876228238),
        ("tarragona", 4, 19.55, 19.5459620379866),
        ("tarragona", 5, 22.46, 22.4619),
        ("tarragona", 10, 33.19, 33.1929),
        ("census", 3, 5.69, 5.6921862787708),
        ("census", 4, 7.49, 7.49469983255611),
        ("census", 5, 9.09, 9.08843549763607),
        ("census", 10, 14.16, 14.1559),
    ],
)
def test_published_losses_of_mdav(shared, name, k, loss, reference):
    x = standardised(shared(f"data/{name}.csv"))
    found = 100 * error(x, mdav(x, k)) / x.size
    assert round(found, 2) == loss
    assert found <= reference * 1.0001


@pytest.mark.parametrize(
    ("name", "k", "limit"),
    [
        ("census", 3, 5.28),
        ("census", 5, 8.11),
        ("census", 10, 12.45),
        ("tarragona", 3, 15.01),
        ("tarragona", 5, 20.68),
        ("tarragona", 10, 30.87),
    ],
)
def test_the_search_goes_below_moves_and_exchanges(shared, name, k, limit):
    x = standardised(shared(f"data/{name}.csv"))
    better = improve(x, mdav(x, k), k, 3000, np.random.default_rng(1))
    sizes_are_right(better, len(x), k)
    assert 100 * error(x, better) / x.size < limit


@pytest.mark.long
def test_blocks_lose_little_against_mdav():
    x = np.exp(np.random.default_rng(0).normal(size=(30_000, 5)))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    group = in_blocks(x, 3)
    sizes_are_right(group, len(x), 3)
    assert error(x, group) <= 1.3 * error(x, mdav(x, 3))


def test_blocks_of_equal_records():
    group = in_blocks(np.zeros((12_001, 3)), 5)
    sizes_are_right(group, 12_001, 5)


def test_settling_never_hurts_and_neighbours_are_the_nearest():
    x = np.random.default_rng(3).normal(size=(200, 3))
    group = mdav(x, 3)
    assert error(x, settle(x, group, 3)) < error(x, group)
    near = neighbours(x, 5)
    away = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    assert (near == np.argsort(away, axis=1)[:, :5]).all()


def v_mdav_by_definition(points, k, gamma):
    n = len(points)
    away = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    centre = np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1))
    group = np.full(n, -1)
    label = 0
    while (group < 0).sum() >= k:
        free = np.flatnonzero(group < 0)
        seed = free[np.argmax(centre[free])]
        members = list(free[np.argsort(away[seed, free], kind="stable")[:k]])
        group[members] = label
        while len(members) < 2 * k - 1 and (group < 0).any():
            free = np.flatnonzero(group < 0)
            inner = away[np.ix_(members, free)].min(axis=0)
            e = free[np.argmin(inner)]
            others = free[free != e]
            outer = away[e, others].min() if len(others) else np.inf
            if inner.min() >= gamma * outer:
                break
            group[e] = label
            members.append(e)
        label += 1
    for i in np.flatnonzero(group < 0):
        means = [points[group == g].mean(axis=0) for g in range(label)]
        group[i] = -2 - int(np.argmin([((points[i] - m) ** 2).sum() for m in means]))
    return np.where(group < -1, -2 - group, group)


@pytest.mark.parametrize("gamma", [0.0, 0.2, 1.1])
def test_variable_groups_as_defined(gamma):
    for seed in range(6):
        x = np.random.default_rng(seed).normal(size=(60, 2))
        assert v_mdav(x, 3, gamma).tolist() == v_mdav_by_definition(x, 3, gamma).tolist()


def test_the_gain_of_a_move_or_exchange_is_the_change_of_the_error():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(30, 3))
    group = np.arange(30) % 6
    state = regroup._state(x, group.copy(), 3)
    start = error(x, group)
    for a, b in rng.integers(0, 30, (40, 2)):
        if group[a] == group[b]:
            continue
        moved = group.copy()
        moved[a] = group[b]
        gain = regroup._leave(state, a) + regroup._enter(state, a, group[b])
        assert gain == pytest.approx(error(x, moved) - start)
        moved[b] = group[a]
        assert regroup._exchange(state, a, b) == pytest.approx(error(x, moved) - start)
