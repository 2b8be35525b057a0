"""Records that are dealt out, paired across areas, put into groups of different values, or left by several releases."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from celosia.kernels.grouping.intersect import Groups, Rows, intersect_releases
from celosia.kernels.grouping.row_groups import group_rows
from celosia.kernels.search.anatomy import bucketise, deal
from celosia.kernels.search.match import match_across

seeds = st.integers(0, 10**6)


@given(seeds, st.lists(st.integers(0, 4), min_size=4, max_size=40), st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_groups_of_different_values(seed, values, l):
    code = np.array(values, dtype=np.int32)
    assume(max(Counter(values).values()) * l <= len(values))
    group = bucketise(code, np.random.default_rng(seed).permutation(len(code)), 5, l)
    for g in range(int(group.max()) + 1):
        inside = code[group == g].tolist()
        assert len(inside) >= l
        assert len(set(inside)) == len(inside), "no value twice in a group"
    assert len(values) // l == int(group.max()) + 1, "as many groups as there can be"


@given(seeds, st.integers(1, 4), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_no_part_has_two_records_of_a_person(seed, parts, persons):
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(persons), rng.integers(1, parts + 1, persons)).astype(np.int32)
    codes = rng.integers(0, 3, (1, len(person)))
    part = deal(np.arange(len(person)), person, codes, 3, parts)
    assert set(part.tolist()) <= set(range(parts))
    pairs = list(zip(person.tolist(), part.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)


def test_values_are_dealt_out_evenly():
    person = np.arange(12, dtype=np.int32)
    codes = np.repeat([0, 1, 2], 4)[None]
    part = deal(np.arange(12), person, codes, 3, 2)
    assert Counter(zip(codes[0].tolist(), part.tolist(), strict=True)) == {
        (v, p): 2 for v in range(3) for p in range(2)
    }


@given(seeds, st.integers(1, 25))
@settings(max_examples=60, deadline=None)
def test_partners_come_from_another_area_of_the_same_bucket(seed, n):
    rng = np.random.default_rng(seed)
    bucket, area = rng.integers(0, 3, n), rng.integers(0, 3, n)
    wanted = rng.permutation(n)[: max(1, n // 2)]
    partner = np.full(n, -1)
    alone = match_across(wanted, bucket, area, partner, rng)
    paired = np.flatnonzero(partner >= 0)
    assert (partner[partner[paired]] == paired).all()
    assert (bucket[paired] == bucket[partner[paired]]).all()
    assert (area[paired] != area[partner[paired]]).all()
    left = [u for u in wanted if partner[u] < 0]
    assert alone == len(left)
    for u in left:
        free = [v for v in range(n) if partner[v] < 0 and bucket[v] == bucket[u] and area[v] != area[u]]
        assert not free, "who stays alone had nobody left"


@given(seeds, st.integers(1, 12), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_rows_are_numbered_as_they_first_occur(seed, n, width):
    codes = np.random.default_rng(seed).integers(-1, 3, (n, 3)).astype(np.int32)
    columns = np.arange(width)
    numbers, count = group_rows(codes, columns)
    seen = {}
    expected = [seen.setdefault(tuple(row[:width]), len(seen)) for row in codes.tolist()]
    assert numbers.tolist() == expected
    assert count == len(seen)


@pytest.mark.parametrize("releases", [1, 2, 3])
@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_whom_several_releases_leave(releases, seed):
    """Two lists of cells; a row stays where its mark is in every release of the list."""
    rng = np.random.default_rng(seed)
    cells = 2 * releases
    release = np.repeat(np.arange(releases), 2)
    sizes = rng.integers(0, 4, cells)
    row_begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n = int(sizes.sum())
    cell_of = np.repeat(np.arange(cells), sizes)
    mark = rng.integers(0, 3, n)
    person = rng.integers(0, 3, n) + 3 * release[cell_of]  # persons of different releases have different numbers
    values = rng.integers(-1, 2, (n, 2))
    lists = [sorted(rng.choice(cells, size=int(rng.integers(1, cells + 1)), replace=False).tolist()) for _ in range(2)]
    begin = np.concatenate([[0], np.cumsum([len(some) for some in lists])]).astype(np.int64)
    groups = Groups(begin, np.concatenate(lists).astype(np.int64), release, row_begin)
    left, alone, single, single_alone = intersect_releases(
        groups, Rows(mark, person, values), releases, 3, 3 * releases
    )
    for g, some in enumerate(lists):
        inside = [row for row in range(n) if cell_of[row] in some]
        of = {r: [row for row in inside if release[cell_of[row]] == r] for r in {release[c] for c in some}}
        stay = [row for row in inside if all(mark[row] in {mark[other] for other in rows} for rows in of.values())]
        kept = [len({person[row] for row in stay if row in rows}) for rows in of.values()]
        assert left[g] == min(kept)
        assert alone[g] == min(len({person[row] for row in rows}) for rows in of.values())
        for s in range(2):
            assert single[g, s] == (len({values[row, s] for row in stay if values[row, s] >= 0}) == 1)
            each = [{values[row, s] for row in rows if values[row, s] >= 0} for rows in of.values()]
            assert single_alone[g, s] == any(len(distinct) == 1 for distinct in each)
