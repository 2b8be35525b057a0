"""Cramér's V, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

import celosia.kernels.statistics.association as kernel
from celosia.kernels.statistics.association import cramers_matrix, cramers_v


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=2, max_size=60))
def test_v_is_that_of_scipy(pairs):
    a, b = np.array(pairs).T
    rows, columns = np.unique(a), np.unique(b)
    table = np.array([[int(((a == r) & (b == c)).sum()) for c in columns] for r in rows])
    expected = 0.0 if min(table.shape) < 2 else association(table, method="cramer")
    assert cramers_v(a, b) == pytest.approx(expected, abs=1e-9)


def test_a_constant_column_depends_on_nothing():
    assert cramers_matrix(np.array([[0, 1], [0, 2], [0, 3]])).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_codes_of_many_values_need_no_wide_table():
    codes = np.arange(100_000, dtype=np.int64)
    assert cramers_v(codes, codes[::-1].copy()) == pytest.approx(1.0)


def test_counting_by_sorting_gives_the_same_numbers(monkeypatch):
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(-3, high, 300) for high in (1, 4, 20)])
    dense = cramers_matrix(codes)
    monkeypatch.setattr(kernel, "DENSE", 0)
    assert (cramers_matrix(codes) == dense).all()
