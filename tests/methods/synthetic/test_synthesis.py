"""The pure layer of record synthesis: even draws, leaves, category orders, copulas, trees of tables, combining rules."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.errors import ParameterError
from celosia.kernels.synthesis.combining import combine
from celosia.methods.bases.trees import Feature, between, category_order, evenly, lend, synthesise
from celosia.methods.synthetic.copula import draw, fit_copula, nearest_correlation
from celosia.methods.synthetic.tree_model import independence_gap, sample_tree, spanning_pairs, table_of


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 5))
def test_even_draws_fill_every_stratum_of_each_group(seed, n, groups):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    u = evenly(group, rng)
    for g in np.unique(group):
        mine = np.sort(u[group == g])
        assert ((mine * len(mine)).astype(int) == np.arange(len(mine))).all()


def test_even_draws_are_uniform_and_in_random_order():
    first = np.array([evenly(np.zeros(5, int), np.random.default_rng(s))[0] for s in range(4000)])
    assert abs(first.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 4000)
    assert abs(first.var() - 1 / 12) < 0.006
    assert not abs(first.var() - 0.7 / 12) < 0.006


def test_a_leaf_lends_its_own_values_with_its_own_shares():
    rng = np.random.default_rng(0)
    leaves = np.repeat([3, 8], [4, 6])
    y = np.array([1.0, 1, 1, 2, 5, 5, 6, 6, 6, 6])
    made = lend(leaves, y, np.repeat([8, 3], [60, 40]), rng, smooth=False, whole=False)
    assert sorted(made[:60].tolist()) == [5.0] * 20 + [6.0] * 40
    assert sorted(made[60:].tolist()) == [1.0] * 30 + [2.0] * 10


def test_smoothed_values_lie_between_neighbours_and_repeat_none():
    rng = np.random.default_rng(1)
    y = rng.normal(size=500)
    y[:20] = np.nan
    leaf = np.zeros(500, int)
    made = lend(leaf, y, leaf, rng, smooth=True, whole=False)
    assert np.isnan(made).sum() == 20
    known = made[~np.isnan(made)]
    assert np.nanmin(y) < known.min()
    assert known.max() < np.nanmax(y)
    assert not np.isin(known, y).any()
    assert abs(known.mean() - np.nanmean(y)) < 0.05
    assert between(np.array([4.0]), *(np.array([v]) for v in (0, 1, 0)), np.array([0.3])).tolist() == [4.0]


def test_categories_are_ordered_so_that_the_best_split_is_an_interval():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 6, 3000)
    target = np.array([0.9, 0.1, 0.5, 0.7, 0.2, 0.3])[codes] + rng.normal(0, 0.05, 3000)
    order = category_order(codes, Feature(target, False), target, 6).argsort().tolist()
    assert order == [1, 4, 5, 2, 3, 0]

    # by brute force: no subset of categories splits the variance better than the best interval of that order
    def gain(subset):
        left = np.isin(codes, list(subset))
        return -(target[left].var() * left.sum() + target[~left].var() * (~left).sum())

    subsets = [s for size in (1, 2, 3) for s in itertools.combinations(range(6), size)]
    intervals = [tuple(order[:k]) for k in range(1, 6)]
    assert max(map(gain, intervals)) >= max(map(gain, subsets)) - 1e-9


def test_large_leaves_forget_and_small_ones_remember():
    rng = np.random.default_rng(3)
    x = rng.normal(size=1000)
    columns = [Feature(x, False), Feature(x**2, False)]
    fine = synthesise(columns, [0, 1], {}, 1000, rng, leaf=5)
    coarse = synthesise(columns, [0, 1], {}, 1000, rng, leaf=1000)
    assert np.corrcoef(fine[0] ** 2, fine[1])[0, 1] > 0.95
    assert abs(np.corrcoef(coarse[0] ** 2, coarse[1])[0, 1]) < 0.2


@pytest.mark.parametrize("cuts", [None, [0.0], [-1.0, 0.2, 1.5]])
def test_the_copula_finds_the_latent_correlation(cuts):
    rng = np.random.default_rng(4)
    z = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 30000)
    second = Feature(z[:, 1], False) if cuts is None else Feature(np.searchsorted(cuts, z[:, 1]).astype(float), False)
    columns = [Feature(np.exp(z[:, 0]), False), second]
    found = fit_copula(columns)
    assert abs(found.correlation[0, 1] - 0.5) < 0.03
    made = draw(found, columns, 30000, rng)
    assert abs(np.corrcoef(np.log(made[0]), made[1])[0, 1] - np.corrcoef(z[:, 0], second.values)[0, 1]) < 0.03


def test_an_impossible_correlation_matrix_becomes_a_possible_one_and_a_good_one_stays():
    good = np.array([[1, 0.3], [0.3, 1]])
    assert np.array_equal(nearest_correlation(good), good)
    bad = nearest_correlation(np.array([[1, 0.99, -0.99], [0.99, 1, 0.99], [-0.99, 0.99, 1]]))
    assert np.linalg.eigvalsh(bad).min() > 0
    assert np.allclose(np.diag(bad), 1)


def test_tables_of_codes_by_hand():
    a, b = np.array([0, 0, 1, -1]), np.array([1, 1, 0, 0])
    assert table_of([a, b], [2, 2]).tolist() == [[0, 2], [1, 0]]
    # expected under independence with margins (2, 1) and (1, 2): 2/3, 4/3, 1/3, 2/3
    gap = independence_gap(table_of([a, b], [2, 2]), np.array([2.0, 1]), np.array([1.0, 2]))
    assert np.isclose(gap, 2 / 3 + 2 / 3 + 2 / 3 + 2 / 3)


def test_one_record_moves_the_score_of_a_pair_by_at_most_one():
    rng = np.random.default_rng(5)
    for _ in range(200):
        counts = rng.integers(0, 5, (3, 4)).astype(float)
        first, second = rng.uniform(0, 5, 3), rng.uniform(0, 5, 4)
        more = counts.copy()
        more[rng.integers(3), rng.integers(4)] += 1
        assert abs(independence_gap(counts, first, second) - independence_gap(more, first, second)) <= 1 + 1e-12


def test_a_tree_is_the_spanning_tree_of_largest_scores():
    rng = np.random.default_rng(6)
    pairs = list(itertools.combinations(range(4), 2))
    scores = dict(zip(pairs, rng.random(6), strict=True))
    found = spanning_pairs(4, scores, lambda s: int(np.argmax(s)))

    def spans(tree):
        seen = {0}
        for _ in range(4):
            seen |= {v for pair in tree for v in pair if seen & set(pair)}
        return len(seen) == 4

    largest = max((t for t in itertools.combinations(pairs, 3) if spans(t)), key=lambda t: sum(scores[p] for p in t))
    assert set(found) == set(largest)
    assert spanning_pairs(3, {(0, 1): 1.0}, lambda _: 0) == [(0, 1)]  # a column without a pair stays alone


def test_records_of_a_tree_have_its_tables():
    rng = np.random.default_rng(7)
    ab = np.array([[30.0, 10], [0, 60]])
    bc = np.array([[15.0, 15, 0], [0, 0, 70]])
    a, b, c = sample_tree([ab.sum(1), ab.sum(0), bc.sum(0)], {(0, 1): ab, (1, 2): bc}, 10000, rng)
    assert np.abs(table_of([a, b], [2, 2]) / 100 - ab).max() < 0.1
    assert np.abs(table_of([b, c], [2, 3]) / 100 - bc).max() < 0.6
    lone = sample_tree([np.array([1.0, 3]), np.zeros(2)], {}, 400, rng)
    assert lone[0].sum() == 300
    assert lone[1].sum() == 200


def test_combining_rules_by_hand():
    q, v = [10.0, 12.0, 14.0], [1.0, 2.0, 3.0]  # mean 12, within 2, between 4
    assert combine(q, v, "partial").variance == pytest.approx(2 + 4 / 3)
    assert combine(q, v, "partial").degrees == pytest.approx(2 * (1 + 3 * 2 / 4) ** 2)
    assert combine(q, v, "full").variance == pytest.approx(4 / 3 * 4 - 2)
    assert combine(q, v, "full").degrees == pytest.approx(2 * (1 - 3 * 2 / (4 * 4)) ** 2)
    assert combine(q, v, "simple").variance == pytest.approx(2 * 4 / 3)
    assert combine([5.0], [1.0]).variance == 2.0
    assert combine([5.0, 5.0], [1.0, 1.0], "full").variance == 1.0  # never negative
    low, high = combine(q, v, "partial").interval()
    assert low < 12 < high
    for wrong in (([], []), ([1.0], [1.0, 2.0]), ([1.0], [-1.0])):
        with pytest.raises(ParameterError):
            combine(*wrong)
    with pytest.raises(ParameterError, match="needs at least two copies, got 1"):
        combine([1.0], [1.0], "partial")


def test_intervals_of_partial_synthesis_cover_as_stated():
    """Means of a column of which half is drawn anew: 95 % intervals hold the truth in about 95 % of the trials."""
    rng = np.random.default_rng(8)
    n, m, hits, naive = 200, 5, 0, 0
    trials = 1500
    for _ in range(trials):
        y = rng.normal(size=n)
        mu, sd = y.mean(), y.std(ddof=1)
        copies = []
        for _ in range(m):
            # a proper draw: parameters from their posterior, then the values
            sigma = sd * np.sqrt((n - 1) / rng.chisquare(n - 1))
            centre = mu + sigma / np.sqrt(n) * rng.normal()
            copies.append(np.concatenate([y[: n // 2], rng.normal(centre, sigma, n - n // 2)]))
        q, v = [c.mean() for c in copies], [c.var(ddof=1) / n for c in copies]
        low, high = combine(q, v, "partial").interval()
        hits += low <= 0 <= high
        half = 1.96 * np.sqrt(0.49 * np.mean(v))  # a standard error of 0.7 times the right one
        naive += abs(np.mean(q)) <= half
    assert 0.93 < hits / trials < 0.985
    assert naive / trials < 0.93
