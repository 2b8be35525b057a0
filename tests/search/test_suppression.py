from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from celosia.search.cells.suppression import blank_cells

READINGS = ["category", "conservative", "wildcard"]


def slow_frequencies(codes, reading):
    """Frequency of each record by comparing all pairs."""
    complete = (codes >= 0).all(axis=1)
    nothing = (codes < 0).all(axis=1)
    found = []
    for i, row in enumerate(codes):
        equal = (codes == row).all(axis=1)
        fits = ((codes == row) | (codes < 0) | (row < 0)).all(axis=1)
        if reading == "category":
            found.append(equal.sum())
        elif nothing[i]:
            found.append(len(codes))
        elif reading == "conservative":
            found.append((equal | (fits & complete & (not complete[i]))).sum())
        else:
            found.append((fits & ~nothing).sum())
    return np.array(found)


def blank(codes, k, reading, **more):
    q = codes.shape[1]
    options = {"weights": [1.0] * q, "blocks": [[j] for j in range(q)]} | more
    return blank_cells(codes, k, reading, **options)


def after(codes, result):
    return np.where(result.cells, -1, codes)


def table(seed, n, q, values, missing=0.0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, values, (n, q)).astype(np.int32)
    codes[rng.random((n, q)) < missing] = -1
    return codes


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(READINGS), st.integers(2, 4), st.integers(1, 4), st.booleans())
def test_everybody_has_company(seed, reading, k, q, holes):
    codes = table(seed, 30, q, 4, 0.15 if holes else 0.0)
    before = codes.copy()
    result = blank(codes, k, reading)
    done = after(codes, result)
    assert slow_frequencies(done, reading).min() >= k
    assert (codes == before).all()
    assert not (result.cells & (codes < 0)).any()
    assert result.cost == result.cells.sum()
    assert not blank(done, k, reading).cells.any()
    assert (blank(codes, k, reading).cells == result.cells).all()


def brute_force(codes, k, reading):
    """Fewest cells over all ways to blank them; of a class that has k records, k stay as they are."""
    n, q = codes.shape
    start = slow_frequencies(codes, reading)
    best = n * q + 1
    for bits in itertools.product([False, True], repeat=n * q):
        cells = np.array(bits).reshape(n, q)
        if cells.sum() >= best:
            continue
        touched = cells.any(axis=1)
        kept = [(~touched[(codes == codes[i]).all(axis=1)]).sum() for i in range(n)]
        if any(start[i] >= k and kept[i] < k for i in range(n)):
            continue
        if slow_frequencies(np.where(cells, -1, codes), reading).min() >= k:
            best = cells.sum()
    return best


