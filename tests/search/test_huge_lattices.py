"""A lattice too large to list: a good node in few looks, the same under one seed, and a bound that is true."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.huge_lattices import HEURISTICS, wide_records
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.random_lattices import every_node, instance

from celosia.parts import build
from celosia.parts.progress import stage
from celosia.search.lattice.anytime import covering_bound, descend, maximal_nodes
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.knowledge import Budget, Knowledge
from celosia.search.lattice.lattice import search

LOSSES = ("domain-loss()", "domain-loss(aggregate=balanced)")
LOOKS = 150


@pytest.fixture(scope="module")
def wide():
    return wide_records(rows=2_000, seed=1)


def checker_of(records, loss, share):
    objective = build("loss", loss).objective(records.domain)
    return NodeEvaluator(records, [build("model", "k-anonymity(k=5)")], objective, int(share * len(records)))


def top_of(records):
    return tuple(records.domain.height(j) for j in range(len(records.domain)))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("share", [0.0, 0.05])
def test_descents_beat_other_heuristics_with_the_same_number_of_looks(wide, loss, share):
    top = top_of(wide)
    assert math.prod(level + 1 for level in top) > 5e13
    found = search(checker_of(wide, loss, share), (0,) * len(top), top, most=LOOKS)
    assert len(found.evaluations) <= LOOKS
    assert not found.optimal
    assert found.bound < found.best.score
    for name, heuristic in HEURISTICS.items():
        other = heuristic(Knowledge(checker_of(wide, loss, share), (0,) * len(top), top), LOOKS)
        assert other is None or found.best.score < other.score, name


def test_one_seed_gives_one_result(wide):
    top = top_of(wide)

    def looked(seed):
        evaluator = checker_of(wide, LOSSES[1], 0.05)
        found = search(evaluator, (0,) * len(top), top, most=LOOKS, rng=lambda seed=seed: np.random.default_rng(seed))
        return [check.levels for check in found.evaluations]

    assert looked(1) == looked(1)
    assert looked(1) != looked(2)


def test_a_search_tells_how_far_it_is(wide):
    told = []
    top = top_of(wide)
    with stage(lambda what, share: told.append((what, share)), "generalise", 0.5, 1.0):
        search(checker_of(wide, LOSSES[1], 0.05), (0,) * len(top), top, most=LOOKS)
    assert told[0] == ("generalise", 0.5)
    assert len(told) > 1
    assert all(0.5 <= share <= 1 for _, share in told)
    assert "nodes judged" in told[-1][0]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([*LOSSES, "precision()", "height()"]), st.sampled_from([0.0, 0.1]))
def test_no_node_that_holds_is_below_the_bound_of_the_refused_ones(seed, loss, share):
    records = instance(seed)
    objective = build("loss", loss).objective(records.domain)
    evaluator = NodeEvaluator(records, [build("model", "k-anonymity(k=4)")], objective, int(share * len(records)))
    top = top_of(records)
    knowledge = Knowledge(evaluator, (0,) * len(top), top)
    nodes = list(every_node(records))
    for i in np.random.default_rng(seed).permutation(len(nodes))[: len(nodes) // 2]:
        knowledge.evaluate(nodes[i])
    holding = [check.measure for check in map(evaluator.evaluate, nodes) if check.holds]
    if holding:
        assert covering_bound(knowledge) <= min(holding) + 1e-9
    found = descend(evaluator, (0,) * len(top), top, len(nodes), Budget(nodes=3))
    assert not holding or found.bound <= min(holding) + 1e-9


def test_the_bound_of_the_refused_by_hand():
    # two columns of two levels; the finest node is refused, so one of them must be raised: the cheaper costs 0.2
    maps = (np.array([0, 1], np.int32), np.array([0, 0], np.int32))
    from celosia.search.lattice.objective import SUM, ColumnObjective, LevelMaps
    from celosia.search.lattice.tables import Records

    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    domain = LevelMaps(("a", "b"), (maps, maps), (np.array([2, 2]), np.array([2, 2])))
    costs = (np.array([0.0, 0.2]), np.array([0.0, 0.5]))
    objective = ColumnObjective(costs, lambda x: x.sum(axis=-1), additive=SUM)
    evaluator = NodeEvaluator(Records(domain, codes), [build("model", "k-anonymity(k=2)")], objective, 0)
    knowledge = Knowledge(evaluator, (0, 0), (1, 1))
    assert covering_bound(knowledge) == -math.inf  # nothing is refused yet
    knowledge.evaluate((0, 0))
    assert covering_bound(knowledge) == pytest.approx(0.2, abs=1e-6)
    assert maximal_nodes(knowledge.refused_nodes()).tolist() == [[0, 0]]
