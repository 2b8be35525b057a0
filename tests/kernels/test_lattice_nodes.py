"""Nodes of a lattice as arrays, against the same said with tuples."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from celosia.kernels.search.lattice_nodes import (
    Nodes,
    Rise,
    least_open,
    open_side,
    raise_bounds,
    raise_penalty,
    raise_side,
    smallest_finer,
    walk_up,
)

SHAPES = [(1,), (3,), (2, 3), (3, 1, 2), (2, 2, 3, 2)]


def lattice(shape, seed=1):
    spans = np.array(shape)
    levels = np.array(list(itertools.product(*(range(n) for n in shape))), dtype=np.int8)
    strides = np.array([int(np.prod(shape[j + 1 :])) for j in range(len(shape))])
    still = np.random.default_rng(seed).random(len(levels)) < 0.7
    return spans, strides, levels, still


@pytest.mark.parametrize("shape", SHAPES)
def test_sides_of_every_node(shape):
    spans, strides, levels, still = lattice(shape)
    out = np.empty(len(levels), dtype=np.int64)
    for node in range(len(levels)):
        for below in (True, False):
            side = levels <= levels[node] if below else levels >= levels[node]
            expected = np.flatnonzero(side.all(axis=1) & still)
            assert out[: open_side(node, below, still, strides, spans, out)].tolist() == expected.tolist()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_way_up_rises_by_one_step_until_nothing_above_is_open(shape):
    spans, strides, levels, still = lattice(shape)
    path = np.empty(int(spans.sum()), dtype=np.int64)
    ends = set()
    draw = 0
    for _ in range(20):
        length, draw = walk_up(0, still, strides, spans, draw, path)
        steps = np.diff(levels[path[:length]].astype(int), axis=0)
        assert path[0] == 0
        assert (steps.sum(axis=1) == 1).all()
        assert (steps >= 0).all()
        assert still[path[1:length]].all()
        above = [path[length - 1] + strides[j] for j in range(len(shape)) if levels[path[length - 1], j] < shape[j] - 1]
        assert not still[above].any()
        ends.add(tuple(path[:length]))
    if shape == (2, 2, 3, 2):
        assert len(ends) > 2  # the columns take turns


def test_the_least_bound_that_is_open():
    bound = np.array([[1.0], [0.5], [0.7], [0.7], [np.inf]])
    assert least_open(np.array([True, False, True, True, True]), bound) == 2
    assert least_open(np.array([False, False, False, False, True]), bound) == 4
    assert least_open(np.zeros(5, dtype=bool), bound) == -1


def test_penalties_rise_and_never_fall():
    levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int8)
    penalty = np.array([[0.0, 3.0], [0.0, 0.0], [5.0, 5.0], [0.0, 0.0]])
    nodes = np.array([2, 0, 3])
    by_level = np.array([[1.0, 0.5], [2.0, 0.0]])
    changed = raise_penalty(nodes, levels, by_level, penalty)
    assert sorted(nodes[:changed].tolist()) == [0, 3]
    assert sorted(nodes.tolist()) == [0, 2, 3]
    assert penalty.tolist() == [[1.0, 3.0], [0.0, 0.0], [5.0, 5.0], [0.5, 0.0]]


@pytest.mark.parametrize(
    ("adds", "whole", "expected"), [(True, False, 4.25), (False, False, 3.25), (True, True, 5.0), (False, True, 4.0)]
)
def test_bounds_are_put_together(adds, whole, expected):
    # floor 3 (was 2), gap 1.25 (was 1), columns 2: with the gap 4.25 and 3.25, without 3 and 3.25
    still, bound = np.ones(3, dtype=bool), np.full((3, 1), -np.inf)
    known = np.array([[2.0, 1.0, 2.0], [9.0, 0.0, -np.inf], [2.0, 1.0, 2.0]])
    none = np.empty(0, dtype=np.int64)
    nodes = Nodes(still, bound, known, none, none, none)
    raise_bounds(np.array([0, 1]), nodes, Rise(3.0, 1.25, -np.inf, adds, whole, expected))
    assert bound[0, 0] == expected
    assert bound[2, 0] == -np.inf
    assert still.tolist() == [False, False, True]
    raise_bounds(np.array([2]), nodes, Rise(3.0, 1.25, -np.inf, adds, whole, expected + 0.01))
    assert still[2]
    raise_bounds(np.array([2]), nodes, Rise(0.0, 0.0, 7.0, adds, whole, 7.0))
    assert bound[2, 0] == 7.0
    assert known[2].tolist() == [3.0, 1.25, 2.0]
    assert not still[2]


def test_a_side_learns_and_the_other_does_not():
    spans, strides, levels, _ = lattice((2, 3))
    node = 3  # levels 1, 0
    for below, finer in ((True, levels <= levels[node]), (False, levels >= levels[node])):
        still, bound = np.ones(6, dtype=bool), np.full((6, 1), -np.inf)
        known = np.tile([-np.inf, 0.0, -np.inf], (6, 1))
        listed = np.empty(6, dtype=np.int64)
        still[0] = False
        nodes = Nodes(still, bound, known, strides, spans, listed)
        raise_side(node, below, nodes, Rise(2.0, 0.5, -np.inf, True, False, 9.0))
        expected = finer.all(axis=1) & still
        assert (bound[:, 0] == np.where(expected, 2.5, -np.inf)).all()
        raise_side(node, below, nodes, Rise(2.0, 0.5, -np.inf, True, False, 2.5))
        assert (~still).tolist() == (expected | (np.arange(6) == 0)).tolist()


def test_the_smallest_table_that_is_finer():
    lower = np.array([[0, 0], [1, 0], [0, 2], [1, 1]], dtype=np.int8)
    rows = np.array([90, 20, 10, 20])
    for node, expected in (((0, 0), 0), ((1, 1), 1), ((1, 2), 2), ((0, 1), 0)):
        assert smallest_finer(lower, rows, 4, np.array(node, dtype=np.int8)) == expected
    assert smallest_finer(lower, rows, 2, np.array([1, 2], dtype=np.int8)) == 1


@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_without_compilation(setting):
    code = "import pytest, sys; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-k', 'not compilation', sys.argv[1]]))"
    environment = {**os.environ, setting: "1"}
    done = subprocess.run([sys.executable, "-c", code, __file__], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()[-2000:]
