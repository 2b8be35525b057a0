"""Distances of classes from the whole table, against the definitions written out and against a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from celosia.kernels.statistics.closeness import equal_distance, stepped_distance, tree_distance
from celosia.models.l_diversity import entropy, recursive

matrices = hnp.arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 9)).filter(
    lambda m: (m.sum(axis=1) > 0).all()
)


def rows(matrix):
    owner, value = np.nonzero(matrix)
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(matrix)))])
    return start, value.astype(np.int32), matrix[owner, value]


def emd(p, q, ground):
    """Earth mover's distance as the linear program that defines it."""
    m = len(p)
    equal = np.vstack([np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))])
    solved = linprog(ground.ravel(), A_eq=equal, b_eq=np.concatenate([p, q]), bounds=(0, None))
    return solved.fun


def distributions(matrix):
    return matrix / matrix.sum(axis=1, keepdims=True), matrix.sum(axis=0) / matrix.sum()


@given(matrices)
def test_equal_is_the_variational_distance(matrix):
    p, q = distributions(matrix)
    assert equal_distance(*rows(matrix), q) == pytest.approx(0.5 * np.abs(p - q).sum(axis=1), abs=1e-12)


@given(matrices, st.data())
def test_stepped_is_the_sum_over_the_line(matrix, data):
    p, q = distributions(matrix)
    m = len(q)
    step = np.array(data.draw(st.lists(st.floats(0, 3), min_size=max(m - 1, 0), max_size=max(m - 1, 0))))
    expected = (np.abs(np.cumsum(p - q, axis=1))[:, :-1] * step).sum(axis=1)
    assert stepped_distance(*rows(matrix), q, step) == pytest.approx(expected, abs=1e-12)


def test_stepped_and_tree_are_earth_movers_distances():
    rng = np.random.default_rng(5)
    for _ in range(10):
        matrix = rng.integers(0, 5, (3, 6))
        matrix[:, 0] += 1
        p, q = distributions(matrix)
        line = np.cumsum(np.concatenate([[0], rng.random(5)]))
        found = stepped_distance(*rows(matrix), q, np.diff(line))
        for c in range(3):
            assert found[c] == pytest.approx(emd(p[c], q, np.abs(line[:, None] - line)), abs=1e-9)
        tree = np.array([[0, 1, 2, 3, 4, 5], rng.integers(0, 3, 6)])
        tree = np.vstack([tree, rng.integers(0, 2, 3)[tree[1]], np.zeros(6, int)]).astype(np.int32)
        heights = np.array([[np.argmax(tree[:, i] == tree[:, j]) for j in range(6)] for i in range(6)]) / 3
        found = tree_distance(*rows(matrix), q, tree)
        for c in range(3):
            assert found[c] == pytest.approx(emd(p[c], q, heights), abs=1e-9)


def test_one_value_or_no_class():
    start, value, count = rows(np.array([[3], [2]]))
    assert stepped_distance(start, value, count, np.ones(1), np.zeros(0)).tolist() == [0, 0]
    none = rows(np.zeros((0, 2), np.int64))
    assert len(equal_distance(*none, np.array([0.5, 0.5]))) == 0
    assert len(recursive(none[0], none[2], 2.0)) == 0


@given(matrices)
def test_entropy_and_recursive_by_definition(matrix):
    start, _, count = rows(matrix)
    for c in (0.5, 1.0, 2.0, 4.0):
        found = recursive(start, count, c)
        for at, row in enumerate(matrix):
            r = sorted(row[row > 0], reverse=True)
            holds = [l for l in range(2, len(r) + 1) if r[0] < c * sum(r[l - 1 :])]
            assert found[at] == max(holds, default=1)
    for at, row in enumerate(matrix):
        p = row[row > 0] / row.sum()
        assert entropy(start, count)[at] == pytest.approx(-(p * np.log(p)).sum(), abs=1e-12)


def test_grassberger_by_its_recursion():
    # Grassberger (2003): G(1) = -gamma - ln 2, G(2) = 2 + G(1), G(2n+1) = G(2n), G(2n+2) = G(2n) + 2/(2n+1)
    g = {1: -np.euler_gamma - np.log(2)}
    g[2] = 2 + g[1]
    for n in range(1, 10):
        g[2 * n + 1] = g[2 * n]
        g[2 * n + 2] = g[2 * n] + 2 / (2 * n + 1)
    counts = np.array([3, 1, 6, 2])
    expected = g[12] - sum(c * g[c] for c in counts.tolist()) / 12
    assert entropy(np.array([0, 4]), counts, "grassberger") == pytest.approx(expected)


def test_grassberger_finds_nothing_in_one_value():
    assert entropy(np.array([0, 1, 2]), np.array([1, 7]), "grassberger") == pytest.approx([0, 0], abs=1e-12)


def test_grassberger_is_less_biased():
    rng = np.random.default_rng(1)
    draws = rng.multinomial(12, np.full(4, 0.25), size=4000)
    start, _, count = rows(draws)
    plain, corrected = entropy(start, count).mean(), entropy(start, count, "grassberger").mean()
    assert abs(corrected - np.log(4)) < 0.5 * abs(plain - np.log(4))
