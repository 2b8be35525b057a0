"""EM over agreement patterns against the same steps in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.kernels.grouping.mixture import two_kinds


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_steps_are_those_of_the_definition(k):
    rng = np.random.default_rng(k)
    bits = ((np.arange(1 << k)[:, None] >> np.arange(k)) & 1).astype(float)
    counts = rng.integers(1, 500, 1 << k).astype(float)
    m, u, p = np.full(k, 0.9), counts @ bits / counts.sum(), 0.02
    start = (m, u, p)
    for _ in range(7):
        like_m = p * np.prod(np.where(bits == 1, m, 1 - m), axis=1)
        like_u = (1 - p) * np.prod(np.where(bits == 1, u, 1 - u), axis=1)
        g = counts * like_m / (like_m + like_u)
        m, u, p = g @ bits / g.sum(), (counts - g) @ bits / (counts - g).sum(), g.sum() / counts.sum()
    found = two_kinds(bits, counts, *start, 7, 0.0)
    np.testing.assert_allclose(found[0], m, rtol=1e-9)
    np.testing.assert_allclose(found[1], u, rtol=1e-9)
    assert found[2] == pytest.approx(p, rel=1e-9)
    assert found[3] == 7
    assert start[0].tolist() == [0.9] * k, "the input is not changed"


def test_it_stops_when_nothing_moves():
    bits = np.array([[0.0], [1.0]])
    m, u, p, steps = two_kinds(bits, np.array([50.0, 50.0]), np.array([0.5]), np.array([0.5]), 0.3, 1000, 1e-9)
    assert (m[0], u[0], p, steps) == (0.5, 0.5, pytest.approx(0.3), 1)


def test_certain_columns_stay_inside_the_edges():
    bits = np.array([[0.0], [1.0]])
    m, u, p, _ = two_kinds(bits, np.array([1e6, 1.0]), np.array([0.9]), np.array([1e-6]), 1e-6, 2000, 1e-12)
    for value in (m[0], u[0], p):
        assert 0 < value < 1
