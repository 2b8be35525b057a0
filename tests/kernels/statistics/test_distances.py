"""Distances of samples, tables of counts and models: against scipy, by hand, and in both ways to count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from celosia.errors import NotApplicable
from celosia.kernels.statistics import distribution_distance as distances
from celosia.loss.numbers.deviation import absolute_deviation, relative_deviation, squared_deviation
from celosia.loss.use.agreement import Tree, interval_overlap, least_squares, tree_overlap


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sizes", [(1, 1), (1, 7), (30, 11), (40, 40)])
def test_samples_against_scipy_with_ties(seed, sizes):
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, 9, size).astype(float) for size in sizes)
    assert distances.kolmogorov_smirnov(x, y) == pytest.approx(stats.ks_2samp(x, y).statistic)
    assert distances.wasserstein(x, y) == pytest.approx(stats.wasserstein_distance(x, y))
    # a shift moves the second by itself, a common one and the order of the records move neither
    assert distances.wasserstein(x, x + 3.5) == pytest.approx(3.5)
    assert distances.wasserstein(x[::-1] - 4, y - 4) == pytest.approx(distances.wasserstein(y, x))
    assert distances.kolmogorov_smirnov(x[::-1] * 7, y * 7) == pytest.approx(distances.kolmogorov_smirnov(y, x))


@pytest.mark.parametrize("dense", [10, 0])
def test_counts_and_what_is_made_of_them(dense, monkeypatch):
    """Small tables are counted as an array, large ones by sorting: the same numbers."""
    monkeypatch.setattr(distances, "_DENSE", dense)
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 8, 50), rng.integers(2, 10, 30)
    p, q = distances.counts(a, b, 10)
    first, second = Counter(a.tolist()), Counter(b.tolist())
    codes = sorted({*first, *second})
    assert p == pytest.approx([first[v] / 50 for v in codes])
    assert q == pytest.approx([second[v] / 30 for v in codes])
    # 1 - Σ√(pq) is the square of Hellinger's distance
    assert distances.hellinger(p, q) ** 2 == pytest.approx(1 - sum((first[v] * second[v] / 1500) ** 0.5 for v in codes))
    assert distances.total_variation(p, q) == pytest.approx(sum(max(0, first[v] / 50 - second[v] / 30) for v in codes))
    # the classical bounds of the one by the other
    assert distances.hellinger(p, q) ** 2 <= distances.total_variation(p, q) <= 2**0.5 * distances.hellinger(p, q)


def test_entropy_and_shared_information_by_hand():
    assert distances.entropy(np.array([7, 7, 7])) == 0.0
    assert distances.entropy(np.array([0, 1, 1, 1])) == pytest.approx(2 - 0.75 * np.log2(3))
    # a tells b but not the other way round: H(a) = 2, H(b) = 1, together 2: (2 + 1 - 2) / √2
    a, b = np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1])
    assert distances.shared_information(a, b) == pytest.approx(1 / np.sqrt(2))
    assert distances.shared_information(b, a) == pytest.approx(1 / np.sqrt(2))
    assert distances.shared_information(np.array([0, 0, 1, 1]), np.array([5, 9, 5, 9])) == 0.0
    assert distances.shared_information(np.zeros(4, int), a) == 0.0
    # pairs (0, 3), (1, 0) and (1, 3) must not fall together
    assert len(set(distances.pair_codes(np.array([0, 1, 1]), np.array([3, 0, 3])).tolist())) == 3


def test_deviations_by_hand():
    a, b = np.array([[2.0, 0.0], [-4.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 5.0]])
    assert squared_deviation(a, b) == pytest.approx((1 + 0 + 9 + 25) / 4)
    assert absolute_deviation(a, b) == pytest.approx((1 + 0 + 3 + 5) / 4)
    assert relative_deviation(a, b) == (pytest.approx((1 / 2 + 3 / 4) / 2), 2)
    assert relative_deviation(a, b, "equal") == (
        pytest.approx((1 / 2 + 3 / 4 + 0) / 3),
        1,
    )  # 0 that stayed 0 counts, as 0
    with pytest.raises(NotApplicable, match="2 original numbers are 0"):
        relative_deviation(a, b, "error")
    assert relative_deviation(a[:, :1], b[:, :1], "error") == (pytest.approx(0.625), 0)
    with pytest.raises(NotApplicable, match="every original number is 0"):
        relative_deviation(a[:, 1], b[:, 1] + 1, "equal")


def tree(thresholds: tuple[float, float, float], shares: tuple[float, float], features=(0, 1, 1)) -> Tree:
    """A root with two inner children; four leaves."""
    down, leaf = [0, 1, 4], np.full(7, -1)
    left, right = leaf.copy(), leaf.copy()
    left[down], right[down] = [1, 2, 5], [4, 3, 6]
    feature, threshold, share = np.full(7, -2), np.zeros(7), np.full(7, 0.1)
    feature[down], threshold[down], share[down] = features, thresholds, [1.0, *shares]
    return Tree(feature, threshold, left, right, share)


def test_trees_share_splits_from_the_root_down():
    a = tree((5.0, 2.0, 8.0), (0.7, 0.3))
    assert tree_overlap(a, a, 0.0) == (pytest.approx(2.0), pytest.approx(2.0))
    # the right split differs: the root and the left one are left, with the smaller of its shares
    b = tree((5.5, 2.0, 9.0), (0.6, 0.4))
    assert tree_overlap(a, b, 0.5) == (pytest.approx(1.6), pytest.approx(2.0))
    assert tree_overlap(a, b, 0.4) == (0.0, pytest.approx(2.0))  # below another root nothing is compared
    assert tree_overlap(a, tree((5.0, 2.0, 8.0), (0.7, 0.3), (0, 2, 1)), 0.0)[0] == pytest.approx(1.3)
    stump = Tree(*(part[[0, 2, 3]] for part in (a.feature, a.threshold)), np.array([1, -1, -1]), np.array([2, -1, -1]),
                 np.array([1.0, 0.7, 0.3]))  # fmt: skip
    assert tree_overlap(stump, a, 0.0) == tree_overlap(a, stump, 0.0) == (1.0, pytest.approx(2.0))


def test_coefficients_and_intervals_against_scipy():
    rng = np.random.default_rng(3)
    x = rng.normal(size=20)
    y = 3 * x - 2 + rng.normal(size=20)
    line = stats.linregress(x, y)
    b, low, high = least_squares(x[:, None], y, 0.9)
    assert b == pytest.approx([line.slope, line.intercept])
    half = stats.t.ppf(0.95, 18) * np.array([line.stderr, line.intercept_stderr])
    assert high - b == pytest.approx(half)
    assert b - low == pytest.approx(half)
    for parallel in (2 * x, np.full(20, 0.1)):
        with pytest.raises(NotApplicable, match="collinear"):
            least_squares(np.column_stack([x, parallel]), y)
    with pytest.raises(NotApplicable, match="2 records are too few for 2 coefficients"):
        least_squares(x[:2, None], y[:2])


@pytest.mark.parametrize(("unit", "shift"), [(1e-12, 0.0), (1e11, 0.0), (1.0, 1e7), (1e4, -3e9)])
def test_slopes_do_not_depend_on_units_or_where_zero_is(unit, shift):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(30, 2))
    y = x @ [1.0, -2.0] + rng.normal(size=30)
    moved = np.column_stack([x[:, 0], x[:, 1] * unit + shift])
    for before, after in zip(least_squares(x, y), least_squares(moved, y), strict=True):
        assert after[:2] * [1.0, unit] == pytest.approx(before[:2], rel=1e-6)


def test_intervals_that_touch_hold_or_are_points():
    low, high = np.array([0.0, 0.0, 0.0, 1.0, 1.0]), np.array([2.0, 2.0, 4.0, 1.0, 1.0])
    low2, high2 = np.array([2.0, 3.0, 1.0, 1.0, 0.0]), np.array([3.0, 4.0, 2.0, 1.0, 2.0])
    # touching; apart; the second inside the first: (1/4 + 1) / 2; the same point; a point inside
    assert interval_overlap(low, high, low2, high2).tolist() == [0.0, 0.0, 0.625, 1.0, 0.0]
