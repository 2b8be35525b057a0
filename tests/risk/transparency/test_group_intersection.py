"""Groups that were made apart undo each other: bounds that always hold, and the order of the published results."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable
from celosia.risk.attacks.transparency.aggregates import neighbouring_means
from celosia.risk.attacks.transparency.group_intersection import GroupIntersection


def blocks(columns, size, k):
    return [celosia.methods.Microaggregate(columns=columns[i : i + size], k=k) for i in range(0, len(columns), size)]


def test_the_smaller_the_blocks_the_more_links_and_the_larger_k_the_fewer(shared):
    """The order of Nin, Herranz & Torra (2008) on census: one by one, blocks of 2, 3, 5, all columns together."""
    data = pl.read_csv(shared("data/census.csv"))
    table = celosia.read(data)

    def links(size, k):
        steps = (
            blocks(data.columns, size, k)
            if size > 1
            else [celosia.methods.IndividualRanking(columns=data.columns, k=k)]
        )
        return GroupIntersection().evidence(table, celosia.protect(table, *steps))

    found = {k: [links(size, k)["value"] for size in (1, 2, 3, 5, 13)] for k in (5, 20)}
    for k, values in found.items():
        assert values == sorted(values, reverse=True), (k, values)
        assert values[0] > 0.99
        assert values[-1] <= 1 / k
    assert all(few <= many for few, many in zip(found[20], found[5], strict=True))
    assert [links(size, 20)["blocks"] for size in (1, 3, 13)] == [13, 5, 1]
    five = links(5, 20)
    assert five["value"] > five["control"]


def test_a_projection_is_undone_by_whoever_knows_of_it(shared):
    data = pl.read_csv(shared("data/census.csv"))
    table = celosia.read(data)
    found = GroupIntersection().evidence(
        table, celosia.protect(table, celosia.methods.ProjectionMicroaggregate(columns=data.columns, k=3))
    )
    assert found["control"] < 0.1
    assert 0.25 < found["value"] <= 1 / 3
    assert found["due_to_the_certificate"]


@pytest.mark.parametrize("optimal", [True, False])
def test_the_own_record_is_always_within_the_bounds(optimal):
    rng = np.random.default_rng(2)
    data = pl.DataFrame(
        {"a": rng.integers(0, 30, 200) * 1.0, "b": rng.exponential(size=200), "s": rng.integers(0, 2, 200)}
    )
    data = data.with_columns(b=pl.when(pl.col("b") > 2).then(None).otherwise(pl.col("b")))
    table = celosia.read(data)
    for within in ((), ("s",)):
        step = celosia.methods.IndividualRanking(columns=["a", "b"], k=4, optimal=optimal, within=within)
        protected = celosia.protect(table, step)
        for name in ("a", "b"):
            x, y = table.numeric([name])[:, 0], protected.numeric([name])[:, 0]
            stratum = data["s"].to_numpy() if within else np.zeros(200, int)
            low, high = neighbouring_means(x, stratum, y, stratum)
            known = ~np.isnan(x)
            assert ((low <= y) & (y <= high))[known].all()


def test_one_block_leaves_the_group_and_its_size_is_the_limit():
    data = pl.DataFrame(np.random.default_rng(3).normal(size=(120, 3)), schema=list("abc"))
    table = celosia.read(data)
    for method in ("microaggregate", "variable-microaggregate", "mixed-microaggregate", "projection-microaggregate"):
        protected = celosia.protect(table, {"use": method, "columns": ["a", "b", "c"], "k": 4})
        records = GroupIntersection().records(table, protected)
        assert records["risk"].max() <= 0.25, method
        assert records["candidates"].min() >= 4, method


def test_categories_alone_are_refused():
    data = pl.DataFrame({"job": list("aabbccdd")})
    table = celosia.read(data, celosia.Schema.of(kinds={"job": "nominal"}))
    protected = celosia.protect(table, "mixed-microaggregate(columns=[job], k=2)")
    with pytest.raises(NotApplicable, match="holds numbers"):
        GroupIntersection().value(table, protected)
