"""Columns as cells, and what cells tell: against plain loops over records and cells."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from celosia.errors import DataError, ParameterError
from celosia.kernels.fuzzy.anonymity import possibility_curve, q_anonymity
from celosia.kernels.fuzzy.cardinality import at_least
from celosia.kernels.fuzzy.closeness import equal_map, individual_distances, ordered_map
from celosia.kernels.fuzzy.coding import FuzzyCoding, facts, known_degrees
from celosia.kernels.fuzzy.diversity import cell_counts, own_posterior, posterior, shares
from celosia.kernels.fuzzy.labels import linguistic_labels
from celosia.kernels.fuzzy.partitions import recode_labels
from celosia.kernels.fuzzy.sets import FuzzySet

AGES = {"age": {"young": "(-inf;30;40)", "old": "(30;40;inf)"}}
TOWNS = {"zip": {"centre": "{47677, 47602}", "out": "{1.5, 07}"}}


def words(*values: str | None) -> np.ndarray:
    return np.array(values, dtype=object)


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        (np.array([47677.0, 7.0, np.nan, 1.5]), [0, 1, 2, 1]),  # numbers are compared as numbers
        (words("47677", "07", None, "1.5"), [0, 1, 2, 1]),  # and texts as they are
    ],
)
def test_sets_of_values_fit_numbers_and_texts(values, cells):
    (found,) = FuzzyCoding(sets=TOWNS).partitions({"zip": values})
    assert found.codes.tolist() == cells
    assert found.names == ("centre", "out", "missing")
    numbers = np.array([[47602.0], [7.0], [8.0]])
    if values.dtype.kind == "f":
        assert known_degrees(found.parameters, numbers).tolist() == [[1, 0], [0, 1], [0, 0]]


def test_texts_that_only_look_like_the_number_do_not_fit():
    with pytest.raises(ParameterError, match="the degrees of 1 of 2 records sum to 0 … 1"):
        FuzzyCoding(sets=TOWNS).partitions({"zip": words("47677", "7")})
    assert FuzzySet.parse("{a, b}")(np.array([1.0, np.nan])).tolist() == [0.0, 0.0]
    with pytest.raises(DataError, match="holds text, but its sets are for numbers"):
        FuzzyCoding(sets=AGES).partitions({"age": words("1", "2")})


def test_fuzzy_and_crisp_columns_are_crossed():
    columns = {
        "age": np.array([20.0, 34.0, np.nan, 50.0, 34.0]),
        "sex": words("f", "m", "f", None, "m"),
        "pay": np.array([1.0, 1.0, 2.0, 2.0, 2.0]),  # few values: cells of their own
    }
    cells = FuzzyCoding(sets=AGES, cells=2).cross(columns)
    assert cells.fuzzy_columns == ("age",)
    assert cells.crisp_columns == ("sex", "pay")
    assert cells.names == (("young",), ("old",), ("missing",))
    # 34 lies six tenths of the way down: young 0.6, old 0.4
    assert cells.degrees == pytest.approx(np.array([[1, 0, 0], [0.6, 0.4, 0], [0, 0, 1], [0, 1, 0], [0.6, 0.4, 0]]))
    assert [cells.group_names[g] for g in cells.group] == [
        ("f", "1"), ("m", "1"), ("f", "2"), ("missing", "2"), ("m", "2"),
    ]  # fmt: skip
    blocks = {cells.group_names[number]: rows.tolist() for number, rows, _ in cells.blocks()}
    assert blocks == {("f", "1"): [0], ("f", "2"): [2], ("m", "1"): [1], ("m", "2"): [4], ("missing", "2"): [3]}
    for _, rows, degrees in cells.blocks():
        assert np.array_equal(degrees, cells.degrees[rows])


@pytest.mark.parametrize("norm", ["product", "min"])
def test_two_fuzzy_columns_make_a_grid(norm):
    sets = {**AGES, "pay": {"low": "(-inf;0;1)", "high": "(0;1;inf)"}}
    columns = {"age": np.array([20.0, 34.0]), "pay": np.array([0.25, 0.5])}
    cells = FuzzyCoding(sets=sets, norm=norm).cross(columns)
    assert cells.names == tuple(product(("young", "old"), ("low", "high")))
    age, pay = [(1.0, 0.0), (0.6, 0.4)], [(0.75, 0.25), (0.5, 0.5)]
    join = (lambda a, b: a * b) if norm == "product" else min
    expected = [[join(a, b) for a in age[i] for b in pay[i]] for i in range(2)]
    assert cells.degrees == pytest.approx(np.array(expected))


def test_too_many_cells_and_unknown_columns_are_refused():
    many = {f"x{i}": np.random.default_rng(i).normal(size=40) for i in range(3)}
    with pytest.raises(ParameterError, match="make 8000 cells, more than 4096"):
        FuzzyCoding(cells=20, starts=1).cross(many)
    with pytest.raises(ParameterError, match="'age', which is not among x"):
        FuzzyCoding(sets=AGES).partitions({"x": np.zeros(3)})
    with pytest.raises(ParameterError, match="one column at a time"):
        FuzzyCoding(coding="global-recode", joint=True).partitions(many)


@pytest.mark.parametrize(
    ("coding", "joint"),
    [*product(["c-means", "gustafson-kessel", "k-means"], [False, True]), ("global-recode", False)],
)
def test_found_cells_give_the_same_records_the_same_degrees(coding, joint):
    rng = np.random.default_rng(1)
    columns = {name: np.append(rng.normal(size=60) * size, np.nan) for name, size in (("a", 1.0), ("b", 500.0))}
    found = FuzzyCoding(coding=coding, joint=joint, cells=4).partitions(columns, seed=3)
    assert [p.columns for p in found] == ([("a", "b")] if joint else [("a",), ("b",)])
    for part in found:
        x = np.column_stack([columns[name] for name in part.columns])
        assert part.names[-1] == "missing"
        assert part.memberships.sum(axis=1) == pytest.approx(np.ones(61))
        assert part.memberships[60].tolist() == [0, 0, 0, 0, 1]
        assert known_degrees(part.parameters, x[:60]) == pytest.approx(part.memberships[:60, :4], abs=1e-6)
        assert known_degrees(part.parameters, x[:0]).shape == (0, 4)
        if not joint:  # cells go up with the column, and what lies beyond belongs to the outermost
            means = [x[:60, 0] @ part.memberships[:60, i] / part.memberships[:60, i].sum() for i in range(4)]
            assert means == sorted(means)
            assert part.ranks[:, 0].tolist() == [0, 1, 2, 3]
            if coding != "gustafson-kessel":
                beyond = known_degrees(part.parameters, np.array([[x[:60].min() * 2], [x[:60].max() * 2]]))
                assert beyond.argmax(axis=1).tolist() == [0, 3]


def test_intervals_are_closed_above_and_nothing_else_belongs_to_them():
    assert recode_labels([0.9, 1, 2, 2.1, 4, 4.1, np.nan], [1, 2, 4]).tolist() == [-1, 0, 0, 1, 1, -1, -1]


def test_public_facts_of_a_partition():
    (found,) = FuzzyCoding(sets=AGES).partitions({"age": np.array([20.0, 35.0, 50.0])})
    assert facts(found) == {"columns": ["age"], "cells": 2, "robust": True, "normal": True, "undecided": 0.0}
    thirds = {"x": {"a": "(-inf;0;3)", "b": "(0;3;inf)"}, "y": {"a": "(-inf;0;3)", "b": "(0;3;inf)"}}
    both = FuzzyCoding(sets=thirds).cross({"x": np.array([1.5]), "y": np.array([1.5])})
    assert both.degrees.tolist() == [[0.25] * 4]


@pytest.mark.parametrize("aggregate", ["mean", "min", "product", "weighted"])
def test_curves_do_not_depend_on_the_cut_into_blocks(aggregate):
    mu = np.random.default_rng(2).random((7, 5))
    mu[:, 3] = 0.0  # nobody belongs to it: it does not count
    whole = possibility_curve([mu], aggregate)
    used = [0, 1, 2, 4]
    chances = np.array([[float(at_least(mu[:, i], k)) for i in used] for k in range(8)])
    weights = mu[:, used].sum(axis=0)
    expected = {
        "mean": chances.mean(axis=1),
        "min": chances.min(axis=1),
        "product": chances.prod(axis=1),
        "weighted": chances @ weights / weights.sum(),
    }[aggregate]
    assert whole == pytest.approx(expected)
    assert possibility_curve([mu[:, :2], mu[:, 2], mu[:, 3], mu[:, 4:]], aggregate) == pytest.approx(expected)
    assert (np.diff(whole) <= 1e-12).all()
    # a block of fewer records cannot hold more than they are
    short = possibility_curve([mu, mu[:3, :1]], aggregate)
    assert len(short) == 8
    assert q_anonymity(short, 1.0) == 0


def test_the_largest_possible_q_by_hand():
    curve = np.array([1.0, 0.9, 0.5, 0.5 - 1e-15, 0.2])
    assert [q_anonymity(curve, p) for p in (1.0, 0.9, 0.5, 0.3, 0.2)] == [0, 1, 3, 3, 4]
    assert q_anonymity(possibility_curve([]), 0.5) == 0
    crisp = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1.0]])  # classes of 3 and 2
    assert q_anonymity(possibility_curve([crisp], "min"), 1.0) == 2


@pytest.mark.parametrize("counting", ["sigma", "count"])
def test_posteriors_against_plain_loops(counting):
    rng = np.random.default_rng(3)
    groups = np.array([0, 4, 4, 0, 9, 9, 9, 2])
    place = {0: 0, 4: 1, 9: 2, 2: 3}
    degrees = rng.dirichlet(np.ones(3), 4)
    mu = degrees[[place[g] for g in groups]]
    codes = np.array([0, 1, 0, 2, 1, 1, -1, 2])
    counted = np.array([0, 1, 2, 3, 4, 6, 7])  # record 5 is the same person's as record 4
    counts = cell_counts(mu, codes, 3, counting)
    for i, s in product(range(3), range(3)):
        own = mu[codes == s, i]
        size = own.sum() if counting == "sigma" else (own > 0.5).sum()
        assert counts[i, s] == pytest.approx(size)
    totals = mu[codes >= 0].sum(axis=0)
    beta = own_posterior(mu, groups, codes, counts, totals, counted)
    assert np.isnan(beta[6])
    for r in [0, 1, 2, 3, 4, 5, 7]:
        prior = np.zeros(3)
        for other in counted:
            if groups[other] == groups[r] and codes[other] >= 0:
                prior[codes[other]] += 1
        prior = prior / prior.sum()
        g = []
        for s in range(3):
            n = sum(mu[r, i] * counts[i, s] for i in range(3))
            f = sum(mu[r, i] * counts[i, s] / totals[i] for i in range(3))
            g.append(n * prior[s] / f if f > 0 else 0.0)
        assert beta[r] == pytest.approx(g[codes[r]] / sum(g) if sum(g) > 0 else np.nan, nan_ok=True)


def test_a_cell_that_holds_nothing_has_no_shares():
    assert shares(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist() == [[0.25, 0.75], [0.0, 0.0]]
    g, beta = posterior(np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]]), np.array([[1.0, 3.0], [0.0, 0.0]]))
    assert g.tolist() == [[0.0, 0.0]]
    assert np.isnan(beta).all()  # 0/0: nothing is known of the value, not that it is impossible


def test_distances_of_mixtures_by_hand():
    # cells all at the first and all at the last of three values, the table even: 1/3 each
    gaps = np.array([[1.0, 0, 0], [0, 0, 1.0]]) - 1 / 3
    mu = np.array([[1.0, 0.0], [0.5, 0.5]])
    # equal: (2/3 + 1/3 + 1/3)/2 = 2/3; the mixture 1/2 0 1/2: (1/6 + 1/3 + 1/6)/2 = 1/3
    assert individual_distances(mu, equal_map(gaps)) == pytest.approx([2 / 3, 1 / 3])
    # ordered: running sums 2/3, 1/3 over 2 steps; of the mixture 1/6, -1/6
    assert individual_distances(mu, ordered_map(gaps)) == pytest.approx([1 / 2, 1 / 6])


def test_labels_name_as_many_cells_as_there_are():
    for count, language in product(range(9), ("en", "es", "ca")):
        labels = linguistic_labels(count, language)
        assert len(set(labels)) == count
    assert linguistic_labels(1) == ("medium",)
    assert linguistic_labels(2, "ca") == ("baix", "alt")
    assert linguistic_labels(6, "es")[0] == "nivel 1"
