"""What the source documents printed: risk counts of the census experiment, inference on the adult file."""

from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl
import pytest
from tests.reference.sources import CENSUS

import celosia
from celosia.risk.attacks.inference_attack import InferenceAttack
from celosia.risk.individual_risk import IndividualRisk


def tertiles(values):
    """Global Recode as it was run: rounded tertiles, open at the lower end, so that the minimum falls out (-1)."""
    breaks = np.round(np.quantile(values, [0, 1 / 3, 2 / 3, 1]))
    return np.where(values > breaks[0], np.searchsorted(breaks[1:3], values, side="left"), -1)


def test_risk_counts_of_global_recode_on_the_census(shared):
    """All 55 pairs of Table 5.2: records whose risk exceeds the median by two robust deviations."""
    text = shared("spec/000-fuzzy-privacy.md").read_text()
    block = text[text.index("a,b,km_k,km_risk,km_l1,km_t1,km_l2,km_t2,gr_k") :].split("```")[0]
    data = pl.read_csv(shared("data/census.csv"))
    labels = [tertiles(data[:, j].to_numpy().astype(float)) for j in range(13)]
    checked = 0
    for row in csv.DictReader(io.StringIO(block)):
        a, b = labels[int(row["a"]) - 1], labels[int(row["b"]) - 1]
        kept = (a >= 0) & (b >= 0)
        table = celosia.read(pl.DataFrame({"a": a[kept], "b": b[kept]}), celosia.Schema.of(quasi=["a", "b"]))
        evidence = IndividualRisk().evidence(table)
        assert evidence["risky"] == int(row["gr_risk"]), (row["a"], row["b"])
        assert round(1 / evidence["highest"]) == int(row["gr_k"])
        checked += 1
    assert checked == 55


def test_accuracy_without_a_baseline_means_nothing(shared):
    """Race on the adult file: 80 % right by a tree, and yet worse than always saying the most frequent value."""
    data = pl.read_csv(shared("data/adult.data"), has_header=False, new_columns=CENSUS)
    data = data.with_columns(pl.col(pl.String).str.strip_chars())
    data = data.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    assert len(data) == 30_162
    original = celosia.read(data)
    published = celosia.read(data.drop("race"))
    evidence = InferenceAttack(target="race", external=0.7, repeats=1).evidence(original, published)
    assert evidence["baseline"] == pytest.approx(0.8564, abs=0.01)
    assert evidence["value"] == pytest.approx(0.797, abs=0.015)
    assert evidence["advantage_interval"][1] < 0
    income = InferenceAttack(target="income", external=0.7, repeats=1).evidence(
        original, celosia.read(data.drop("income"))
    )
    assert income["baseline"] == pytest.approx(0.7475, abs=0.01)
    assert income["value"] == pytest.approx(0.803, abs=0.015)
    assert income["advantage_interval"][0] > 0
