from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.kernels.grouping.group_counts import counting_order, group_sizes, value_counts
from celosia.kernels.search.anatomy import bucketise


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_counts_by_the_slow_way(seed, with_person):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    group = np.sort(rng.integers(0, 4, n))
    group = np.unique(group, return_inverse=True)[1]
    records = rng.permutation(n)
    code = rng.integers(0, 5, n).astype(np.int32)
    person = rng.integers(0, 6, n).astype(np.int32) if with_person else np.empty(0, np.int32)
    begin = np.concatenate([[0], np.cumsum(np.bincount(group))])
    start, value, count = value_counts(begin, records, code, 5, person)
    sizes = group_sizes(begin, records, person)
    for g in range(int(group.max()) + 1):
        members = records[group == g]
        assert sizes[g] == (len(set(person[members])) if with_person else len(members))
        expected = {}
        for c in sorted(set(code[members])):
            has = members[code[members] == c]
            expected[int(c)] = len(set(person[has])) if with_person else len(has)
        found = dict(zip(value[start[g] : start[g + 1]].tolist(), count[start[g] : start[g + 1]].tolist(), strict=True))
        assert found == expected
        assert list(found) == sorted(found)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_buckets_hold_different_values(seed, l):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 8, int(rng.integers(l, 60))).astype(np.int32)
    if np.bincount(code).max() * l > len(code):
        return
    label = bucketise(code, rng.permutation(len(code)), 8, l)
    assert label.min() == 0
    for g in range(int(label.max()) + 1):
        inside = code[label == g]
        assert len(inside) >= l
        assert len(set(inside)) == len(inside)


@pytest.mark.parametrize(("rows", "size"), [(0, 0), (1, 1), (200, 3), (50, 400)])
def test_counting_order_is_a_stable_argsort(rows, size):
    key = np.random.default_rng(rows).integers(0, max(1, size), rows)
    assert counting_order(key, size).tolist() == np.argsort(key, kind="stable").tolist()
