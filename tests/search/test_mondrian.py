from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.search.lattice.tables import Sensitive
from celosia.search.partition.groups import Groups
from celosia.search.partition.mondrian import Axis, partition, tree_order


def same(label, groups):
    """Whether labels describe these groups of records."""
    found = {tuple(np.flatnonzero(label == g)) for g in np.unique(label)}
    return found == {tuple(sorted(g)) for g in groups}


# A second way: plain recursion over lists of records, one group after the other.


def width(axis, members):
    codes = axis.codes[members]
    if axis.position is not None:
        return axis.position[codes.max()] - axis.position[codes.min()]
    if axis.levels is not None:
        for row, share in zip(axis.levels, axis.shares, strict=True):
            if len(set(row[codes])) == 1:
                return share[codes[0]]
    return (len(set(codes)) - 1) / max(axis.size - 1, 1)


def cuts(axis, members, nearest, strict):
    """The ways in which a column may cut a group, best first."""
    codes = axis.codes[members]
    if axis.levels is not None:
        below = None
        for row in axis.levels:
            if len(set(row[codes])) == 1:
                break
            below = row
        return [[[m for m in members if below[axis.codes[m]] == node] for node in sorted(set(below[codes]))]]
    ordered = sorted(members, key=lambda m: axis.codes[m])
    middle = (len(ordered) + 1) // 2
    if not strict and axis.position is not None:
        return [[ordered[:middle], ordered[middle:]]]
    borders = [i for i in range(1, len(ordered)) if axis.codes[ordered[i]] != axis.codes[ordered[i - 1]]]
    if not nearest:
        borders = [i for i in borders if i >= middle][:1]
    borders.sort(key=lambda i: (abs(i - middle), i < middle))
    return [[ordered[:i], ordered[i:]] for i in borders]


def slow(axes, members, allowed, nearest=True, strict=True, least=1):
    order = sorted(range(len(axes)), key=lambda j: -width(axes[j], members))
    for j in order:
        if len(members) < 2 * least or width(axes[j], members) <= 0:
            continue
        for parts in cuts(axes[j], members, nearest, strict):
            if all(allowed(part) for part in parts):
                return [g for part in parts for g in slow(axes, part, allowed, nearest, strict, least)]
    return [members]


def random_axes(rng, n, kinds):
    axes = []
    for kind in kinds:
        size = int(rng.integers(1, 6))
        codes = rng.integers(0, size, n).astype(np.int32)
        if kind == "ordered":
            axes.append(Axis.from_numbers(codes, np.sort(rng.random(size))))
        elif kind == "tree":
            parent = rng.integers(0, 3, size)
            axes.append(Axis.from_tree(codes, np.stack([np.arange(size), parent, np.zeros(size, int)])))
        else:
            axes.append(Axis.from_labels(codes, size))
    return axes


def labels(*axes, **wishes):
    return partition(*axes, **wishes).label


KINDS = st.lists(st.sampled_from(["ordered", "tree", "labels"]), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), KINDS, st.integers(1, 4), st.booleans(), st.booleans())
def test_equals_plain_recursion(seed, kinds, k, nearest, strict):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 40))
    axes = random_axes(rng, n, kinds)
    label = labels(axes, k, nearest=nearest, strict=strict)
    if strict:  # when not strict, which of equal records go left is not defined
        assert same(label, slow(axes, list(range(n)), lambda part: len(part) >= k, nearest, strict, k))
    assert np.bincount(label).min() >= k
    assert label[0] == 0  # numbered by first record
    assert (np.diff(np.unique(label, return_index=True)[1]) > 0).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), KINDS, st.integers(1, 3), st.booleans())
def test_the_cuts_tell_the_groups(seed, kinds, k, picky):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 60))
    axes = random_axes(rng, n, kinds)

    def odd(records, group):  # refuses some cuts for no good reason, so that other columns are tried
        return np.bincount(group, weights=records).astype(int) % 3 > 0

    found = partition(axes, k, judge=odd if picky else None)
    cuts = found.cuts
    assert (cuts.parent[1:] < np.arange(1, len(cuts.parent))).all()
    for g, leaf in enumerate(cuts.leaf):
        inside, node = np.ones(n, bool), leaf
        while node > 0:
            axis, ends = axes[cuts.column[node]], [cuts.first[node], cuts.last[node]]
            if axis.levels is None:
                low, high = axis.codes[ends]
                inside &= (axis.codes >= low) & (axis.codes <= high)
            else:  # a part is the records below one child of the node that the parent's records share
                brothers = np.flatnonzero(cuts.parent == cuts.parent[node])
                whole = axis.levels[:, axis.codes[[cuts.first[brothers[0]], cuts.last[brothers[-1]]]]]
                level = np.flatnonzero(whole[:, 0] == whole[:, 1])[0] - 1
                inside &= axis.levels[level, axis.codes] == axis.levels[level, axis.codes[ends[0]]]
            node = cuts.parent[node]
        assert inside.tolist() == (found.label == g).tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), KINDS)
