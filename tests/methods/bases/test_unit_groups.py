"""Groups of at least k persons, what stands for a group, and what that loses; classes that get one value."""

from __future__ import annotations

import math
import statistics

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError
from celosia.methods.bases import class_aggregates, unit_groups
from celosia.methods.bases.units import Units


def table(columns, **schema):
    return celosia.read(pl.DataFrame(columns), celosia.Schema.of(**schema))


def pairs(cells, _):
    """Groups of two neighbours in the order of the first column; the last of an odd number joins."""
    rank = np.argsort(np.argsort(cells[:, 0], kind="stable"), kind="stable")
    return np.minimum(rank // 2, max(len(cells) // 2 - 1, 0))


def group_units(columns, names, k=2, within=(), blank_stay=False, **schema):
    data = table(columns, **schema)
    return data, unit_groups.group_units("who", data, names, k, within, pairs, blank_stay=blank_stay)


def test_scaling_by_hand():
    # mean 3, deviation sqrt((4 + 0 + 4) / 3); a constant column becomes zero
    x = np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 7.0]])
    sd = math.sqrt(8 / 3)
    assert unit_groups.scale(x, standardise=True) == pytest.approx(np.array([[-2 / sd, 0], [0, 0], [2 / sd, 0]]))
    assert unit_groups.scale(x, standardise=False) == pytest.approx(np.array([[-2.0, 0], [0, 0], [2.0, 0]]))


def test_records_are_grouped_with_those_that_lack_the_same():
    x = {"a": [1.0, 2.0, 3.0, 4.0, None, None], "b": [1.0, 1.0, None, None, None, None]}
    _, found = group_units(x, ["a", "b"])
    assert [found.group[i] == found.group[i + 1] for i in (0, 2, 4)] == [True] * 3
    assert len(set(found.group.tolist())) == 3
    assert found.group.min() == 0
    assert found.group.max() == 2


@pytest.mark.parametrize(
    ("columns", "within", "told"),
    [
        ({"a": [1.0]}, (), r"k is 2, but there are only 1 records\. Lower k\.$"),
        ({"a": [1.0, 2.0, 3.0], "s": [0, 0, 1]}, ("s",), r"only 1 records in a stratum\. Lower k, or join strata\.$"),
        ({"a": [1.0, 2.0, None]}, (), r"only 1 records with the same missing values\. Fill in or suppress missing"),
        (
            {"a": [1.0, 2.0, 3.0, None], "s": [0, 0, 1, 1]},
            ("s",),
            r"only 1 records in a stratum with the same missing values\. Fill in",
        ),
    ],
)
def test_too_few_are_refused_with_the_reason(columns, within, told):
    with pytest.raises(DataError, match=rf"^who: .*{told}"):
        group_units(columns, ["a"], within=within)


def test_blank_records_may_stay_though_they_are_few():
    data, found = group_units({"a": [1.0, 3.0, None]}, ["a"], blank_stay=True)
    made = unit_groups.columns(data, found, "mean")["a"]
    assert made.to_list() == [2.0, 2.0, None]
    with pytest.raises(DataError, match="only 1 records with the same missing values"):
        group_units({"a": [1.0, None, 3.0, 4.0], "b": [1.0, None, None, None]}, ["a", "b"], blank_stay=True)


def test_an_empty_table_has_no_groups():
    data, found = group_units({"a": pl.Series([], dtype=pl.Float64)}, ["a"])
    outcome = unit_groups.aggregate_groups(data, found, "mean")
    assert outcome.evidence == {"groups": 0}
    assert len(outcome.table) == 0


def test_a_person_with_all_rows_is_too_few():
    with pytest.raises(DataError, match=r"k is 2, but there are only 1 persons\. Lower k"):
        group_units({"a": [1.0, 2.0, 3.0], "p": [7, 7, 7]}, ["a"], person="p")


def joined_slowly(points, group, person, k):
    """Join every group of fewer than k persons with the one whose mean is nearest, all at once, until none is left."""
    group = list(group)
    while True:
        names = sorted(set(group))
        members = {g: [i for i, x in enumerate(group) if x == g] for g in names}
        short = [g for g in names if len({person[i] for i in members[g]}) < k]
        if not short or len(names) == 1:
            return group
        mean = {g: points[members[g]].mean(axis=0) for g in names}
        parent = {g: g for g in names}

        def root(g, parent=parent):
            return g if parent[g] == g else root(parent[g])

        for g in short:
            other = min((x for x in names if x != g), key=lambda x: float(((mean[x] - mean[g]) ** 2).sum()))
            parent[root(g)] = root(other)
        group = [root(g) for g in group]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 3])
def test_groups_are_joined_until_each_has_k_persons(seed, k):
    rng = np.random.default_rng(seed)
    n = 30
    person, points = rng.integers(0, 8, n), rng.normal(size=(n, 2))
    group = rng.integers(0, 9, n)
    data = table({"p": person, "a": points[:, 0]}, person="p")
    persons = unit_groups.Persons("who", data, Units.records(n), k)
    rows = np.arange(n)
    found = persons.join(rows, group, lambda: points)
    expected = joined_slowly(points, group.tolist(), person.tolist(), k)
    together = [[a == b for b in found] for a in found]
    assert together == [[a == b for b in expected] for a in expected]
    assert min(len(set(person[found == g])) for g in set(found.tolist())) >= k


