"""Probabilistic linkage: pattern counts by hand, EM on simulated pairs, the census file against itself."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.errors import DataError, ParameterError
from celosia.kernels.grouping.agreement import count_patterns
from celosia.risk.attacks.linking.record_linkage import Weights, Windows, fellegi_sunter, match, thresholds


def windows(x, y, tolerance):
    return Windows.of(list(x.T), list(y.T), np.asarray(tolerance, dtype=float))


def agreement(x, y, tolerance):
    """All pairs, one by one."""
    with np.errstate(invalid="ignore"):
        agree = np.abs(x[:, None] - y[None]) <= np.asarray(tolerance) * (1 + 1e-12)
    return agree @ (1 << np.arange(x.shape[1]))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 3), st.integers(1, 15), st.integers(1, 15), st.integers(0, 10_000))
def test_counts_and_links_equal_all_pairs(columns, n, m, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 5, (n, columns)).astype(float), rng.integers(0, 5, (m, columns)).astype(float)
    x[rng.random(x.shape) < 0.1] = np.nan
    y[rng.random(y.shape) < 0.1] = np.nan
    tolerance = rng.integers(0, 2, columns)
    w = windows(x, y, tolerance)
    patterns = agreement(x, y, tolerance)
    counts = count_patterns(w.orders, w.starts, w.stops, 4).sum(axis=0)
    assert counts.tolist() == np.bincount(patterns.ravel(), minlength=1 << columns).tolist()
    weights = Weights(rng.uniform(0.6, 0.95, columns), rng.uniform(0.05, 0.4, columns), 0.1, 0, counts)
    truth = rng.integers(-1, m, n)
    found = match(w, weights, truth)
    scores = weights.scores()[patterns]
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-9
    assert found.tied.tolist() == best.sum(axis=1).tolist()
    assert found.first.tolist() == best.argmax(axis=1).tolist()
    right = np.array([t >= 0 and best[i, t] for i, t in enumerate(truth)])
    np.testing.assert_allclose(found.correct, right / best.sum(axis=1))


def test_em_finds_the_parameters():
    # 400 people, 6 columns of 10 values; a column keeps its value with probability 0.9
    rng = np.random.default_rng(1)
    n = 400
    x = rng.integers(0, 10, (n, 6)).astype(float)
    y = np.where(rng.random(x.shape) < 0.9, x, rng.integers(0, 10, x.shape))
    weights = fellegi_sunter(windows(x, y, np.zeros(6)))
    np.testing.assert_allclose(weights.m, 0.91, atol=0.04)
    np.testing.assert_allclose(weights.u, 0.1, atol=0.01)
    assert weights.share * n * n == pytest.approx(n, rel=0.1)
    assert match(windows(x, y, np.zeros(6)), weights, np.arange(n)).correct.mean() > 0.97


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["AFNLWGT", "EMCONTRB", "FEDTAX", "STATETAX", "TAXINC", "INTVAL", "FICA", "WSALVAL", "ERNVAL"], 0.998),
        (["FEDTAX", "TAXINC", "WSALVAL", "ERNVAL"], 0.422),
    ],
)
def test_census_against_itself(shared, columns, expected):
    x = pl.read_csv(shared("data/census.csv"))[columns].to_numpy().astype(float)
    w = windows(x, x, 0.1 * x.std(axis=0))
    assert match(w, fellegi_sunter(w), np.arange(1080)).correct.mean() == pytest.approx(expected, abs=5e-4)


def test_thresholds_bound_the_errors():
    weights = Weights(np.array([0.9, 0.8]), np.array([0.1, 0.2]), 0.01, 1, np.zeros(4, dtype=int))
    # patterns by falling score: 11, 01, 10, 00 (bit 0 is the first column); u: .02, .08, .18, .72; m: .72 .18 .08 .02
    score = weights.scores()
    upper, lower = thresholds(weights, 0.1, 0.1)
    assert upper == pytest.approx(score[0b01])
    assert lower == pytest.approx(score[0b10])
    assert thresholds(weights, 0.001, 0.001) == (np.inf, -np.inf)
    # bounds that overlap leave no pair undecided
    upper, lower = thresholds(weights, 1.0, 1.0)
    assert lower <= upper


def test_refuses():
    with pytest.raises(ParameterError, match="between 1 and 18 columns can be compared, got 19"):
        windows(np.zeros((2, 19)), np.zeros((2, 19)), np.zeros(19))
    with pytest.raises(DataError, match="without records"):
        fellegi_sunter(windows(np.zeros((0, 1)), np.zeros((2, 1)), np.zeros(1)))
