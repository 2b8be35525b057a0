"""Grouping of packed keys against a dictionary."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from celosia.kernels.search.lattice import (
    large_classes,
    merge_values,
    pack,
    roll_up,
    roll_up_word,
    suppressed_cost,
    suppressed_counts,
    unpack,
    unpack_columns,
)

WORD = np.array([0, 0, 1], dtype=np.int32)
SHIFT = np.array([0, 3, 0], dtype=np.uint64)
MASK = np.array([7, 7, 7], dtype=np.uint64)


def example(n=40, seed=1):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 6, (n, 3)).astype(np.int32), rng.integers(1, 5, n), rng.integers(0, 9, n)


def test_packing_is_undone():
    codes, _, _ = example()
    keys = pack(codes, WORD, SHIFT, 2)
    assert keys.shape == (40, 2)
    assert (unpack(keys, WORD, SHIFT, MASK) == codes).all()
    assert (unpack_columns(keys, WORD, SHIFT, MASK) == codes.T).all()


@pytest.mark.parametrize("levels", [(-1, -1, -1), (0, -1, 6), (0, 0, 0)])
def test_roll_up_is_a_dictionary(levels):
    codes, count, wish = example()
    steps = np.array([0, 0, 1, 1, 2, 2, 0, 0, 0, 1, 1, 1], dtype=np.int32)
    offset = np.array(levels, dtype=np.int64)
    sums = np.stack([count, count**2], axis=1)
    n = len(codes)
    slots = np.empty(128, dtype=np.int32)
    keys, out, peak = np.empty((n, 2), np.uint64), np.empty((n, 2), np.int64), np.empty(n, np.int64)
    group = np.empty(n, dtype=np.int32)
    packed = pack(codes, WORD, SHIFT, 2)
    found = roll_up(packed, sums, wish, WORD, SHIFT, MASK, offset, steps, slots, keys, out, peak, group)
    expected: dict[tuple[int, ...], list[int]] = {}
    for row, c, w in zip(codes.tolist(), count.tolist(), wish.tolist(), strict=True):
        key = tuple(v if o < 0 else int(steps[o + v]) for v, o in zip(row, levels, strict=True))
        one = expected.setdefault(key, [0, 0, 0])
        one[0], one[1], one[2] = one[0] + c, one[1] + c * c, max(one[2], w)
    got = {
        tuple(key): [*s, p]
        for key, s, p in zip(
            unpack(keys[:found], WORD, SHIFT, MASK).tolist(), out[:found].tolist(), peak[:found].tolist(), strict=True
        )
    }
    assert got == expected
    assert (unpack(keys[group], WORD, SHIFT, MASK)[:, 1] == (codes if levels[1] < 0 else steps[codes])[:, 1]).all()


@pytest.mark.parametrize("high", [0, 40, 57])
@pytest.mark.parametrize("levels", [(-1, -1, -1), (0, -1, 6), (0, 0, 0), (-1, 12, -1)])
def test_one_word_is_grouped_like_several(levels, high):
    rng = np.random.default_rng(3)
    n = 500
    codes = rng.integers(0, 6, (n, 3)).astype(np.int32)
    word, shift = np.zeros(3, dtype=np.int32), np.array([0, 3, high or 6], dtype=np.uint64)
    steps = np.array([0, 0, 1, 1, 2, 2, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0], dtype=np.int32)
    offset = np.array(levels, dtype=np.int64)
    keys, sums, none = pack(codes, word, shift, 1), rng.integers(1, 9, (n, 1)), np.zeros(0, dtype=np.int64)
    made = [(np.empty((n, 1), np.uint64), np.empty((n, 1), np.int64), np.empty(n, np.int32)) for _ in range(2)]
    slots = np.empty(1024, dtype=np.int32)
    first = roll_up(keys, sums, none, word, shift, MASK, offset, steps, slots, made[0][0], made[0][1], none, made[0][2])
    room = (np.empty(1024, dtype=np.uint64), slots, np.empty(n, dtype=np.uint64))
    second = roll_up_word(keys, sums, shift, MASK, offset, steps, *room, *made[1])
    assert first == second
    assert (made[0][0][:first] == made[1][0][:first]).all()
    assert (made[0][1][:first] == made[1][1][:first]).all()
    assert (made[0][2] == made[1][2]).all()


def test_classes_that_are_large_enough():
    large, lost = np.zeros(3, dtype=bool), np.zeros(3, dtype=np.int64)
    assert large_classes(np.array([[5], [2], [3]]), 3, large, lost) == (2, 2)
    assert large.tolist() == [True, False, True]
    assert lost.tolist() == [0, 2, 0]


def test_merged_values_ascend_and_add_up():
    start = np.array([0, 2, 3, 5])
    value = np.array([3, 90, 90, 1, 3], dtype=np.int32)
    count = np.array([2, 1, 4, 1, 1])
    group = np.array([0, 1, 0], dtype=np.int32)
    for width in (100, 91):
        begin, values, counts = merge_values(start, value, count, group, 2, width)
        assert begin.tolist() == [0, 3, 4]
        assert values.tolist() == [1, 3, 90, 90]
        assert counts.tolist() == [1, 3, 1, 4]


def test_what_suppressed_records_add():
    # two classes of 3 and 5 records are lost: codes 1 and 2 in the one column, of which 1 costs 0.5 and 2 costs 0.25
    keys = np.array([[1], [2], [3]], dtype=np.uint64)
    count = np.zeros((1, 4), dtype=np.int64)
    one = np.zeros(1, dtype=np.int32)
    place, mask = np.zeros(1, dtype=np.uint64), np.array([7], dtype=np.uint64)
    suppressed_counts(keys, np.array([3, 5, 0]), one, place, mask, count)
    assert count.tolist() == [[0, 3, 5, 0]]
    out = np.zeros((1, 1))
    extra = np.array([9.0, 0.5, 0.25, 9.0])
    suppressed_cost(count, one, extra, np.zeros((1, 1, 1), dtype=np.int64), np.array([2.0]), out)
    bits = 3 * np.log2(8 / 3) + 5 * np.log2(8 / 5)
    assert out[0, 0] == pytest.approx(3 * 0.5 + 5 * 0.25 + 2 * bits)


def test_without_compilation():
    code = "import pytest, sys; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-k', 'not compilation', sys.argv[1]]))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code, __file__], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()[-2000:]
