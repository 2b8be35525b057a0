"""A value of a class is made of enough present values, not of enough rows."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia.models import KAnonymity


def protected(ages, how, **roles):
    data = pl.DataFrame({"sex": ["F"] * len(ages), "age": ages, "who": [1, 1, 2, 3, 4, 5, 6][: len(ages)]})
    table = celosia.read(data, celosia.Schema.of(quasi=["sex", "age"], **roles))
    method = {"use": "generalise", "require": ["k-anonymity(k=5)"], "aggregate": {"age": how}}
    return celosia.protect(table, method, seed=1).column("age").to_list()


@pytest.mark.parametrize("how", ["mean", "median", "mode", "interval", "set"])
def test_the_only_present_value_of_a_class_is_not_published(how):
    assert protected([44, None, None, None, None], how) == [None] * 5
    assert protected([44, 45, 46, 47, None], how) == [None] * 5
    assert None not in protected([44, 45, 46, 47, 48], how)


def test_persons_with_a_value_are_counted():
    assert protected([40, 41, 42, 43, 44, None, None], "mean", person="who") == [None] * 7
    assert protected([40, 41, 42, 43, 44, 45, None], "mean", person="who") == [pytest.approx(42.5)] * 7


def test_one_reading_of_missing_values_for_all_quasi_identifiers():
    data = pl.DataFrame({"sex": ["F", "F"], "age": [30, None]})
    table = celosia.read(data, celosia.Schema.of(quasi=["sex", "age"], missing="wildcard"))
    assert KAnonymity(k=2).value(table) == 2
