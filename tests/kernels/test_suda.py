"""Minimal sample uniques: by hand, all subsets one by one, properties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.errors import ParameterError
from celosia.kernels.grouping import suda
from celosia.kernels.grouping.suda import unique_scores
from celosia.risk.suda import set_points


def search(rows, max_size=None, **limits):
    codes, counts = np.unique(np.asarray(rows, dtype=np.int32), axis=0, return_counts=True)
    points = set_points(codes.shape[1])
    return codes, counts, unique_scores(np.ascontiguousarray(codes), counts, points, max_size, keep=True, **limits)


def found(rows, max_size=None):
    codes, counts, uniques = search(rows, max_size)
    return codes, counts, [tuple(pair) for pair in uniques.pairs.tolist()]


def by_agreement(codes, counts, records=None):
    """All 2^m sets at once: a record is alone on those inside which it agrees with nobody."""
    result = []
    n, m = codes.shape
    every = np.arange(1 << m)
    for i in np.flatnonzero(counts == 1)[:records]:
        shared = np.zeros(1 << m, bool)
        shared[0] = True
        agree = (codes == codes[i]) & (codes[i] >= 0)
        shared[agree[np.arange(n) != i] @ (1 << np.arange(m))] = True
        for j in range(m):  # who agrees on a set agrees on every part of it
            halves = shared.reshape(-1, 2, 1 << j)
            halves[:, 0] |= halves[:, 1]
        unique = ~shared & (every & sum(1 << j for j in range(m) if codes[i, j] < 0) == 0)
        minimal = unique.copy()
        for j in range(m):
            minimal.reshape(-1, 2, 1 << j)[:, 1] &= ~unique.reshape(-1, 2, 1 << j)[:, 0]
        result += [(int(i), int(s)) for s in np.flatnonzero(minimal)]
    return result


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
        unique_scores(np.zeros((1, 63), np.int32), np.ones(1, np.int64), set_points(63))


def test_records_with_more_than_a_thousand_sets():
    codes, counts, pairs = found(np.random.default_rng(1).integers(0, 2, (150, 20)))
    assert (counts == 1).all()
    expected = by_agreement(codes, counts, records=6)
    assert [pair for pair in pairs if pair[0] < 6] == expected
    assert np.bincount([i for i, _ in expected]).min() > 2000


def test_many_columns():
    codes, counts, pairs = found(np.random.default_rng(4).integers(0, 4, (12, 62)), 2)
    assert pairs == slow(codes, counts, 2)
    assert max(s for _, s in pairs) > 1 << 60


def test_too_much_work_ends_with_the_sizes_that_were_completed():
    rows = np.random.default_rng(1).integers(0, 2, (300, 22))
    _, _, some = search(rows, most_steps=20_000_000)
    assert 5 <= some.size < 22
    _, _, bounded = search(rows, some.size)
    assert some.pairs.tolist() == bounded.pairs.tolist()
    assert some.score.tolist() == bounded.score.tolist()
    with pytest.raises(ParameterError, match=r"up to 20 of 22 columns are too many .* 300 patterns. Give a smaller"):
        search(rows, 20, most_steps=20_000_000)


def test_little_memory_gives_the_same_in_several_turns(monkeypatch):
    rows = np.random.default_rng(2).integers(0, 3, (900, 10))
    _, _, whole = search(rows)
    batches = []
    monkeypatch.setattr(
        suda, "_combine", lambda found, *rest, real=suda._combine: batches.append(found) or real(found, *rest)
    )
    monkeypatch.setattr(suda._in_batches, "__defaults__", (64 * 64 * 8,))
    _, _, halves = search(rows)
    assert len(batches[0]) > 1
    assert halves.pairs.tolist() == whole.pairs.tolist()
    np.testing.assert_allclose(halves.score, whole.score, rtol=1e-12)


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
    assert pairs == [(i, s) for i, s in by_agreement(codes, counts) if s.bit_count() <= (max_size or codes.shape[1])]


def test_equals_all_subsets_on_tables_with_many_sets():
    # dense small tables: most records have several sets that share their highest column
    rng = np.random.default_rng(11)
    for _ in range(25):
        codes, counts, pairs = found(rng.integers(0, 3, (18, 5)))
        assert pairs == slow(codes, counts) == by_agreement(codes, counts)
        assert any(np.bincount([p for p, _ in pairs]) > 2)


def test_sums_are_those_of_the_sets():
    rng = np.random.default_rng(3)
    codes, counts, uniques = search(rng.integers(0, [2, 3, 3, 4, 5, 9], (400, 6)))
    n, m = codes.shape
    pattern, mask = uniques.pairs.T
    size = np.bitwise_count(mask)
    points = np.array(set_points(m))[size]
    np.testing.assert_allclose(uniques.score, np.bincount(pattern, weights=points, minlength=n), rtol=1e-12)
    for j in range(m):
        inside = points * ((mask >> j) & 1)
        np.testing.assert_allclose(uniques.parts[:, j], np.bincount(pattern, weights=inside, minlength=n), rtol=1e-12)
    assert uniques.sets.tolist() == np.bincount(pattern, minlength=n).tolist()
    smallest = [min(size[pattern == i], default=0) for i in range(n)]
    assert uniques.smallest.tolist() == smallest
    assert uniques.sets.sum() > 300
    bare = unique_scores(codes, counts, set_points(m))
    assert len(bare.pairs) == 0
    assert bare.score.tolist() == uniques.score.tolist()


def test_all_unique_files_take_few_looks():
    # every record alone on one column: nothing is left to refine
    rows = np.random.default_rng(5).permuted(np.tile(np.arange(3000), (20, 1)), axis=1).T
    _, _, uniques = search(rows, most_steps=200_000)
    assert uniques.size == 20
    assert uniques.sets.tolist() == [20] * 3000
