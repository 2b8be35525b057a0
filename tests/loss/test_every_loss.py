"""What every loss promises: the declared least value for an unchanged table, and more for more noise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from tests.reference.losses import CLASS_LOSSES
from tests.reference.own import load

import celosia
from celosia.parts import build, find, parts
from celosia.release.evidence.findings import measure_loss
from celosia.table.derive import new_records, with_record_ids

load("loss")
LOSSES = list(parts("loss"))
NOT_RISING = {
    "altered-records": "any noise alters every record",
    "cluster-disagreement": "clusters of noise are as good as any",
    "coefficient-overlap": "needs a target",
    "model-disagreement": "needs a target",
    "score": "counts the risk too, which falls",
    "tree-difference": "needs a target",
}
"""Losses of columns that more noise need not raise, and why."""
NUMERIC = [name for name in LOSSES if name not in CLASS_LOSSES and name not in NOT_RISING]


def mixed(n=120):
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, n)
    income = np.round(np.exp(rng.normal(8, 0.5, n)), 2)
    data = pl.DataFrame(
        {
            "age": age,
            "income": income,
            "city": rng.choice(["A", "B", "C"], n),
            "grade": rng.choice(["low", "middle", "high"], n),
            "sick": np.where(age + rng.normal(0, 10, n) > 50, "yes", "no"),
        }
    )
    schema = celosia.Schema.of(
        quasi=["age", "city", "grade"],
        sensitive=["sick"],
        orders={"grade": ["low", "middle", "high"]},
        kinds={"grade": "ordinal"},
        hierarchies={"age": "intervals(width=10)"},
    )
    return celosia.read(data, schema)


def made(name):
    cls = find("loss", name)
    required = [field for field, info in cls.model_fields.items() if info.is_required()]
    target = "income" if name == "coefficient-overlap" else "sick"
    return cls(**dict.fromkeys(required, target))


@pytest.mark.parametrize("name", LOSSES)
def test_an_unchanged_table_has_exactly_the_least_value(name):
    table, loss = mixed(), made(name)
    value = loss.value(table, table)
    assert value == loss.identity_value(table)
    assert math.isfinite(value)
    if loss.bounded:
        assert 0 <= value <= 1


@pytest.mark.parametrize("name", LOSSES)
def test_a_table_that_went_through_a_run_unchanged_has_the_least_value(name):
    table, loss = mixed(), made(name)
    same = with_record_ids(table).replace({"age": table.column("age")})
    assert loss.value(table, same) == pytest.approx(loss.identity_value(table), abs=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_a_finite_number_or_says_why_not(name):
    table, loss = mixed(), made(name)
    changed = celosia.protect(
        table,
        celosia.methods.Noise(columns=["age", "income"], p=0.5),
        celosia.methods.Pram(columns=["city", "grade"]),
        seed=5,
    )
    rows = new_records(table, changed.polars().sample(fraction=1.0, shuffle=True, seed=1))
    for protected in (changed, rows):
        finding = measure_loss(loss, table, protected)
        if finding.value is None:
            assert len(finding.reason) > 20
            continue
        value = finding.value
        assert math.isfinite(value)
        assert not loss.bounded or 0 <= value <= 1
        for text in map(str, loss.parts(table, protected)):
            assert "nan" not in text


def numbers(n=400):
    rng = np.random.default_rng(8)
    x = rng.multivariate_normal([10, 20, 30], [[4, 3, 1], [3, 5, 0], [1, 0, 2]], size=n)
    return celosia.read(pl.DataFrame(x, schema=["a", "b", "c"]))


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.sampled(6)
def test_more_noise_loses_more_on_average(name):
    table, loss = numbers(), made(name)
    means = []
    for p in (0.01, 0.1, 0.5, 2.0):
        values = []
        for seed in range(6):
            noise = celosia.methods.Noise(columns=["a", "b", "c"], p=p)
            values.append(loss.value(table, celosia.protect(table, noise, seed=seed)))
        means.append((np.mean(values), np.std(values, ddof=1) / math.sqrt(len(values))))
    for (low, error), (high, error2) in itertools.pairwise(means):
        # beyond twice the sampling error of the difference
        assert high >= low - 2 * math.hypot(error, error2), means
    assert means[-1][0] > means[0][0]


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_written_and_read_back(name):
    loss = made(name)
    assert build("loss", str(loss)) == loss == build("loss", loss.spec())


def test_losses_do_not_change_the_tables():
    table = mixed()
    before = table.polars().clone()
    for name in LOSSES:
        made(name).value(table, table)
    assert table.polars().equals(before)