def test_without_a_person_column_groups_stay():
    data = table({"a": [1.0, 2.0, 3.0]})
    persons = unit_groups.Persons("who", data, Units.records(3), 2)
    group = np.array([5, 5, 9])
    assert persons.join(np.arange(3), group, lambda: pytest.fail("nothing to compare")) is group


def test_what_stands_for_a_group_by_hand():
    # groups 1, 2, 30 and 40, 41: means 11 and 40.5; medians 2 and 40.5; medoid: the record nearest to the mean
    data = table({"a": [1, 2, 30, 40, 41], "b": [0, 0, 0, 1, None]})
    unit = Units.records(5)
    found = unit_groups.UnitGroups(("a",), unit, data.numeric(["a"]), np.array([0, 0, 0, 1, 1]))

    def made(how):
        return unit_groups.columns(data, found, how)["a"]

    assert made("mean").to_list() == [11.0, 11.0, 11.0, 40.5, 40.5]
    assert made("median").to_list() == [2.0, 2.0, 2.0, 40.5, 40.5]
    assert made("mean").dtype == made("median").dtype == pl.Float64
    assert made("medoid").to_list()[:3] == [2, 2, 2]
    assert made("medoid").dtype == pl.Int64
    # within: 100 + 81 + 361 + 0.25 + 0.25 = 542.5; in all, around 22.8: 475.24 + 432.64 + 51.84 + 295.84 + 331.24
    assert unit_groups.loss(found) == pytest.approx(542.5 / 1586.8)
    assert unit_groups.sizes(found.group) == {"groups": 2, "smallest": 2, "largest": 3}


def test_a_loss_is_of_records_without_gaps():
    values = np.array([[1.0], [3.0], [math.nan], [math.nan]])
    found = unit_groups.UnitGroups(("a",), Units.records(4), values, np.array([0, 0, 1, 1]))
    assert unit_groups.loss(found) == 1.0  # one group has all the variance
    nothing = unit_groups.UnitGroups(("a",), Units.records(2), values[2:], np.array([0, 0]))
    assert unit_groups.loss(nothing) == 0.0


CLASSES = np.array([0, 0, 1, 1, 1, 2])
KEPT = np.array([True, True, True, True, True, False])


def of_class(values, how, dtype=None):
    data = celosia.read(pl.DataFrame({"v": pl.Series(values, dtype=dtype)}))
    return class_aggregates.aggregate_classes("who", data, "v", how, CLASSES, KEPT)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", [3.5, 3.5, -1, -1, -1, None]),
        ("median", [3.5, 3.5, -1, -1, -1, None]),
        ("mode", [3, 3, -1, -1, -1, None]),  # of two that are as frequent the smaller
        ("interval", ["[0-5)", "[0-5)", "-1", "-1", "-1", None]),
        ("set", ["{3, 4}", "{3, 4}", "-1", "-1", "-1", None]),
    ],
)
def test_one_value_per_class(how, expected):
    """A missing value counts for nothing, a record that is not kept for no class."""
    assert of_class([4, 3, -1, None, -1, 99], how).to_list() == expected
    assert of_class([None] * 6, how, pl.Int64).to_list() == [None] * 6


def test_geometric_means_are_those_of_one_plus_the_value():
    values = [1, 8, 0, 3, 120, -50]
    found = of_class(values, "geometric-mean", pl.Int8).to_list()
    assert found[0] == pytest.approx(statistics.geometric_mean([2, 9]) - 1)
    assert found[2] == pytest.approx(statistics.geometric_mean([1, 4, 121]) - 1)
    assert found[5] is None
    # 127 and 1 do not fit into eight bits
    assert of_class([127, 127, 0, 0, 0, 0], "geometric-mean", pl.Int8)[0] == pytest.approx(127)
    assert of_class([-1, 5, 0, 0, 0, 0], "geometric-mean")[0] == -1
    with pytest.raises(DataError, match="who: column 'v' has values below -1, of which there is no geometric-mean"):
        of_class([-2, 5, 0, 0, 0, 0], "geometric-mean")


@pytest.mark.parametrize("how", ["mean", "geometric-mean", "median"])
def test_words_have_no_mean(how):
    with pytest.raises(
        DataError, match=f"'v' is not numeric, so {how} has no meaning; use mode, interval or set"
    ) as told:
        of_class(["secret"] * 6, how)
    assert "secret" not in str(told.value)


def test_words_have_a_mode_a_range_and_a_set():
    words = ["bo", "al", "cy", "cy", "di", "zoe"]
    assert of_class(words, "interval").to_list() == [
        "[a .. c)",
        "[a .. c)",
        "[c .. d…]",
        "[c .. d…]",
        "[c .. d…]",
        None,
    ]
    words = ["b", "a", "c", "c", "d", "z"]  # no beginning of a letter names less than the letter: sets
    assert of_class(words, "mode").to_list() == ["a", "a", "c", "c", "c", None]
    assert of_class(words, "interval").to_list() == of_class(words, "set").to_list()
    assert of_class(words, "set").to_list() == ["{a, b}", "{a, b}", "{c, d}", "{c, d}", "{c, d}", None]
