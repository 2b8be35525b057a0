"""The compiled sweeps against numpy, over block borders, and without compilation."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from celosia.kernels.neighbours.fuzzy_clusters import (
    BLOCK,
    c_means_degrees,
    c_means_sweep,
    metric_degrees,
    metric_sweep,
)


@pytest.mark.parametrize("n", [1, 7, BLOCK, BLOCK + 1, 3 * BLOCK - 1])
@pytest.mark.parametrize("m", [1.4, 2.0])
def test_a_sweep_over_block_borders(n, m):
    rng = np.random.default_rng(n)
    x, v = rng.normal(size=(n, 3)), rng.normal(size=(4, 3))
    d = ((x[:, None] - v[None]) ** 2).sum(axis=2)
    u = d ** (-1 / (m - 1))
    u /= u.sum(axis=1, keepdims=True)
    w = u**m
    objective, following = c_means_sweep(x, v, m)
    assert objective == pytest.approx((w * d).sum())
    assert following == pytest.approx(w.T @ x / w.sum(axis=0)[:, None])
    assert c_means_degrees(x, v, m) == pytest.approx(u)
    eyes = np.repeat(np.eye(3)[None], 4, axis=0)
    objective, following, covariance = metric_sweep(x, v, eyes, m)
    assert objective == pytest.approx((w * d).sum())
    assert following == pytest.approx(w.T @ x / w.sum(axis=0)[:, None])
    want = [(w[:, i, None] * (x - following[i])).T @ (x - following[i]) / w[:, i].sum() for i in range(4)]
    assert covariance == pytest.approx(np.array(want), abs=1e-12)
    assert metric_degrees(x, v, eyes, m) == pytest.approx(u)


def test_large_means_do_not_cancel():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 2))
    eyes = np.repeat(np.eye(2)[None], 2, axis=0)
    near = metric_sweep(x, x[:2] + 0.1, eyes, 2.0)[2]
    far = metric_sweep(x + 1e7, x[:2] + 0.1 + 1e7, eyes, 2.0)[2]
    assert far == pytest.approx(near, rel=1e-6)


def test_the_sweeps_without_compilation():
    code = (
        "import numpy as np; from celosia.fuzzy import c_means, gustafson_kessel\n"
        "x = np.array([[0., 0.], [0., 1.], [5., 5.], [5., 6.], [6., 5.]])\n"
        "print(c_means(x, 2, seed=1).centres.round(3).tolist())\n"
        "print(gustafson_kessel(x, 2, m=1.5, seed=1, iterations=20).memberships.sum())\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **setting},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for setting in ({"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_DISABLE_JIT": "0"})
    ]
    assert runs[0] == runs[1]
    assert "5.0" in runs[0]
