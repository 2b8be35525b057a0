from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.errors import ParameterError
from celosia.kernels.budget.neighbours import check_neighbours, distance, of_count, of_persons, of_sum

BASE = ["Nerva", "Commodus", "Trajan", "Hadrian"]
D1 = ["Caracalla", *BASE]
D2 = ["Tiberius", *D1]
D3 = BASE
D4 = ["Vespasian", *D1]
SICK = {"Caracalla", "Commodus", "Tiberius"}


def test_emperors():
    """Distances 1, 1, 1, 2, 2 (and 2), counts 2, 3, 1, 2, sensitivity 1."""
    assert [distance(*p) for p in [(D1, D2), (D1, D3), (D1, D4), (D3, D4), (D2, D4), (D2, D3)]] == [1, 1, 1, 2, 2, 2]
    counts = [sum(name in SICK for name in d) for d in (D1, D2, D3, D4)]
    assert counts == [2, 3, 1, 2]
    pairs = itertools.combinations([D1, D2, D3, D4], 2)
    moved = {abs(sum(n in SICK for n in a) - sum(n in SICK for n in b)) for a, b in pairs if distance(a, b) == 1}
    assert moved == {0, 1}
    assert of_count().l1 == 1


def test_histogram_costs_once_or_twice():
    assert of_count(cells=32).l1 == 1
    assert of_count("change-one", cells=32).l1 == 2
    assert of_count("change-one", cells=1).l1 == 1  # one count moves by one, however the person changes
    for of in (of_count, of_persons):
        for neighbours in ("add-remove", "change-one"):  # one cell and one record of a person, unless told otherwise
            assert of(neighbours) == of(neighbours, rows=1, cells=1)
    assert of_sum(-3, 5, "change-one") == of_sum(-3, 5, "change-one", rows=1, cells=1)


def test_refusals():
    with pytest.raises(ParameterError, match="change-one"):
        check_neighbours("bounded")
    with pytest.raises(ParameterError, match="finite"):
        of_sum(0, float("inf"))
    with pytest.raises(ParameterError):
        of_count(rows=0)


values = st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 5)), max_size=2)


@settings(max_examples=300, deadline=None)
@given(old=values, new=values)
def test_bounds_hold_for_every_pair_of_contributions(old, new):
    """A slow second way: form the sums over three cells and compare with the stated bounds."""

    def vector(rows, bound):
        out = np.zeros(3)
        for cell, value in rows:
            out[cell] += min(max(value, bound[0]), bound[1])
        return out

    def persons(rows):
        return np.array([float(any(cell == c for cell, _ in rows)) for c in range(3)])

    for bound in [(1, 1), (-3, 5), (-3, -2), (2, 5)]:
        change = vector(old, bound) - vector(new, bound)
        add = vector(new, bound)
        for neighbours, moved in [("change-one", change), ("add-remove", add)]:
            several = of_sum(*bound, neighbours, rows=2, cells=3)
            assert np.abs(moved).sum() <= several.l1 + 1e-9
            assert np.sqrt((moved**2).sum()) <= several.l2 + 1e-9
            assert abs(moved.sum()) <= of_sum(*bound, neighbours, rows=2, cells=1).l1 + 1e-9
    for neighbours, moved in [("change-one", persons(old) - persons(new)), ("add-remove", persons(new))]:
        stated = of_persons(neighbours, rows=2, cells=3)
        assert np.abs(moved).sum() <= stated.l1
        assert np.sqrt((moved**2).sum()) <= stated.l2 + 1e-9
