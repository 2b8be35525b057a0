"""Distance-based linkage: the tables of the source, a slow second way, ties, assignment."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from celosia.errors import DataError
from celosia.risk.bases import nearest as linkage
from celosia.risk.bases.nearest import assign_one_to_one, nearest, nearest_mixed, scale_columns

X = np.array([[10, 33.4, 1000], [0, 28.9, 1010], [30, 10.3, 922], [20, 80, 20200], [30, 59, 15320]])
X1 = np.array([[0, 30.2, 1000], [0, 31.2, 1000], [20, 12, 1000], [30, 82.1, 20000], [20, 55.2, 15000]])
X2 = np.array([[0, 20, 900]] * 3 + [[20, 70, 20000]] * 2, dtype=float)
ALL = np.arange(5)

AGE_INCOME = np.array(
    [
        [42, 20000], [28, 21000], [51, 19003.2], [23, 40000.55], [12, 10000],
        [68, 9500.33], [30, 40400], [46, 30300], [55, 10100], [62, 80700.2],
    ]
)  # fmt: skip
UNCORRELATED = np.array(
    [
        [56, 6995.74], [41, 25430.243], [35, 3755.508], [13, 39011.35], [5, 1161.667],
        [57, 23244.377], [24, 43739.953], [40, 9228.542], [49, 10513.215], [75, 77855.08],
    ]
)  # fmt: skip
CORRELATED = np.array(
    [
        [40, 21713.166], [27, 20104.999], [52, 23539.095], [21, 37902.947], [10, 9986.307],
        [68, 8741.154], [31, 41709.833], [45, 31064.646], [55, 11442.116], [60, 78903.84],
    ]
)  # fmt: skip


def slow(source, target, truth, p=2.0):
    """All distances, ties by the tolerance."""
    d = cdist(source, target, "minkowski", p=p)
    low = d.min(axis=1, keepdims=True)
    same = d <= low * (1 + 1e-9) + 1e-13
    hit = np.array([t >= 0 and same[i, t] for i, t in enumerate(truth)])
    credit = hit / same.sum(axis=1)
    two = []
    for i, t in enumerate(truth):
        order = np.sort(d[i])
        if t < 0 or (len(order) == 1 and not hit[i]):
            two.append(0.0)
        elif same[i].sum() > 1 or hit[i]:
            two.append(min(1.0, 2 / same[i].sum()) if hit[i] else 0.0)
        else:
            at_second = np.isclose(d[i], order[1], rtol=1e-9, atol=1e-13) & ~same[i]
            two.append(at_second[t] / at_second.sum())
    return same.argmax(axis=1), same.sum(axis=1), credit, np.array(two)


def test_tables_9_and_10():
    links = nearest(X, X1, ALL)
    assert (links.first + 1).tolist() == [2, 1, 3, 4, 5]
    assert links.correct.mean() == pytest.approx(0.6)
    assert np.linalg.norm(X[0] - X1[0]) == pytest.approx(10.499523798725349)
    assert links.distance[0] == pytest.approx(10.2391, abs=5e-5)
    assert links.second.mean() == 1.0  # the two wrong links have the right record second
    links = nearest(X, X2, ALL)
    assert (links.first + 1).tolist() == [1, 1, 1, 4, 4]
    assert (links.first == ALL).mean() == pytest.approx(0.4)
    assert links.correct.mean() == pytest.approx(0.4)
    assert links.tied.tolist() == [3, 3, 3, 2, 2]


@pytest.mark.parametrize(
    ("columns", "first", "rate", "expected"),
    [
        ([0], [1, 1, 4, 3, 4], 0.2, 0.15),
        ([1], None, 0.6, 0.6),
        ([2], None, 0.6, 0.6),
        ([0, 1], None, 0.6, 0.6),
        ([0, 2], [1, 1, 3, 4, 5], 0.8, 0.766667),
        ([1, 2], None, 0.6, 0.6),
    ],
)
def test_partial_knowledge(columns, first, rate, expected):
    links = nearest(X[:, columns], X1[:, columns], ALL)
    if first:
        assert (links.first + 1).tolist() == first
    assert (links.first == ALL).mean() == pytest.approx(rate)
    assert links.correct.mean() == pytest.approx(expected, abs=1e-6)


def test_partial_knowledge_of_aggregated_data():
    links = nearest(X[:, [0]], X2[:, [0]], ALL)
    assert (links.first == ALL).mean() == pytest.approx(0.4)
    assert links.correct.mean() == pytest.approx(0.306667, abs=1e-6)


def test_one_to_one():
    found, cost = assign_one_to_one(X, X1)
    assert (found + 1).tolist() == [2, 1, 3, 4, 5]
    assert cost == pytest.approx(619.4197, abs=5e-5)


def test_scaling_changes_the_verdict():
    ten = np.arange(10)
    assert nearest(AGE_INCOME, UNCORRELATED, ten).correct.sum() == 3
    assert nearest(AGE_INCOME, CORRELATED, ten).correct.sum() == 4
    links = nearest(*scale_columns(AGE_INCOME, UNCORRELATED, "sd"), ten)
    assert (links.first + 1).tolist() == [2, 2, 6, 7, 5, 1, 7, 2, 1, 10]
    assert links.correct.sum() == 4
    assert nearest(*scale_columns(AGE_INCOME, CORRELATED, "sd"), ten).correct.sum() == 10


def test_mahalanobis_equals_its_formula():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3))
    y = x + 0.4 * rng.normal(size=x.shape)
    a, b = scale_columns(x, y, "mahalanobis")
    inverse = np.linalg.inv(np.cov(x, rowvar=False, ddof=0))
    d = x[0] - y[1]
    assert np.linalg.norm(a[0] - b[1]) == pytest.approx(np.sqrt(d @ inverse @ d))


def test_assignments_of_sdcmicro(shared):
    golden = json.loads(shared("golden/sdcmicro/recordLinkage_Tarragona_noise20.json").read_text())
    x = pl.read_csv(shared("data/tarragona.csv"))[golden["vars"]].to_numpy().astype(float)
    y = pl.read_csv(shared(f"golden/sdcmicro/{golden['protected']}"))[golden["vars"]].to_numpy()
    for name, scale, p, columns in (("euclidean", "none", 2, 1), ("manhattan", "none", 1, 1), ("gower", "range", 1, 3)):
        found, cost = assign_one_to_one(*scale_columns(x, y, scale), p)
        # the optimum is the same; several assignments reach it, so the right links may differ by one or two
        assert cost / columns == pytest.approx(golden[name]["total_distance"], rel=1e-9)
        assert (found == np.arange(834)).sum() == pytest.approx(golden[name]["correct_matches"], abs=2)


def test_assignment_of_large_files_is_nearly_the_optimum(monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 2))
    y = x + 0.3 * rng.normal(size=x.shape)
    exact = assign_one_to_one(x, y)
    monkeypatch.setattr(linkage, "LARGEST_ASSIGNMENT", 100)
    near = assign_one_to_one(x, y)
    assert sorted(near[0]) == list(range(300))
    assert exact[1] <= near[1] <= 1.01 * exact[1]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3), st.integers(1, 14), st.integers(1, 14), st.integers(0, 10_000), st.sampled_from([1.0, 2.0]))
def test_equals_all_distances(columns, n, m, seed, p):
    rng = np.random.default_rng(seed)
    # small whole numbers: many exact ties
    x, y = rng.integers(0, 4, (n, columns)).astype(float), rng.integers(0, 4, (m, columns)).astype(float)
    truth = rng.integers(-1, m, n)
    links = nearest(x, y, truth, p)
    first, tied, credit, two = slow(x, y, truth, p)
    assert links.first.tolist() == first.tolist()
    assert links.tied.tolist() == tied.tolist()
    np.testing.assert_allclose(links.correct, credit)
    np.testing.assert_allclose(links.second, two)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10_000))
def test_mixed_equals_all_distances(n, m, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 5, (n, 2)) / 4, rng.integers(0, 5, (m, 2)) / 4
    a, b = rng.integers(-1, 3, (n, 2)).astype(np.int32), rng.integers(-1, 3, (m, 2)).astype(np.int32)
    weights = np.array([1.0, 2.0, 1.0, 0.5])
    truth = rng.integers(0, m, n)
    links = nearest_mixed((x, y), (a, b), truth, weights)
    d = np.abs(x[:, None] - y[None]) @ weights[:2] + (a[:, None] != b[None]) @ weights[2:]
    same = d <= d.min(axis=1, keepdims=True) + 1e-9
    assert links.tied.tolist() == same.sum(axis=1).tolist()
    assert links.first.tolist() == same.argmax(axis=1).tolist()
    np.testing.assert_allclose(links.distance, d.min(axis=1))
    np.testing.assert_allclose(links.correct, same[np.arange(n), truth] / same.sum(axis=1))


def test_mixed_missing_values():
    x, y = np.array([[np.nan], [0.5]]), np.array([[0.5], [np.nan]])
    empty = np.empty((2, 0), np.int32)
    links = nearest_mixed((x, y), (empty, empty), np.array([1, 0]), np.ones(1))
    assert links.correct.tolist() == [1.0, 1.0]
    assert links.distance.tolist() == [0.0, 0.0]


def test_extremes():
    with pytest.raises(DataError, match="no records"):
        nearest(X, X[:0], ALL)
    itself = nearest(X, X, ALL)
    assert itself.correct.mean() == 1.0
    assert np.isinf(itself.margin).all()
    one = nearest(X, X1[:1], np.array([0, -1, -1, -1, -1]))
    assert one.correct.tolist() == [1, 0, 0, 0, 0]
    constant = scale_columns(np.ones((3, 1)), np.ones((3, 1)), "sd")
    assert nearest(*constant, np.arange(3)).correct.tolist() == pytest.approx([1 / 3] * 3)
    holes = np.array([[1.0], [np.nan], [3.0]])
    assert scale_columns(holes, holes, "none")[0].tolist() == [[1.0], [2.0], [3.0]]


def test_many_ties_at_one_distance():
    # 40 points on a circle around the source: all are nearest
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    links = nearest(np.zeros((1, 2)), circle, np.array([7]))
    assert links.tied.tolist() == [40]
    assert links.correct.tolist() == [1 / 40]
