"""Attacks on synthetic records against plain loops: predicates, nearest records, chances of overlap."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from celosia.kernels.statistics.intervals import newcombe, wilson
from celosia.risk.bases import synthetic_attacks
from celosia.risk.bases.attack_outcome import AttackOutcome
from celosia.risk.bases.synthetic_attacks import (
    Condition,
    chance_overlap,
    gower_nearest,
    overlap,
    random_predicates,
    ranges,
    singled_out,
    singling_predicates,
)


def mixed(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers and two categories, some missing."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 12, (n, 2)).astype(float)
    numbers[rng.random((n, 2)) < 0.15] = np.nan
    return numbers, rng.integers(-1, 3, (n, 2)).astype(np.int32)


def test_conditions_hold_at_their_bound_and_never_for_missing_numbers():
    numbers, codes = np.array([[1.0], [2.0], [np.nan]]), np.array([[0], [1], [-1]], np.int32)
    assert Condition(0, True, 2.0, above=True).holds(numbers, codes).tolist() == [False, True, False]
    assert Condition(0, True, 1.0, above=False).holds(numbers, codes).tolist() == [True, False, False]
    assert Condition(0, False, 1.0).holds(numbers, codes).tolist() == [False, True, False]


def test_all_conditions_must_hold_and_all_records_be_one_persons():
    numbers = np.array([[5.0, 1.0], [6.0, 2.0], [7.0, 3.0]])
    high, low = Condition(0, True, 6.0), Condition(1, True, 2.0, above=False)
    codes, apart = np.empty((3, 0), np.int32), np.arange(3)
    assert singled_out([high, low], numbers, codes, apart).tolist() == [False, True, False]
    assert not singled_out([high], numbers, codes, apart).any()
    assert singled_out([high], numbers, codes, np.array([0, 9, 9])).tolist() == [False, True, True]
    assert not singled_out([high, Condition(1, True, 0.0, above=False)], numbers, codes, apart).any()


@pytest.mark.parametrize("size", [1, 2, 4, 9])
@pytest.mark.parametrize("persons", [None, 10])
def test_singling_predicates_select_one_person_each_away_from_the_median(size, persons):
    numbers, codes = mixed(size, 30)
    person = None if persons is None else np.arange(30) % persons
    found = singling_predicates(numbers, codes, size, 12, np.random.default_rng(1), person)
    assert found
    assert len(set(found)) == len(found) <= 12
    middle = np.nanmedian(numbers, axis=0)
    for predicate in found:
        assert len(predicate) == min(size, 4)
        selected = [
            i
            for i in range(30)
            if all(
                codes[i, c.column] == c.bound
                if not c.numeric
                else (numbers[i, c.column] >= c.bound if c.above else numbers[i, c.column] <= c.bound)
                for c in predicate
            )
        ]
        assert len(selected if person is None else set(person[selected])) == 1
        assert all(c.above == (c.bound >= middle[c.column]) for c in predicate if c.numeric)
        assert all(c.bound >= 0 for c in predicate if not c.numeric), "a missing category is no condition"
        assert len({(c.numeric, c.column) for c in predicate}) == len(predicate)


def test_no_record_or_no_column_gives_no_predicate():
    rng = np.random.default_rng(1)
    assert singling_predicates(np.empty((0, 1)), np.empty((0, 0), np.int32), 1, 3, rng) == []
    assert singling_predicates(np.empty((5, 0)), np.empty((5, 0), np.int32), 1, 3, rng) == []
    assert singling_predicates(np.full((5, 1), np.nan), np.empty((5, 0), np.int32), 1, 3, rng) == []
    assert singling_predicates(np.ones((5, 1)), np.empty((5, 0), np.int32), 1, 3, rng) == []
    # of the categories 0, 1, 1 the first singles out; a missing one does not
    codes = np.array([[0], [1], [1]], np.int32)
    assert singling_predicates(np.empty((3, 0)), codes, 1, 3, rng) == [(Condition(0, False, 0.0),)]
    assert singling_predicates(np.empty((3, 0)), np.where(codes == 0, -1, codes), 1, 3, rng) == []


def test_random_predicates_know_the_range_and_the_categories_only():
    numbers, codes = mixed(3, 40)
    found = random_predicates(numbers, codes, 3, 400, np.random.default_rng(2))
    assert len(found) == 400
    conditions = [c for predicate in found for c in predicate]
    assert {len({(c.numeric, c.column) for c in predicate}) for predicate in found} == {3}
    for column in (0, 1):
        bounds = np.array([c.bound for c in conditions if c.numeric and c.column == column])
        low, high = np.nanmin(numbers[:, column]), np.nanmax(numbers[:, column])
        assert low <= bounds.min() < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < bounds.max() <= high
        assert {c.bound for c in conditions if not c.numeric and c.column == column} == {0.0, 1.0, 2.0}
    assert 0.4 < np.mean([c.above for c in conditions if c.numeric]) < 0.6


def _gower(x, a, y, b, widths) -> float:
    """Gower's distance of two records, summed over the columns."""
    total = 0.0
    for u, v, width in zip(x, y, widths, strict=True):
        if np.isnan(u) or np.isnan(v):
            total += float(np.isnan(u) != np.isnan(v))
        elif width > 0:
            total += abs(u - v) / width
    return total + sum(u != v for u, v in zip(a, b, strict=True))