@pytest.mark.parametrize("reading", ["category", "conservative"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_program_finds_the_fewest_cells(seed, reading):
    codes = table(seed, 5, 2, 2)
    result = blank(codes, 2, reading, seconds=10.0)
    fewest = brute_force(codes, 2, reading)
    if fewest > codes.size:  # no class can spare a record: a whole class had to move, and nothing is claimed
        assert not result.optimal
        assert result.bound == 0
    else:
        assert result.optimal
        assert result.cost == result.bound == fewest
    assert slow_frequencies(after(codes, result), reading).min() >= 2


def cheapest_alone(codes, i, k):
    """The smallest sets of columns that give one record k matches when it alone loses them."""
    q = codes.shape[1]
    for size in range(1, q + 1):
        found = []
        for chosen in itertools.combinations(range(q), size):
            changed = codes.copy()
            changed[i, list(chosen)] = -1
            if size == q or slow_frequencies(changed, "wildcard")[i] >= k:
                found.append(chosen)
        if found:
            return found
    return []


def brute_wildcard(codes, k):
    lacking = np.flatnonzero(slow_frequencies(codes, "wildcard") < k)
    ways = [[(), *cheapest_alone(codes, i, k)] for i in lacking]
    best = np.inf
    for choice in itertools.product(*ways):
        cost = sum(map(len, choice))
        if cost >= best:
            continue
        changed = codes.copy()
        for i, chosen in zip(lacking, choice, strict=True):
            changed[i, list(chosen)] = -1
        if slow_frequencies(changed, "wildcard").min() >= k:
            best = cost
    return best


@pytest.mark.parametrize("seed", range(4))
def test_program_finds_the_fewest_wildcards(seed):
    codes = table(seed, 6, 3, 3)
    result = blank(codes, 2, "wildcard", seconds=10.0)
    greedy = blank(codes, 2, "wildcard")
    assert result.optimal
    assert result.cost == brute_wildcard(codes, 2)
    assert result.cost <= greedy.cost


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(READINGS))
def test_program_is_a_bound_for_the_greedy_choice(seed, reading):
    codes = table(seed, 40, 3, 4)
    greedy = blank(codes, 3, reading)
    best = blank(codes, 3, reading, seconds=5.0)
    assert best.bound <= best.cost <= greedy.cost + 1e-9
    assert slow_frequencies(after(codes, best), reading).min() >= 3


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(READINGS), st.integers(1, 3))
@example(6276, "wildcard", 2)  # enough for all columns, but a record that is empty on two of them is no company there
def test_every_subset_has_company(seed, reading, m):
    codes = table(seed, 40, 3, 5)
    subsets = list(itertools.combinations(range(3), m))
    done = after(codes, blank(codes, 3, reading, subsets=subsets))
    for subset in subsets:
        assert slow_frequencies(done[:, list(subset)], reading).min() >= 3


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(READINGS))
def test_strata_and_linked_columns(seed, reading):
    codes = table(seed, 40, 3, 4)
    strata = np.repeat(np.arange(4, dtype=np.int32), 10)
    result = blank(codes, 3, reading, fixed=strata, blocks=[[0, 2], [1]])
    assert (result.cells[:, 0] == result.cells[:, 2]).all()
    done = after(codes, result)
    for one in range(4):
        assert slow_frequencies(done[strata == one], reading).min() >= 3


def test_costs_decide_the_column():
    # (0, 0) and (0, 1) differ in the second column, (0, 1) and (1, 1) in the first
    codes = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]], np.int32)
    assert np.argwhere(blank(codes, 2, "wildcard", weights=[1.0, 5.0]).cells).tolist() == [[2, 0]]
    assert np.argwhere(blank(codes, 2, "wildcard", weights=[5.0, 1.0]).cells).tolist() == [[2, 1]]


def test_by_hand():
    # the third record is alone; one blank matches the pair on the first column
    codes = np.array([[0, 0], [0, 0], [0, 1]], np.int32)
    assert blank(codes, 2, "wildcard").cells.sum() == 1
    assert blank(codes, 2, "conservative").cells.sum() == 1
    # as a value of its own a blank needs a second one; the pair cannot spare a record, so it moves as a whole
    done = after(codes, blank(codes, 2, "category"))
    assert done[:, 1].tolist() == [-1, -1, -1]


def test_no_records_and_nothing_to_do():
    nothing = blank(np.empty((0, 2), np.int32), 3, "category")
    assert nothing.cells.shape == (0, 2)
    assert nothing.optimal
    same = blank(np.zeros((4, 2), np.int32), 3, "wildcard")
    assert same.cost == 0
    assert same.optimal


def test_another_test_than_a_frequency():
    # a record lacks company while the summed weights of its matches are below 10
    codes = np.array([[0, 0], [0, 1], [1, 1]], np.int32)
    weights = np.array([9.0, 2.0, 20.0])
    result = blank(codes, 2, "wildcard", lack=lambda f, F: np.where(F < 10, 1, 0).astype(np.int64), sampling=weights)
    done = after(codes, result)
    fits = ((done[:, None] == done[None]) | (done[:, None] < 0) | (done[None] < 0)).all(axis=2)
    assert (fits @ weights >= 10).all()


def test_no_proof_without_all_sets_of_columns(monkeypatch):
    codes = table(5, 30, 3, 4)
    assert blank(codes, 3, "category", seconds=10.0).optimal
    monkeypatch.setattr("celosia.search.cells.blank_places.MASKS", 4)  # seven sets of three columns do not fit
    partial = blank(codes, 3, "category", seconds=10.0)
    assert not partial.optimal
    assert partial.bound == 0
    assert slow_frequencies(after(codes, partial), "category").min() >= 3
