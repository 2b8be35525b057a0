"""The thresholds say the same in numbers and in words."""

from __future__ import annotations

import re

import polars as pl

import celosia
from celosia.risk.k_advice import THRESHOLDS, KAdvice


def test_a_risk_in_words_is_that_of_the_class_size():
    told = {t.k: [float(x) for x in re.findall(r"a risk of (0\.\d+)", t.where)] for t in THRESHOLDS}
    assert {k: risks for k, risks in told.items() if risks} == {11: [0.09], 20: [0.05]}
    assert all(round(1 / k, 2) == risk for k, risks in told.items() for risk in risks)


def test_a_class_of_just_enough_records_violates_nothing():
    for k in (3, 5, 11, 20):
        for size, violated in ((k - 1, k - 1), (k, 0)):
            table = celosia.read(pl.DataFrame({"age": [30] * size}), celosia.Schema.of(quasi=["age"]))
            (found,) = [t["violated"] for t in KAdvice().evidence(table)["thresholds"] if t["k"] == k]
            assert found == violated