@pytest.mark.parametrize("block", [1, 17, 18, 50, 4_000_000])
@pytest.mark.parametrize("k", [1, 3, 17, 40])
def test_nearest_records_against_plain_loops(block, k, monkeypatch):
    monkeypatch.setattr(synthetic_attacks, "BLOCK", block)
    (x, a), (y, b) = mixed(4, 23), mixed(5, 17)
    widths = np.array([11.0, 0.0])
    index, distance = gower_nearest((x, a), (y, b), widths, k, np.random.default_rng(3))
    assert index.shape == distance.shape == (23, min(k, 17))
    for i in range(23):
        all_distances = [_gower(x[i], a[i], y[j], b[j], widths) for j in range(17)]
        assert distance[i] == pytest.approx(sorted(all_distances)[:k])
        assert distance[i] == pytest.approx([all_distances[j] for j in index[i]])
        assert len(set(index[i].tolist())) == min(k, 17)


def test_equally_near_records_are_taken_by_chance():
    x, none = np.zeros((1, 1)), np.empty((1, 0), np.int32)
    target = (np.array([[1.0], [1.0], [1.0], [5.0]]), np.empty((4, 0), np.int32))
    rng = np.random.default_rng(5)
    taken = [int(gower_nearest((x, none), target, np.array([5.0]), 1, rng)[0][0, 0]) for _ in range(600)]
    shares = np.bincount(taken, minlength=4) / 600
    assert shares[3] == 0
    assert np.abs(shares[:3] - 1 / 3).max() < 0.07


def test_nobody_is_near_where_there_is_nobody():
    x, a = mixed(6, 5)
    index, distance = gower_nearest((x, a), (x[:0], a[:0]), np.ones(2), 3, np.random.default_rng(1))
    assert index.shape == distance.shape == (5, 0)
    index, _ = gower_nearest((x[:0], a[:0]), (x, a), np.ones(2), 3, np.random.default_rng(1))
    assert index.shape == (0, 3)


def test_ranges_over_all_tables():
    first, second = np.array([[1.0, np.nan, 7.0], [4.0, np.nan, 7.0]]), np.array([[-2.0, 3.0, np.nan]])
    assert ranges(first, second).tolist() == [6.0, 0.0, 0.0]
    assert ranges(first[:0]).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("m", range(7))
@pytest.mark.parametrize("k", range(5))
def test_the_chance_of_an_overlap_is_a_count_of_sets(m, k):
    size = min(k, m)
    sets = [set(chosen) for chosen in combinations(range(m), size)]
    shared = [bool(one & other) for one in sets for other in sets]
    assert chance_overlap(m, k) == pytest.approx(sum(shared) / len(shared))


def test_overlap_row_by_row():
    first, second = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[9, 1], [5, 6], [6, 5]])
    assert overlap(first, second).tolist() == [True, False, True]


def test_an_outcome_by_hand():
    alone = AttackOutcome(30, 100, 0.1)
    assert (alone.rate, alone.control_rate, alone.risk) == (0.3, None, 0.3)
    assert alone.evidence()["interval"] == list(wilson(30, 100))
    assert alone.evidence()["better_than_guessing"]
    assert not AttackOutcome(12, 100, 0.1).evidence()["better_than_guessing"]
    beside = AttackOutcome(30, 100, 0.1, 20, 50)  # the control is hit more often: nothing is due to the release
    assert beside.control_rate == 0.4
    assert beside.risk == 0.0
    assert not beside.evidence()["due_to_the_release"]
    due = AttackOutcome(40, 100, 0.1, 5, 50)
    assert due.risk == pytest.approx((0.4 - 0.1) / 0.9)
    low, high = newcombe((40, 100), (5, 50))
    assert due.evidence()["interval"] == pytest.approx([low / 0.9, high / 0.9])
    assert due.evidence()["due_to_the_release"]


def test_outcomes_at_the_extremes():
    assert AttackOutcome(0, 0, 0.0).rate == 0.0
    assert AttackOutcome(0, 0, 0.0).evidence()["interval"] == [0.0, 1.0]
    assert AttackOutcome(3, 4, 0.0, 0, 0).control_rate is None
    certain = AttackOutcome(4, 4, 0.0, 4, 4)  # everybody of the control as well
    assert certain.risk == 0.0
    assert certain.evidence()["interval"][0] == 0.0
    assert 0.0 <= certain.evidence()["interval"][1] <= 1.0
