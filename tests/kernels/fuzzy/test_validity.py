"""Validity indices against loops over records and clusters, and on groups that are plain to see."""

from __future__ import annotations

import math

import numpy as np
import pytest

from celosia.fuzzy import c_means, validity


def slow(x, mu, v, m):
    """The four indices, one term after the other."""
    n, middle = len(x), [sum(column) / len(x) for column in zip(*x, strict=True)]

    def far(a, b):
        return sum((s - t) ** 2 for s, t in zip(a, b, strict=True))

    pairs = [(k, i) for k in range(n) for i in range(len(v))]
    least = min(far(v[i], v[j]) for i in range(len(v)) for j in range(len(v)) if i != j)
    return {
        "partition_coefficient": sum(mu[k][i] ** 2 for k, i in pairs) / n,
        "partition_entropy": -sum(mu[k][i] * math.log(mu[k][i]) for k, i in pairs if mu[k][i] > 0) / n,
        "xie_beni": sum(mu[k][i] ** 2 * far(x[k], v[i]) for k, i in pairs) / (n * least),
        "fukuyama_sugeno": sum(mu[k][i] ** m * (far(x[k], v[i]) - far(v[i], middle)) for k, i in pairs),
    }


@pytest.mark.parametrize("m", [1.5, 2.0, 3.0])
def test_indices_against_plain_loops(m):
    rng = np.random.default_rng(8)
    x, v, mu = rng.normal(size=(20, 3)), rng.normal(size=(4, 3)), rng.dirichlet(np.ones(4), 20)
    mu[0] = [1, 0, 0, 0]
    assert validity(x, mu, v, m) == pytest.approx(slow(x.tolist(), mu.tolist(), v.tolist(), m))


def test_three_groups_are_found():
    rng = np.random.default_rng(3)
    x = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 40, axis=0) + rng.normal(0, 0.3, (120, 2))
    by_c = {c: validity(x, *c_means(x, c, seed=1)[:2]) for c in range(2, 7)}
    for name, best in (("partition_coefficient", max), ("partition_entropy", min), ("xie_beni", min)):
        assert best(by_c, key=lambda c, name=name: by_c[c][name]) == 3


def test_one_cluster_and_coinciding_centres_have_no_separation():
    assert validity([1.0, 2.0], [[1.0], [1.0]], [[1.5]])["xie_beni"] == math.inf
    assert validity([1.0, 2.0], [[0.5, 0.5]] * 2, [[1.5], [1.5]])["xie_beni"] == math.inf
