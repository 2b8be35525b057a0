"""Minimal sample uniques: by hand, all subsets one by one, properties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.errors import DataError, ParameterError
from celosia.kernels.suda import minimal_uniques


def found(rows, max_size=None, workers=1):
    codes, counts = np.unique(np.asarray(rows, dtype=np.int32), axis=0, return_counts=True)
    pattern, mask = minimal_uniques(np.ascontiguousarray(codes), counts, max_size, workers)
    return codes, counts, list(zip(pattern.tolist(), mask.tolist(), strict=True))


def slow(codes, counts, max_size=None):
    """Every subset of every record, smallest first."""
    result = []
    n, m = codes.shape
    for i in range(n):
        mine = []
        for size in range(1, (max_size or m) + 1):
            for subset in itertools.combinations(range(m), size):
                mask = sum(1 << j for j in subset)
                if any(codes[i, j] < 0 for j in subset) or any(known & ~mask == 0 for known in mine):
                    continue
                if sum(counts[q] for q in range(n) if all(codes[q, j] == codes[i, j] for j in subset)) == 1:
                    mine.append(mask)
        result += [(i, mask) for mask in mine]
    return sorted(result)


def test_by_hand():
    # record 3 is alone in column 0; records 0, 1, 2 only with both columns, and 1 twice is no unique
    _, _, pairs = found([[0, 0], [0, 1], [0, 1], [1, 0], [2, 2]])
    # patterns sorted: (0,0) (0,1)x2 (1,0) (2,2)
    assert pairs == [(0, 0b11), (2, 0b01), (3, 0b01), (3, 0b10)]


def test_a_missing_value_matches_nothing_and_belongs_to_no_set():
    codes, _, pairs = found([[0, -1], [0, 1], [1, 1]])
    assert codes.tolist() == [[0, -1], [0, 1], [1, 1]]
    # (0,·): 0 occurs twice, so none; (0,1): only with both; (1,1): by column 0
    assert pairs == [(1, 0b11), (2, 0b01)]


@pytest.mark.parametrize("rows", [np.empty((0, 3)), np.empty((1, 0)), [[-1, -1]]])
def test_extremes(rows):
    assert found(rows)[2] == []


def test_one_record_is_unique_in_every_column():
    assert found([[4, 2, 7]])[2] == [(0, 1), (0, 2), (0, 4)]


def test_too_many_columns():
    with pytest.raises(ParameterError, match="at most 62 columns, got 63"):
        minimal_uniques(np.zeros((1, 63), np.int32), np.ones(1, np.int64))


def test_too_many_sets_are_refused_with_advice():
    rows = np.random.default_rng(1).integers(0, 2, (300, 22))
    with pytest.raises(DataError, match=r"more than 1024 minimal sample uniques over 22 columns.* Give max_size"):
        found(rows)
    assert found(rows, max_size=4)[2] is not None


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda m: st.lists(st.lists(st.integers(-1, 2), min_size=m, max_size=m), min_size=1, max_size=20)
    ),
    st.sampled_from([None, 1, 2, 3]),
)
def test_equals_all_subsets(rows, max_size):
    codes, counts, pairs = found(rows, max_size)
    assert pairs == slow(codes, counts, min(max_size or codes.shape[1], codes.shape[1]))


def test_equals_all_subsets_on_tables_with_many_sets():
    # dense small tables: most records have several sets that share their highest column
    rng = np.random.default_rng(11)
    for _ in range(25):
        codes, counts, pairs = found(rng.integers(0, 3, (18, 5)))
        assert pairs == slow(codes, counts)
        assert any(np.bincount([p for p, _ in pairs]) > 2)


def test_threads_find_the_same():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, [4, 5, 6, 7, 60], (40_000, 5))
    one, many = found(rows, workers=1)[2], found(rows, workers=4)[2]
    assert one == many
    assert len(one) > 1000
