"""Clustering: a slow second way, optimality, GK = FCM in one dimension, guards and messages."""

from __future__ import annotations

import re

import numpy as np
import pytest

from celosia.errors import DataError, ParameterError
from celosia.fuzzy import c_means, cluster_memberships, gustafson_kessel, is_partition, k_means


def blobs(n: int = 120, p: int = 2, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 1.0], [0.0, 5.0, 2.0]])[:, :p]
    return centres[rng.integers(3, size=n)] + rng.normal(size=(n, p)) * [0.5, 1.0, 0.3][:p]


def slow_c_means(x, v, m, steps):
    for _ in range(steps):
        d = ((x[:, None, :] - v[None]) ** 2).sum(axis=2)
        u = d ** (-1 / (m - 1))
        u /= u.sum(axis=1, keepdims=True)
        v = (u**m).T @ x / (u**m).sum(axis=0)[:, None]
    return v


def slow_metric(x, v, m, steps, rho):
    c, p = v.shape
    metrics = [np.eye(p)] * c
    for _ in range(steps):
        d = np.stack([np.einsum("ka,ab,kb->k", x - v[i], metrics[i], x - v[i]) for i in range(c)], axis=1)
        u = d ** (-1 / (m - 1))
        u /= u.sum(axis=1, keepdims=True)
        w = u**m
        v = w.T @ x / w.sum(axis=0)[:, None]
        for i in range(c):
            f = (w[:, i, None] * (x - v[i])).T @ (x - v[i]) / w[:, i].sum()
            metrics[i] = (rho[i] * np.linalg.det(f)) ** (1 / p) * np.linalg.inv(f)
    return v, np.array(metrics)


@pytest.mark.parametrize("m", [1.5, 2.0, 3.0])
def test_c_means_does_what_the_formulas_say(m):
    x = blobs()
    start = x[:3] + 1e-9  # off the records: the slow way divides by zero on a centre
    v = c_means(x, 3, m, centres=start, iterations=7, tolerance=0).centres
    want = slow_c_means(x, start, m, 7)
    assert v == pytest.approx(want[np.lexsort(want.T[::-1])], rel=1e-9)


@pytest.mark.parametrize("m", [1.5, 2.0])
@pytest.mark.parametrize("p", [2, 3])
def test_gustafson_kessel_does_what_the_formulas_say(m, p):
    x = blobs(p=p)
    rho = np.array([1.0, 2.0, 0.5])
    start = x[:3] + 1e-6
    found = gustafson_kessel(x, 3, m, rho, centres=start, iterations=5, tolerance=0)
    v, metrics = slow_metric(x, start, m, 5, rho)
    order = np.lexsort(v.T[::-1])
    assert found.centres == pytest.approx(v[order], rel=1e-7)
    assert found.report.metrics == pytest.approx(metrics[order], rel=1e-6)
    assert np.linalg.det(found.report.metrics) == pytest.approx(rho[order])


def test_one_column_and_rho_one_make_gustafson_kessel_c_means():
    """Theorem 4.5."""
    x = np.random.default_rng(2).gamma(2.0, size=400)
    a, b = c_means(x, 3, seed=1), gustafson_kessel(x, 3, seed=1)
    assert b.report.objective == pytest.approx(a.report.objective, rel=1e-12)
    assert b.centres == pytest.approx(a.centres, abs=1e-7)
    assert b.memberships == pytest.approx(a.memberships, abs=1e-6)
    assert b.report.metrics.ravel() == pytest.approx([1, 1, 1])
    other = gustafson_kessel(x, 3, rho=[1, 1, 9], seed=1)  # and with another ρ it is not
    assert other.centres != pytest.approx(a.centres, abs=1e-3)


def test_the_result_is_a_fixed_point_and_a_partition():
    x = blobs()
    for found in (c_means(x, 3, seed=0), gustafson_kessel(x, 3, seed=0)):
        u, v, report = found
        assert report.converged
        assert is_partition(u, 1e-12)
        w = u**2
        assert v == pytest.approx(w.T @ x / w.sum(axis=0)[:, None], abs=1e-6)
        assert report.objective == min(report.objectives)
        assert len(report.objectives) == 4
        assert (np.diff(v[:, 0]) >= 0).all()


def test_same_seed_same_clusters_and_the_input_stays():
    x = blobs()
    before = x.copy()
    a, b = c_means(x, 3, seed=9), c_means(x, 3, seed=9)
    assert a.memberships.tobytes() == b.memberships.tobytes()
    assert x.tobytes() == before.tobytes()
    shared = np.random.default_rng(9)
    assert c_means(x, 3, seed=shared).memberships.tobytes() == a.memberships.tobytes()


def test_records_on_centres_and_equal_records():
    u = c_means([[0.0], [0.0], [1.0], [1.0]], 2, seed=0).memberships
    assert u == pytest.approx(np.array([[1, 0], [1, 0], [0, 1], [0, 1]]), abs=1e-9)
    same = c_means(np.ones((5, 2)), 3, seed=0)
    assert same.memberships == pytest.approx(np.full((5, 3), 1 / 3))
    assert c_means([[1.0], [2.0]], 1, seed=0).memberships.tolist() == [[1], [1]]
    assert gustafson_kessel(np.ones((5, 2)), 2, seed=0).memberships == pytest.approx(np.full((5, 2), 0.5))


def test_a_cluster_on_a_line_is_lifted_and_reported():
    t = np.linspace(0, 1, 40)
    x = np.concatenate([np.column_stack([t, t]), np.column_stack([t + 3, 1 - t])])
    u, _, report = gustafson_kessel(x, 2, seed=4)
    assert report.lifted > 0
    assert np.isfinite(u).all()
    assert is_partition(u)


def test_memberships_of_known_clusters():
    x = blobs()
    a, b = c_means(x, 3, m=1.8, seed=0), gustafson_kessel(x, 3, seed=0)
    assert cluster_memberships(x, a.centres, 1.8) == pytest.approx(a.memberships, abs=1e-12)
    assert cluster_memberships(x, b.centres, 2.0, b.report.metrics) == pytest.approx(b.memberships, abs=1e-9)


def test_k_means_orders_its_clusters():
    x = np.array([5.0, 5.1, 0.0, 0.1, 9.0])
    assert k_means(x, 3, seed=0).tolist() == [1, 1, 0, 0, 2]


def message(call, error=ParameterError) -> str:
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


def test_messages():
    x = np.zeros((5, 2))
    assert message(lambda: c_means(x, 2, m=1.0)) == (
        "c-means: m must be greater than 1, got 1.0. Usual is 2; near 1 the clusters become crisp."
    )
    assert message(lambda: c_means(x, 6)) == "c-means: c must be at most the number of records, 5, got 6."
    assert message(lambda: gustafson_kessel(x, 0)) == "gustafson-kessel: c must be at least 1, got 0."
    assert message(lambda: c_means(x, 2, starts=0)) == "c-means: starts must be at least 1, got 0."
    assert message(lambda: gustafson_kessel(x, 2, rho=[1, 0])) == (
        "gustafson-kessel: rho must be 2 numbers above 0, got [1, 0]."
    )
    assert message(lambda: c_means([[1.0], [np.nan]], 2), DataError) == (
        "c-means: 1 of 2 records have a missing or infinite value. Remove or impute them first."
    )
    assert re.search("centres must be 2 × 2, got 2 × 1", message(lambda: c_means(x, 2, centres=[[0], [1]])))