def test_targets_persons_and_requirements(seed, kinds):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    axes = random_axes(rng, n, kinds)
    setting = rng.integers(1, 5, n)
    person = rng.integers(0, n, n).astype(np.int32)
    value = rng.integers(0, 3, n).astype(np.int32)
    counted = Groups(n, {"s": Sensitive(value, 3)}, person, setting)

    def allowed(part):
        return len(set(person[part])) >= max(2, max(setting[part]))

    def varied(records, group):
        return counted.counts(records, group).of("s").distinct >= 2

    label = labels(axes, 2, targets=setting, person=person)
    assert same(label, slow(axes, list(range(n)), allowed, least=2))
    label = labels(axes, 2, targets=setting, person=person, judge=varied)
    groups = [np.flatnonzero(label == g) for g in np.unique(label)]
    assert len(groups) == 1 or all(allowed(g) and len(set(value[g])) >= 2 for g in groups)


def test_by_hand():
    # 1 1 2 3 3 3: the middle lies behind the third; the nearest border is there, and both sides hold 3
    axis = Axis.from_numbers(np.array([0, 0, 1, 2, 2, 2], np.int32), np.array([1.0, 2.0, 3.0]))
    assert labels([axis], 3).tolist() == [0, 0, 0, 1, 1, 1]
    assert labels([axis], 4).tolist() == [0] * 6
    # 1 2 2 2 2: behind the median lies the end, so the plain median gives nothing; the nearest cut leaves 1 | 4
    axis = Axis.from_numbers(np.array([0, 1, 1, 1, 1], np.int32), np.array([1.0, 2.0]))
    assert labels([axis], 1, nearest=False).tolist() == [0] * 5
    assert labels([axis], 1).tolist() == [0, 1, 1, 1, 1]
    # when not strict the twos fall on both sides
    assert labels([axis], 2, strict=False).tolist() == [0, 0, 0, 1, 1]


def test_one_record_one_value_and_missing():
    axis = Axis.from_numbers(np.zeros(1, np.int32), np.array([7.0]))
    assert labels([axis], 5).tolist() == [0]
    assert labels([Axis.from_labels(np.zeros(4, np.int32), 1)], 1).tolist() == [0] * 4
    gap = Axis.from_numbers(np.array([0, 0, -1, -1], np.int32), np.array([5.0]))
    assert labels([gap], 2).tolist() == [0, 0, 1, 1]
    tree = Axis.from_tree(np.array([0, 1, -1, -1], np.int32), np.array([[0, 1], [0, 0]]))
    assert labels([tree], 2).tolist() == [0, 0, 0, 0]  # its three children have 1, 1 and 2 records
    assert labels([tree], 1).tolist() == [0, 1, 2, 2]


def test_tree_order_keeps_subtrees_together():
    levels = np.array([[0, 1, 2, 3], [0, 1, 0, 1], [0, 0, 0, 0]])
    rank = tree_order(levels)
    assert abs(rank[0] - rank[2]) == 1
    assert abs(rank[1] - rank[3]) == 1


def test_weight_moves_the_cut():
    a = Axis.from_numbers(np.array([0, 0, 1, 1], np.int32), np.array([0.0, 1.0]))
    b = Axis.from_numbers(np.array([0, 1, 0, 1], np.int32), np.array([0.0, 1.0]))
    assert labels([a, b], 2).tolist() == [0, 0, 1, 1]
    heavy = Axis.from_numbers(b.codes, np.array([0.0, 1.0]), weight=2.0)
    assert labels([a, heavy], 2).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("n", [1000])
def test_wide_codes_use_the_other_sort(n):
    rng = np.random.default_rng(3)
    x = np.sort(rng.random(5 * n))
    codes = rng.integers(0, 5 * n, n).astype(np.int32)
    label = labels([Axis.from_numbers(codes, x)], 5)
    order = np.argsort(codes, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    groups = label[order]
    assert (np.diff(np.flatnonzero(np.diff(groups)))).min() >= 5  # consecutive runs of at least five
