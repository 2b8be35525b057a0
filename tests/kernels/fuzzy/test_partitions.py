"""Partitions: the checks with their counter-examples, grids, scaling and global recoding."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.errors import DataError, ParameterError
from celosia.fuzzy import FuzzySet, count, grid, harden, is_normal, is_partition, is_robust, scale, sigma_count
from celosia.kernels.fuzzy.partitions import break_points, check_partition, indicator, recode_labels

THIRD = [1 / 3, 1 / 3, 1 / 3]


def test_a_normal_partition_need_not_be_robust():
    mu = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], THIRD])
    assert is_partition(mu)
    assert is_normal(mu)
    assert not is_robust(mu)


def test_whole_counts_do_not_add_up_where_the_proposition_says_so():
    """Proposition 3.4 holds for σ-counts; whole counts need a robust partition without ties."""
    thirds, halves = np.array([THIRD] * 4), np.full((4, 2), 0.5)
    assert sigma_count(thirds).sum() == pytest.approx(4)
    assert count(thirds).sum() == 0
    assert is_robust(halves)
    assert count(halves).sum() == 2
    strict = np.array([[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]])
    assert count(strict).sum() == 3


def test_sets_that_are_no_partition_are_refused_without_a_cell_value():
    ages = np.array([20, 36, 41, 50])
    mu = np.column_stack([FuzzySet.parse(s)(ages) for s in ("(-inf;30;42)", "(30;36;54)")])
    with pytest.raises(ParameterError) as error:
        check_partition(mu, "age")
    # sums: 1, 0.5 + 1, 1/12 + 13/18, 2/9
    assert str(error.value) == (
        "age: the sets are no partition: the degrees of 3 of 4 records sum to 0.2222 … 1.5 instead of 1. "
        "Let each set fall where its neighbour rises, as '(-inf;30;42)' and '(30;42;54)' do."
    )


def test_the_product_grid_is_a_partition_and_the_minimum_is_not():
    rng = np.random.default_rng(1)
    parts = [rng.dirichlet([1, 1, 1], 50), rng.dirichlet([1, 1], 50), rng.dirichlet([1, 1, 1, 1], 50)]
    cells = grid(parts)
    assert cells.shape == (50, 24)
    assert is_partition(cells)
    assert not is_partition(grid(parts, "min"))
    i, j, k = 2, 0, 3
    assert cells[:, i * 8 + j * 4 + k] == pytest.approx(parts[0][:, i] * parts[1][:, j] * parts[2][:, k])
    assert not is_partition(cells[:, :-1])  # a chosen part of the grid


def test_labels_and_indicators_are_inverse():
    labels = np.array([2, 0, -1, 1])
    assert harden(indicator(labels, 3)).tolist() == labels.tolist()


def test_scaling():
    assert scale([[1, 5], [3, 5]]).tolist() == [[0, 0], [1, 0]]


def test_global_recoding_by_hand():
    assert break_points([1, 10, 100], 2, "equal-width").tolist() == [1, 50.5, 100]
    assert break_points([1, 10, 100], 2, "equal-log-width") == pytest.approx([1, 10, 100])
    assert recode_labels([0, 1, 2, 3, 9], [1, 2, 4]).tolist() == [-1, 0, 0, 1, -1]
    with pytest.raises(DataError, match="needs values above 0"):
        break_points([0, 1], 2, "equal-log-width")
    with pytest.raises(ParameterError, match="classes must be at least 1, got 0"):
        break_points([0, 1], 0)


def test_every_record_falls_in_a_class_of_its_own_recoding():
    x = np.random.default_rng(3).lognormal(size=500)
    for by in ("equal-count", "equal-width", "equal-log-width"):
        labels = recode_labels(x, break_points(x, 4, by))
        assert set(labels) <= {0, 1, 2, 3}
        assert (np.diff(labels[np.argsort(x)]) >= 0).all()
