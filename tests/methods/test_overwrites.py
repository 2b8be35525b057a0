"""Every method declares which columns it overwrites; nothing else comes out changed."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import Schema
from celosia.data.schema import Role
from celosia.parts import build, find, parts, public_spec
from celosia.release.evidence.plain_data import plain
from celosia.table.pairing import positions

LEVELS = {"use": "levels", "rows": [["Ur", "Sumer", "*"], ["Uruk", "Sumer", "*"], ["Nippur", "Sumer", "*"]]}
EXAMPLES = {
    "anatomise": {"l": 2},
    "bottom-code": {"columns": ["pay"], "value": 1500},
    "dp-generalise": {"epsilon": 2, "delta": 0.1, "levels": {"age": 1, "town": 2}},
    "dp-histogram": {"columns": ["town"], "epsilon": 1, "delta": 0.1},
    "dp-marginals": {"marginals": [["town"]], "epsilon": 1, "values": {"town": ["Ur", "Uruk", "Nippur"]}},
    "dp-synthesis": {"columns": ["town"], "epsilon": 1, "values": {"town": ["Ur", "Uruk", "Nippur"]}},
    "drop": {"columns": ["note"]},
    "fcrm": {"dependent": ["pay"], "independent": ["hours"]},
    "fuzzy-recode": {"columns": ["pay"]},
    "gaussian-copula": {"within": ["town"]},
    "in-blocks": {"method": "microaggregate(columns=[pay], k=2)", "by": ["town"]},
    "individual-ranking": {"columns": ["pay"], "k": 2, "within": ["home"]},
    "microaggregate": {"columns": ["pay"], "k": 2, "within": ["home"]},
    "mixed-microaggregate": {"columns": ["pay"], "k": 2, "within": ["home"]},
    "generalise": {"require": ["k-anonymity(k=40)"], "suppress": 0.5, "blank": True},
    "ipso": {"dependent": ["pay"], "independent": ["hours"]},
    "local-generalise": {"require": ["k-anonymity(k=40)"], "suppress": 0.5, "blank": True},
    "local-suppress": {"k": 30},
    "mask": {"columns": ["note"]},
    "mondrian": {"require": ["k-anonymity(k=40)"]},
    "multivariate-top-code": {"columns": ["pay", "hours"]},
    "optimal-univariate": {"column": "pay", "k": 3},
    "permute": {"l": 2},
    "pram": {"columns": ["sick"], "within": ["home"]},
    "pseudonymise": {"columns": ["note"]},
    "redact-text": {"columns": ["note"]},
    "random-perturbation": {"jitter": ["age"], "shuffle": ["pay"], "within": ["town"]},
    "randomised-response": {"columns": ["town"], "epsilon": 1, "categories": {"town": ["Ur", "Uruk"]}},
    "recode": {"column": "age", "breaks": [30]},
    "record-swap": {"geography": ["town"], "risk": ["age"], "k": 40, "similar": ["sick"]},
    "round": {"columns": ["pay"], "base": 500},
    "sample": {"share": 0.5, "by": "pid"},
    "sequential-trees": {"columns": ["pay"], "where": "age > 30"},
    "shift-dates": {"columns": ["born"], "by": "pid"},
    "shuffle": {"columns": ["pay"], "given": ["hours"]},
    "subset": {"where": "age > 30"},
    "suppress-cells": {"columns": ["pay"], "fewer_than": 2},
    "suppress-records": {"require": ["k-anonymity(k=40)"], "blank": True},
    "top-code": {"columns": ["pay"], "value": 1500},
    "tree-generalise": {"columns": ["town"], "k": 70},
}
"""Parameters with which a method changes something; others get numeric columns and their required parameters."""


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    n = 200
    frame = pl.DataFrame(
        {
            "name": [f"N{i}" for i in range(n)],
            "pid": [f"P{i // 2}" for i in range(n)],
            "home": [f"H{1000 + i // 4}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "town": np.repeat(rng.choice(["Ur", "Uruk", "Nippur"], n // 4, p=[0.6, 0.3, 0.1]), 4),
            "sick": rng.choice(["flu", "cold", "cough"], n),
            "pay": rng.normal(1500, 300, n),
            "hours": rng.normal(40, 3, n),
            "w": rng.uniform(1, 5, n),
            "born": pl.Series(rng.integers(0, 9000, n)).cast(pl.Int32).cast(pl.Date),
            "note": rng.choice(["a", "with Ana García"], n),
        }
    )
    ages = {"use": "intervals", "width": 10}
    schema = Schema.of(
        identifiers=["name"],
        household="home",
        weight="w",
        quasi=["age", "town"],
        sensitive=["sick"],
        hierarchies={"age": ages, "town": LEVELS},
    )
    return celosia.read(frame, schema)


@pytest.mark.parametrize("name", parts("method"))
def test_a_method_overwrites_what_it_declares_and_nothing_else(table, name):
    cls = find("method", name)
    required = {field: value for field, value in cls.examples[0].items() if cls.model_fields[field].is_required()}
    method = build("method", {"use": name, **EXAMPLES.get(name, required | {"columns": ["pay", "hours"]})})
    protected = celosia.protect(table, method, seed=1)
    told = json.dumps(plain([protected.history, public_spec(method)]))
    assert not re.search(r"\b(N\d|P\d|H1\d\d\d)", told), "the evidence of a step names somebody"
    declared = set(method.overwrites(table.schema))
    assert declared <= set(table.names)
    if (
        protected.provenance.family is not table.provenance.family
    ):  # new rows: a column that was not made anew is copied or counted
        assert method.rows == "new"
        kept = set(protected.names) & set(table.names) - declared
        assert kept <= {"town"}, "only the strata of a synthesis are copied"
        return
    both = [column for column in table.names if column in protected.names]
    before = table.polars().select(both)[positions(table, protected)]
    after = protected.polars().select(both)
    changed = {column for column in both if not _same(before[column], after[column])}
    assert changed <= declared
    assert changed or not declared, "the example must change something"
    assert not changed & set(table.schema.with_role(Role.IDENTIFIER))


def _same(before: pl.Series, after: pl.Series) -> bool:
    return before.dtype == after.dtype and before.eq_missing(after).all()


def test_columns_that_are_only_looked_at_are_not_declared():
    schema = Schema.of(identifiers=["id"], quasi=["age"])
    for method in (
        "shift-dates(columns=[born], by=id)",
        "sample(share=0.5, by=id)",
        "sample(share=0.5, within=id)",
        "microaggregate(columns=[pay], within=[id])",
        "subset(matching=x.csv, on=[id])",
        "ipso(dependent=[pay], independent=[id])",
        "shuffle(columns=[pay], given=[id])",
        "local-suppress(k=2, within=id)",
        "tree-generalise(columns=[town], private=id)",
        "record-swap(geography=[town], risk=[id], similar=[id])",
        "drop(columns=[id])",
    ):
        assert "id" not in build("method", method).overwrites(schema), method
