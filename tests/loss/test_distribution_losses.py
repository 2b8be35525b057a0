"""Losses of distributions, categories and mixed data: by hand, by another library, by another tool."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

import celosia
from celosia.errors import NotApplicable, UnknownName
from celosia.kernels.statistics import distribution_distance as distance
from celosia.loss.cells.information import EntropyLoss, MutualInformation
from celosia.loss.numbers.contingency import Contingency
from celosia.loss.numbers.distribution import Hellinger, KolmogorovSmirnov, QuantileLoss, Wasserstein
from celosia.loss.numbers.gower_loss import GowerLoss
from celosia.views.comparing.categories import categories


def table(columns, **roles):
    return celosia.read(pl.DataFrame(columns), celosia.Schema.of(**roles) if roles else None)


@pytest.mark.parametrize("seed", range(5))
def test_distances_of_numbers_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 20, 37).astype(float), rng.normal(8, 4, 23)
    assert distance.kolmogorov_smirnov(x, y) == pytest.approx(stats.ks_2samp(x, y).statistic, abs=1e-12)
    assert distance.wasserstein(x, y) == pytest.approx(stats.wasserstein_distance(x, y), rel=1e-12)
    a, b = table({"x": x}), table({"x": y})
    assert KolmogorovSmirnov().value(a, b) == distance.kolmogorov_smirnov(x, y)
    assert Wasserstein().value(a, b) == pytest.approx(stats.wasserstein_distance(x, y) / x.std())
    q = np.arange(5, 100, 5) / 100
    assert QuantileLoss().value(a, b) == pytest.approx(np.abs(np.quantile(x, q) - np.quantile(y, q)).mean() / x.std())


def test_hellinger_by_hand():
    a, b = table({"c": ["u", "u", "v", "v"]}), table({"c": ["u", "v", "v", "v"]})
    # p = (1/2, 1/2), q = (1/4, 3/4)
    expected = np.sqrt(1 - (np.sqrt(1 / 8) + np.sqrt(3 / 8)))
    assert Hellinger().value(a, b) == pytest.approx(expected)
    missing = table({"c": ["u", "u", None, None]})
    assert Hellinger().value(a, missing) == pytest.approx(np.sqrt(0.5))


def test_contingency_against_counting_by_group():
    rng = np.random.default_rng(4)
    a = pl.DataFrame({name: rng.integers(0, 3, 80).astype(str) for name in "wxyz"})
    b = pl.DataFrame({name: rng.integers(0, 4, 60).astype(str) for name in "wxyz"})
    import itertools

    orders = []
    for order in (1, 2, 3):
        found = []
        for names in itertools.combinations("wxyz", order):
            p = {k: n / 80 for *k, n in a.group_by(names).len().iter_rows() for k in [tuple(k)]}
            q = {k: n / 60 for *k, n in b.group_by(names).len().iter_rows() for k in [tuple(k)]}
            found.append(sum(abs(p.get(k, 0) - q.get(k, 0)) for k in p.keys() | q.keys()) / 2)
        orders.append(np.mean(found))
    left, right = celosia.read(a), celosia.read(b)
    assert Contingency().value(left, right) == pytest.approx(np.mean(orders))
    assert Contingency(order=1).value(left, right) == pytest.approx(orders[0])
    parts = Contingency().parts(left, right)
    assert [parts[f"{o}-way"]["mean"] for o in (1, 2, 3)] == pytest.approx(orders)
    assert parts["2-way"]["largest"] >= parts["2-way"]["mean"]


def test_a_large_table_is_counted_by_sorting():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 50, 300), rng.integers(0, 50, 200)
    few = distance.counts(a, b, 50)
    many = distance.counts(a, b, 10**12)
    assert distance.total_variation(*few) == pytest.approx(distance.total_variation(*many))


def test_bins_have_equal_counts_in_the_original():
    x = np.arange(100.0)
    found = categories(table({"x": x}), table({"x": x + 50}), bins=4)
    assert np.bincount(found.original[:, 0])[1:].tolist() == [25, 25, 25, 25]
    assert np.bincount(found.protected[:, 0], minlength=5)[1:].tolist() == [0, 0, 25, 75]


def test_entropy_by_hand():
    a = table({"c": ["u", "u", "v", "v"]})
    half = table({"c": ["u", "*", "v", "*"]})
    # the two stars are u or v: one bit each, half of the records, of one bit in all
    assert EntropyLoss().value(a, half) == pytest.approx(0.5)
    assert EntropyLoss().value(a, table({"c": ["v", "v", "u", "u"]})) == 0, "new labels tell as much"
    assert EntropyLoss().value(table({"c": ["u"] * 4}), table({"c": ["u", "v", "u", "v"]})) == 0


def test_mutual_information_by_hand():
    a = table({"x": ["u", "u", "v", "v"], "y": ["s", "s", "t", "t"], "z": ["k", "l", "k", "l"]})
    b = table({"x": ["u", "u", "v", "v"], "y": ["s", "t", "s", "t"], "z": ["k", "l", "k", "l"]})
    # x–y goes from 1 to 0, y–z from 0 to 1, x–z stays
    assert MutualInformation().value(a, b) == pytest.approx(2 / 3)
    assert MutualInformation().parts(a, b) == pytest.approx({"x": 0.5, "y": 1.0, "z": 0.5})
    with pytest.raises(NotApplicable, match="two are needed"):
        MutualInformation(columns=["x"]).value(a, b)


def test_gower_by_hand():
    roles = {"orders": {"grade": ["low", "middle", "high"]}, "kinds": {"grade": "ordinal"}}
    a = table({"grade": ["low", "middle", "high", None], "x": [0.0, 10.0, None, 5.0]}, **roles)
    b = table({"grade": ["middle", "*", "high", None], "x": [40.0, 10.0, 3.0, None]}, **roles)
    # grade: 1/2, 1, 0, 0; x: 1 (cut off), 0, 1, 1
    assert GowerLoss().parts(a, b) == {"grade": 0.375, "x": 0.75}


def test_gower_of_two_grades_is_all_or_nothing():
    roles = {"orders": {"grade": ["low", "high"]}, "kinds": {"grade": "ordinal"}}
    a, b = (table({"grade": grades}, **roles) for grades in (["low", "low", "high"], ["high", "low", "high"]))
    assert GowerLoss().value(a, b) == pytest.approx(1 / 3)


def test_gower_of_another_tool(shared):
    expected = json.loads(shared("golden/sdcmicro/IL_variables_mixed.json").read_text())
    after = pl.read_csv(shared("golden/sdcmicro/prot_testdata_mixed.csv.gz"))
    before = pl.read_csv(shared("data/testdata.csv")).select(after.columns)
    levels = sorted(before["walls"].unique().to_list())
    words = [pl.col("roof", "walls").cast(pl.String)]
    roles = {"kinds": {"walls": "ordinal"}, "orders": {"walls": [str(v) for v in levels]}}
    a, b = (celosia.read(frame.with_columns(words), celosia.Schema.of(**roles)) for frame in (before, after))
    loss = GowerLoss(numbers="atan")
    # a blank counts 1 here; there it is the arc tangent of a very large difference, 6e-9 less
    assert loss.parts(a, b) == pytest.approx(expected["contributions"], rel=1e-8)
    assert loss.value(a, b) == pytest.approx(expected["lambda"], rel=1e-8)


def test_unknown_columns_and_empty_tables_are_refused():
    a = table({"x": ["u", "v"]})
    with pytest.raises(UnknownName, match="no column named 'y'"):
        Hellinger(columns=["y"]).value(a, a)
    empty = celosia.read(pl.DataFrame({"x": []}, schema={"x": pl.String}))
    with pytest.raises(NotApplicable, match="no records"):
        Hellinger().value(a, empty)
    with pytest.raises(NotApplicable, match="constant"):
        Wasserstein().value(table({"x": [1.0, 1.0]}), table({"x": [1.0, 2.0]}))
