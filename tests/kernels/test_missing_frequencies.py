"""Frequencies of patterns with missing values: by hand, sdcMicro's results, a slow second way, properties."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.errors import ParameterError
from celosia.kernels.grouping.missing_frequencies import frequencies, person_frequencies


def patterns_of(rows):
    """Distinct patterns, and the pattern of every row."""
    distinct, inverse = np.unique(np.asarray(rows, dtype=np.int32), axis=0, return_inverse=True)
    return np.ascontiguousarray(distinct), inverse.ravel()


def slow(codes, counts, reading, alpha=1.0):
    """All pairs, the definition word by word."""
    result = []
    for p, own in zip(codes, counts, strict=True):
        f = own
        for q, n in zip(codes, counts, strict=True):
            if (p == q).all() or any(x >= 0 and y >= 0 and x != y for x, y in zip(p, q, strict=True)):
                continue
            p_complete, q_complete = (p >= 0).all(), (q >= 0).all()
            share = {"wildcard": 1.0, "conservative": 0.0, "alpha": alpha}[reading]
            weight = 1.0 if q_complete else share
            if reading == "alpha" and p_complete and (q < 0).all():
                weight = 0.0
            f += weight * n
        result.append(counts.sum() if (p < 0).all() else f)
    return np.array(result)


def test_by_hand():
    codes = np.array([[1, 1], [1, -1], [-1, 1], [2, 2], [-1, -1]], dtype=np.int32)
    counts = np.array([2.0, 1.0, 4.0, 3.0, 5.0])
    # (1,1): 2 + (1,·) 1 + (·,1) 4 + (·,·) 5 = 12; (1,·): 1 + 2 + 4 + 5; (·,1): 4 + 2 + 1 + 5;
    # (2,2): 3 + 5; all: 15
    assert frequencies(codes, counts, "wildcard").tolist() == [12, 12, 12, 8, 15]
    assert frequencies(codes, counts, "conservative").tolist() == [2, 3, 6, 3, 15]
    # sdcMicro: (1,1) 2 + (1 + 4)/2; (1,·) 1 + 2 + (4 + 5)/2; (·,1) 4 + 2 + (1 + 5)/2;
    # (2,2) gets nothing from (·,·)
    assert frequencies(codes, counts, "alpha", 0.5).tolist() == [4.5, 7.5, 9, 3, 15]


@pytest.mark.parametrize("reading", ["wildcard", "conservative", "alpha"])
def test_extremes(reading):
    none = np.empty((0, 2), dtype=np.int32)
    assert frequencies(none, np.empty(0), reading).shape == (0,)
    one = np.array([[-1, -1, -1]], dtype=np.int32)
    assert frequencies(one, np.array([7.0]), reading).tolist() == [7]
    complete = np.array([[0, 1], [1, 0]], dtype=np.int32)
    assert frequencies(complete, np.array([2.0, 3.0]), reading).tolist() == [2, 3]
    assert frequencies(np.empty((1, 0), dtype=np.int32), np.array([4.0]), reading).tolist() == [4]


def test_refuses():
    codes = np.zeros((2, 2), dtype=np.int32)
    with pytest.raises(ParameterError, match=r"shapes \(2, 2\) and \(3,\)"):
        frequencies(codes, np.ones(3))
    with pytest.raises(ParameterError, match=r"alpha must be in \[0, 1\], got 1.5"):
        frequencies(codes, np.ones(2), "alpha", 1.5)
    with pytest.raises(ParameterError, match="no reading of missing values named 'maybe'"):
        frequencies(codes, np.ones(2), "maybe")  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda m: st.lists(st.lists(st.integers(-1, 2), min_size=m, max_size=m), min_size=1, max_size=25)
    ),
    st.sampled_from(["wildcard", "conservative", "alpha"]),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_equals_all_pairs(rows, reading, alpha):
    codes, inverse = patterns_of(rows)
    counts = np.bincount(inverse).astype(float)
    before = codes.copy()
    f = frequencies(codes, counts, reading, alpha)
    np.testing.assert_allclose(f, slow(codes, counts, reading, alpha), rtol=1e-12)
    assert (f >= counts).all()
    assert (f <= counts.sum() + 1e-9).all()
    assert (frequencies(codes, counts, "conservative") <= frequencies(codes, counts, "wildcard")).all()
    np.testing.assert_array_equal(codes, before)


def test_many_columns_and_values():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2**31 - 1, (40, 70), dtype=np.int32)
    rows[rng.random(rows.shape) < 0.1] = -1
    rows[20:] = rows[:20]
    rows[20:, :3] = -1
    codes, inverse = patterns_of(rows)
    counts = np.bincount(inverse).astype(float)
    f = frequencies(codes, counts, "wildcard")
    np.testing.assert_array_equal(f, slow(codes, counts, "wildcard"))
    assert (f >= 2).all()


@pytest.mark.parametrize("alpha", [1, 0.5, 0])
@pytest.mark.parametrize("toy", ["t1", "t2"])
def test_toys_of_sdcmicro(shared, toy, alpha):
    case = json.loads(shared("golden/sdcmicro/freq_missing_tiny.json").read_text())[f"{toy}_alpha{alpha}"]
    rows = [[-1 if row[c] is None else row[c] for c in "abc"] for row in case["data"]]
    weights = np.array([row["w"] for row in case["data"]], dtype=float)
    codes, inverse = patterns_of(rows)
    f = frequencies(codes, np.bincount(inverse).astype(float), "alpha", alpha)[inverse]
    F = frequencies(codes, np.bincount(inverse, weights), "alpha", alpha)[inverse]
    assert f.tolist() == case["fk"]
    assert F.tolist() == case["Fk"]


@pytest.mark.parametrize("alpha", [1, 0.5, 0])
def test_testdata_of_sdcmicro(shared, alpha):
    data = pl.read_csv(shared("golden/sdcmicro/input_testdata_missing.csv.gz"))
    golden = pl.read_csv(shared("golden/sdcmicro/freq_testdata_missing_k7.csv.gz"))
    rows = data.drop("sampling_weight").fill_null(-1).to_numpy()
    codes, inverse = patterns_of(rows)
    f = frequencies(codes, np.bincount(inverse).astype(float), "alpha", alpha)[inverse]
    F = frequencies(codes, np.bincount(inverse, data["sampling_weight"]), "alpha", alpha)[inverse]
    np.testing.assert_allclose(f, golden[f"fk_a{alpha}"], rtol=1e-12)
    np.testing.assert_allclose(F, golden[f"Fk_a{alpha}"], rtol=1e-12)


# -- persons -------------------------------------------------------------------------------------------------------------


def slow_persons(rows, reading, alpha, weights):
    """Each row against all rows, the definition word by word; a person counts once, with the mean weight that counts."""
    result = []
    for p, _ in rows:
        found: dict[int, list[tuple[float, float]]] = {}
        for (q, who), weight in zip(rows, weights, strict=True):
            if any(x >= 0 and y >= 0 and x != y for x, y in zip(p, q, strict=True)):
                continue
            part = {"wildcard": 1.0, "conservative": 0.0, "alpha": alpha}[reading]
            if reading == "alpha" and alpha > 0 and min(p) >= 0 and max(q) < 0:
                part = 0.0
            if p == q or min(q) >= 0 or max(p) < 0:
                part = 1.0
            if part > 0:
                found.setdefault(who, []).append((part, weight))
        result.append(sum(max(a for a, _ in own) * sum(w for _, w in own) / len(own) for own in found.values()))
    return result


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.tuples(*[st.integers(-1, 1)] * 3), st.integers(0, 4)), min_size=1, max_size=20),
    st.sampled_from([("wildcard", 1.0), ("conservative", 0.0), ("alpha", 0.5), ("alpha", 0.0), ("alpha", 1.0)]),
    st.booleans(),
)
def test_persons_by_all_pairs_of_rows(rows, how, weighted):
    reading, alpha = how
    codes, pattern = patterns_of([q for q, _ in rows])
    own = np.arange(1.0, len(rows) + 1) if weighted else np.ones(len(rows))
    pair, inverse = np.unique(np.column_stack([pattern, [who for _, who in rows]]), axis=0, return_inverse=True)
    weights = (np.bincount(inverse, weights=own), np.bincount(inverse).astype(float)) if weighted else None
    found = person_frequencies(codes, pair[:, 0], pair[:, 1], reading, alpha, weights)
    assert found[pattern] == pytest.approx(slow_persons(rows, reading, alpha, own))


def test_as_many_persons_as_rows_are_counted_as_rows():
    rng = np.random.default_rng(1)
    codes, pattern = patterns_of(rng.integers(-1, 3, (400, 4)))
    counts = np.bincount(pattern).astype(float)
    for reading in ("wildcard", "conservative"):
        found = person_frequencies(codes, pattern, np.arange(400), reading)
        assert (found == frequencies(codes, counts, reading)).all()


def test_one_person_with_many_patterns_is_one():
    codes = patterns_of(np.random.default_rng(1).integers(-1, 3, (400, 4)))[0]
    everything = np.arange(len(codes))
    assert (person_frequencies(codes, everything, np.zeros(len(codes), dtype=np.int64)) == 1).all()
