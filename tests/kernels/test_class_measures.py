"""Sums over classes, against numpy and by hand."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from celosia.kernels.grouping.class_measures import cell_products, minorities, split_by_size, spread_bits


def test_sizes_by_hand():
    assert split_by_size(np.array([5, 1, 4, 3]), 4) == (2, 4)
    assert split_by_size(np.zeros(0, dtype=np.int64), 4) == (0, 0)


def test_minorities_by_hand():
    # counts 3, 1 | 2, 2, 1 | 4: minorities 1, 3, 0; the second class is not kept, the third one certain
    found = minorities(
        np.array([0, 2, 5, 6]),
        np.array([3, 1, 2, 2, 1, 4]),
        np.array([4, 5, 4]),
        np.array([True, False, True]),
        np.array([False, False, True]),
    )
    assert found == (1, 4, 5, 4)
    none = np.zeros(0, dtype=np.int64)
    assert minorities(np.zeros(1, dtype=np.int64), none, none, none > 0, none > 0) == (0, 0, 0, 0)


def example(seed, n=200, m=3):
    rng = np.random.default_rng(seed)
    widths = [4, 2, 7][:m]
    codes = np.stack([rng.integers(0, w, n) for w in widths]).astype(np.int32)
    start = np.array([2, 10, 20])[:m]
    return rng, codes, start, rng.random(40)


def test_products_of_cells():
    _, codes, start, values = example(1)
    expected = np.prod([values[start[j] + codes[j]] for j in range(3)], axis=0)
    np.testing.assert_allclose(cell_products(codes, start, values), expected, rtol=1e-15)


def test_bits_by_hand():
    # classes of 4 and 12 records of 16: 2 and log2(16/12) bits; cells hold 1 and 3 bits, the whole domain 4
    codes, start = np.array([[0, 1]], dtype=np.int32), np.array([0])
    kept = np.array([False, True])
    found = spread_bits(
        (codes, start, np.array([1.0, 3.0])), np.array([4, 12]), kept, ~kept, np.log2([1.0, 1, 2, 3, 4]), 16, 4.0
    )
    rare = math.log2(16 / 12)
    inside, whole, room, lost = found
    assert inside == pytest.approx(12 * (3 + rare))
    assert whole == pytest.approx(4 * (1 + 2) + 12 * (3 + rare))
    assert room == pytest.approx(4 * (4 - 1) + 12 * min(rare, 4 - 3))
    assert lost == 4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("looked_up", [1, 30, 5000])
def test_bits_in_any_order(seed, looked_up):
    rng, codes, start, values = example(seed)
    size = rng.geometric(0.01, codes.shape[1])
    kept, certain = size >= 50, size < 20
    logs = np.log2(np.maximum(1, np.arange(looked_up)))
    n = int(size.sum())
    found = spread_bits((codes, start, values), size, kept, certain, logs, n, 3.0)
    held = sum(values[start[j] + codes[j]] for j in range(3))
    rare = np.log2(n / size)
    spent = size * (held + rare)
    assert found[0] == pytest.approx(math.fsum(spent[kept]), rel=1e-14)
    assert found[1] == pytest.approx(math.fsum(spent), rel=1e-14)
    assert found[2] == pytest.approx((size * np.where(certain, 3 - held, np.minimum(rare, 3 - held))).sum())
    assert found[3] == size[~kept].sum()
    order = rng.permutation(len(size))
    moved = np.ascontiguousarray(codes[:, order])
    again = spread_bits((moved, start, values), size[order], kept[order], certain[order], logs, n, 3.0)
    assert again[:2] == found[:2]  # the very same numbers


@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_without_compilation(setting):
    code = "import pytest, sys; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-k', 'not compilation', sys.argv[1]]))"
    environment = {**os.environ, setting: "1"}
    done = subprocess.run([sys.executable, "-c", code, __file__], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()[-2000:]
