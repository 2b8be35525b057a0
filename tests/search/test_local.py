"""Classes with levels of their own, and leaves that are merged: every record placed once, by its cells, large enough."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.random_lattices import every_node, instance

from celosia.models import KAnonymity, LDiversity
from celosia.search import local
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.objective import ColumnObjective
from celosia.search.local import LocalSearch, nodes_by_loss, scaled_shares
from celosia.search.partition.tree_merge import merge

seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("enumerated", [local.ENUMERATED, 0], ids=["listed", "one by one"])
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_nodes_come_by_their_loss_each_once(enumerated, seed):
    records = instance(seed)
    domain = records.domain
    costs = scaled_shares(domain)
    top = tuple(domain.height(j) for j in range(len(domain)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "ENUMERATED", enumerated)
        ordered = list(nodes_by_loss(domain, costs, (0,) * len(top), top))
    assert sorted(levels for _, levels in ordered) == sorted(every_node(records))
    losses = [loss for loss, _ in ordered]
    assert all(a <= b + 1e-12 for a, b in pairwise(losses))
    for loss, levels in ordered:
        by_record = [
            sum(costs[j][level][code] for j, (level, code) in enumerate(zip(levels, row, strict=True)))
            for row in records.codes.tolist()
        ]
        assert loss == pytest.approx(math.fsum(by_record) / len(by_record))


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_shares_of_the_domain_are_scaled_from_a_value_to_everything(seed):
    domain = instance(seed).domain
    for j, by_level in enumerate(scaled_shares(domain)):
        assert (by_level[0] == 0).all()
        assert by_level[-1].tolist() == pytest.approx([1.0] * domain.values(j) if domain.size(j) > 1 else by_level[-1])
        for finer, coarser in pairwise(by_level):
            assert (coarser >= finer - 1e-12).all(), "a coarser cell covers more"


@pytest.mark.parametrize("model", [KAnonymity(k=3), LDiversity(l=2, column="s")], ids=str)
@given(seed=seeds, limit=st.sampled_from([0, 5]))
@settings(max_examples=15, deadline=None)
def test_every_class_holds_and_the_loss_is_that_of_its_cells(model, seed, limit):
    records = instance(seed)
    domain = records.domain
    nothing = ColumnObjective(
        tuple(np.zeros(domain.height(j) + 1) for j in range(len(domain))), lambda x: x.sum(axis=-1)
    )
    evaluator = NodeEvaluator(records, [model], nothing, 0)
    top = tuple(domain.height(j) for j in range(len(domain)))
    result = LocalSearch(evaluator, (0,) * len(top), top).run(None, limit)
    place = result.place[evaluator.tables.group]
    costs, lost = scaled_shares(domain), 0.0
    cells = {}
    for row, own, code in zip(
        records.codes.tolist(), place.tolist(), records.sensitive["s"].codes.tolist(), strict=True
    ):
        if own < 0:
            lost += len(top)
            continue
        levels = result.levels[own].tolist()
        cell = tuple(
            int(domain.maps[j][level][value]) for j, (level, value) in enumerate(zip(levels, row, strict=True))
        )
        cells.setdefault(own, []).append((cell, code))
        lost += sum(costs[j][level][value] for j, (level, value) in enumerate(zip(levels, row, strict=True)))
    for members in cells.values():
        assert len({cell for cell, _ in members}) == 1, "a class shows one row of cells"
        if isinstance(model, KAnonymity):
            assert len(members) >= 3
        else:
            assert len({code for _, code in members}) >= 2
    assert result.loss == pytest.approx(lost / len(place) / len(top))
    assert result.suppressed == int((place < 0).sum())
    assert result.suppressed <= limit, "all records together hold here, so nobody has to be left over"


def tree(rng, leaves):
    """The nodes of leaves in path order at each level, the last one the root."""
    rows = [np.arange(leaves)]
    while len(np.unique(rows[-1])) > 1:
        wide = int(rows[-1].max()) + 1
        starts = rng.random(wide) < 0.5
        starts[0] = True
        merged = np.cumsum(starts) - 1
        if merged[-1] == wide - 1:
            merged[1:] -= 1
        rows.append(merged[rows[-1]])
    return np.stack(rows if len(rows) > 1 else [rows[0], np.zeros(leaves, np.int64)])


@pytest.mark.parametrize("short_first", [False, True])
@given(seed=seeds, leaves=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_leaves_are_merged_under_their_own_node(short_first, seed, leaves):
    rng = np.random.default_rng(seed)
    nodes = tree(rng, leaves)
    count, need = rng.integers(0, 5, leaves), rng.integers(1, 6, leaves)

    def size(some):
        return int(count[list(some)].sum())

    done, left = merge(nodes, size, need, short_first=short_first)
    assert sorted(leaf for part in (*done, *left) for leaf in part.leaves) == list(range(leaves)), "each leaf once"
    for part in (*done, *left):
        assert len({int(nodes[part.level, leaf]) for leaf in part.leaves}) == 1, "all under the node that is shown"
    assert all(size(part.leaves) >= max(need[list(part.leaves)]) for part in done)
    assert len(left) <= 1
    if left:
        assert not done, "what is left over at the root would have joined a class that is done"
    if all(count[i] >= need[i] for i in range(leaves)):
        assert [part.leaves for part in done] == [(i,) for i in range(leaves)], "nobody is merged for nothing"
