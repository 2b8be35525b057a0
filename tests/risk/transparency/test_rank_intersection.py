"""The window of a rank swapping undoes it: against a brute-force second way, and the order of the published results."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable
from celosia.kernels.neighbours.swap import pairs_buckets
from celosia.risk.attacks.transparency.exchange import places
from celosia.risk.attacks.transparency.rank_intersection import RankIntersection


def swapped(table, columns, window, seed=1, **options):
    return celosia.protect(table, celosia.methods.RankSwap(columns=columns, window=window, **options), seed=seed)


def brute_force(original: np.ndarray, protected: np.ndarray, window: float) -> tuple[float, float]:
    """Share of right links and share of single right candidates, by the ranks of an n × n comparison of each column."""
    n = len(original)
    possible = np.ones((n, n), bool)
    for x, y in zip(original.T, protected.T, strict=True):
        first = (y[None, :] < x[:, None]).sum(axis=1)
        last = (y[None, :] <= x[:, None]).sum(axis=1) - 1
        own_first, own_last = (y[None, :] < y[:, None]).sum(axis=1), (y[None, :] <= y[:, None]).sum(axis=1) - 1
        gap = np.maximum(own_first[None, :] - last[:, None], first[:, None] - own_last[None, :])
        possible &= gap <= int(window * n + 1e-9)
    count, own = possible.sum(axis=1), np.diag(possible)
    return float((own / np.maximum(count, 1)).mean()), float(((count == 1) & own).mean())


@pytest.mark.parametrize("window", [0.01, 0.05, 0.1, 0.2])
@pytest.mark.parametrize(("file", "columns", "rows"), [("census.csv", 13, 1080), ("eia.csv", 10, 700)])
def test_links_are_those_of_brute_force_on_the_reference_files(shared, file, columns, rows, window):
    data = pl.read_csv(shared(f"data/{file}"))[:rows, -columns:]
    table = celosia.read(data)
    protected = swapped(table, data.columns, window)
    found = RankIntersection().evidence(table, protected)
    links, single = brute_force(*(frame.to_numpy().astype(float) for frame in (data, protected.polars())), window)
    assert found["value"] == pytest.approx(links, abs=1e-12)
    assert found["single"] == pytest.approx(single, abs=1e-12)
    assert found["value"] > found["control"] > found["baseline"]


def test_on_census_the_published_window_finds_most_people_and_the_other_steps_fewer(shared):
    """Nin, Herranz & Torra (2008): plain rank swapping falls to the attack, p-distribution and p-buckets resist."""
    data = pl.read_csv(shared("data/census.csv"))
    table = celosia.read(data)
    kinds = ("uniform", "normal", "buckets")
    links = {
        kind: np.mean(
            [RankIntersection().value(table, swapped(table, data.columns, 0.2, seed, step=kind)) for seed in range(3)]
        )
        for kind in kinds
    }
    assert links["uniform"] > 0.65
    assert links["normal"] < 0.4 * links["uniform"]
    assert links["buckets"] < 0.75 * links["uniform"]


def test_the_right_record_is_always_a_candidate_in_strata_and_by_the_window_of_the_evidence():
    rng = np.random.default_rng(3)
    data = pl.DataFrame({"a": rng.normal(size=300), "b": rng.integers(0, 9, 300), "s": rng.integers(0, 3, 300)})
    table = celosia.read(data)
    for options in ({"within": ["s"]}, {"correlation": 0.99}, {"joint": True}):
        protected = swapped(table, ["a", "b"], 0.2, **options)
        records = RankIntersection().records(table, protected)
        assert (records["risk"] > 0).all(), options
        assert np.allclose(records["risk"], 1 / records["candidates"]), options


def test_two_swaps_of_a_column_add_their_windows():
    data = pl.DataFrame({"a": np.random.default_rng(3).normal(size=200)})
    table = celosia.read(data)
    protected = swapped(swapped(table, ["a"], 0.1), ["a"], 0.05, seed=2)
    assert (RankIntersection().records(table, protected)["risk"] > 0).all()


def test_dates_and_ordinal_columns_are_ranked_in_their_order():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(40)]
    data = pl.DataFrame({"day": days, "size": ["L", "S", "M", None] * 10})
    schema = celosia.Schema.of(kinds={"size": "ordinal"}, orders={"size": ["S", "M", "L"]})
    table = celosia.read(data, schema)
    found = RankIntersection().records(table, swapped(table, ["day", "size"], 0.1))
    assert (found["risk"] > 0).all()
    assert found["candidates"].max() < 20


def test_households_are_ranked_once_each():
    rng = np.random.default_rng(5)
    home = np.repeat(np.arange(60), rng.integers(1, 6, 60))
    data = pl.DataFrame({"home": home, "rent": rng.permutation(60).astype(float)[home]})
    table = celosia.read(data, celosia.Schema.of(household="home"))
    assert (RankIntersection().records(table, swapped(table, ["rent"], 0.05))["risk"] > 0).all()


def test_a_file_that_was_read_back_is_attacked_with_the_method_of_its_certificate():
    data = pl.DataFrame(np.random.default_rng(1).normal(size=(100, 4)), schema=list("abcd"))
    table = celosia.read(data)
    protected = swapped(table, list("abcd"), 0.1)
    again = celosia.read(protected.polars())
    with pytest.raises(NotApplicable, match="no step of the protected table is one of rank-swap"):
        RankIntersection().value(table, again)
    given = RankIntersection(method="rank-swap(columns=[a, b, c, d], window=0.1)")
    assert given.value(table, again) == RankIntersection().value(table, protected)


def test_some_persons_are_attacked_when_there_are_many():
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"who": np.arange(400) // 2, "x": rng.normal(size=400), "y": rng.normal(size=400)})
    table = celosia.read(data, celosia.Schema.of(person="who"))
    protected = swapped(table, ["x", "y"], 0.05)
    part = RankIntersection(attacks=50)
    records = part.records(table, protected)
    assert records["risk"].is_not_null().sum() == 100
    assert data["who"].filter(records["risk"].is_not_null()).n_unique() == 50
    full = RankIntersection().records(table, protected)["risk"]
    assert records["risk"].drop_nulls().to_list() == full.filter(records["risk"].is_not_null()).to_list()
    assert part.evidence(table, protected)["records"] == 50


def test_a_value_between_two_released_ones_takes_both_ranks():
    low, high, size = places(
        np.array([4.0, np.nan, 99.0]), np.zeros(3, int), np.array([1.0, 3, 5, 7]), np.zeros(4, int)
    )
    assert (low.tolist(), high.tolist(), size.tolist()) == ([1, -1, 3], [2, -1, 3], [4, 0, 4])


def test_partners_by_buckets_halve_from_bucket_to_bucket():
    n, size = 40_000, 100
    gap = np.abs(np.arange(n) // size - pairs_buckets(n, size, np.random.default_rng(1)) // size)
    middle = gap[n // 4 : 3 * n // 4]
    share = np.array([(middle == g).mean() for g in range(5)])
    ratio = share[1:] / share[:-1]  # the own bucket is half used up when its later values seek a partner
    assert np.all((ratio[1:] > 0.45) & (ratio[1:] < 0.65)), share
    assert middle.max() > 6
