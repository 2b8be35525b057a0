"""Hierarchies that are made from data: who is hidden first, where groups split, and what all builders keep."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from celosia.hierarchy import hierarchy
from celosia.hierarchy.balanced import Balanced
from celosia.hierarchy.level_table import LevelTable
from celosia.hierarchy.priority import Priority


@pytest.mark.parametrize(("size", "count"), [(1, 1), (1, 4), (5, 4), (12, 3), (42, 13), (77, 10), (100, 99)])
@pytest.mark.parametrize("named", [0, 2])
def test_the_least_important_are_hidden_first(size, count, named):
    rng = np.random.default_rng(size)
    values = [f"v{n:03}" for n in rng.permutation(size)]
    held = rng.integers(1, 4, size).tolist()
    order = tuple(values[:named])
    ranked = sorted(
        zip(values, held, strict=True),
        key=lambda pair: (order.index(pair[0]) if pair[0] in order else named, -pair[1], pair[0]),
    )
    levels = Priority(count=count, order=order).levels(values, held)
    assert levels.height == count + 1
    for level in range(1, count + 1):
        hidden = ceil(Fraction(level, count + 1) * size)  # exactly that share of the values, rounded up
        kept = {value for value, _ in ranked[: size - hidden]}
        assert levels.labels(level) == [value if value in kept else "*" for value in values]


def test_how_many_values_stay_can_be_said():
    levels = Priority(keep=(9, 2, 1)).levels(["a", "b", "c"], counts=[1, 3, 2])
    assert [levels.labels(level) for level in (1, 2, 3)] == [["a", "b", "c"], ["*", "b", "c"], ["*", "b", "*"]]


def halved(groups, weight):
    """Each group of several values cut where its halves weigh most equally, the first such place."""
    finer = []
    for group in groups:
        if len(group) == 1:
            finer.append(group)
            continue
        whole = sum(weight[value] for value in group)
        apart = [abs(2 * sum(weight[value] for value in group[:cut]) - whole) for cut in range(1, len(group))]
        cut = apart.index(min(apart)) + 1
        finer += [group[:cut], group[cut:]]
    return finer


@pytest.mark.parametrize("seed", range(12))
def test_groups_are_halved_by_weight_level_by_level(seed):
    rng = np.random.default_rng(seed)
    values = sorted(rng.choice(200, rng.integers(2, 12), replace=False).tolist())
    weight = dict(zip(values, rng.integers(1, 30, len(values)).tolist(), strict=True))
    levels = Balanced().levels(values, list(weight.values()))
    groups = [values]
    for level in range(levels.height - 1, 0, -1):
        groups = halved(groups, weight)
        labels = dict(zip(values, levels.labels(level), strict=True))
        assert [sorted({labels[value] for value in group}) for group in groups] == [[labels[g[0]]] for g in groups]
        assert len(set(labels.values())) == len(groups), "another label for each group"
    assert len(groups) < len(halved(groups, weight)) == len(values), "the next cut leaves the values themselves"


@pytest.mark.parametrize(
    ("values", "top"), [([], []), (["a"], ["*"]), ([7], ["*"]), ([None], [None]), (["7", "x"], ["*"] * 2)]
)
def test_extremes(values, top):
    for part in (Balanced(), Priority()):
        levels = part.levels(values)
        assert levels.labels(0) == [None if value is None else str(value) for value in values]
        assert levels.labels(levels.height) == top or values == [None]


BUILDERS = [
    "balanced", "balanced(count=1)", "priority(count=3)", "priority(keep=[2])", "intervals(width=7, count=3)",
    "intervals(quantiles=3, count=2)", "prefixes", "prefixes(side=left)", "order(order=['0', '5', '11', '12', '13', '48', '49'], factor=3)",
]  # fmt: skip


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("seed", range(4))
def test_a_coarser_level_never_splits_a_class_and_order_and_repetition_do_not_matter(builder, seed):
    rng = np.random.default_rng(seed)
    occurring = [5, 11, 12, 13, 48, 49]
    rows = rng.choice(occurring, 20).tolist()
    part = hierarchy(builder).model_copy(update={"fallback": "*"})
    distinct = sorted(set(rows), key=rows.index)
    settled = part.freeze(distinct, [rows.count(value) for value in distinct])
    levels = settled.levels([*rows, None, "unknown"])
    fine = levels.labels(0)
    for level in range(1, levels.height + 1):
        coarse = levels.labels(level)
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine)), "one parent for each label"
        fine = coarse
    assert set(fine) <= {"*", None}
    # written out row by row, the data give the same levels as their distinct values with counts
    by_rows = part.freeze(rows, [1] * len(rows))
    for level in range(levels.height + 1):
        assert by_rows.levels([*rows, None, "unknown"]).labels(level) == levels.labels(level)
    assert settled.freeze([1], [1]) == settled, "settled once"


def test_a_fallback_is_kept_when_levels_are_settled():
    fixed = Priority(count=1, fallback="*").freeze(["a", "b"], [2, 1])
    assert isinstance(fixed, LevelTable)
    assert fixed.levels(["new", "a"]).labels(1) == ["*", "a"]
