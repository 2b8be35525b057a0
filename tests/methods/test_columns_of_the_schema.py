"""A method that names no columns gets those that the schema gives it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.data.engines.lazy_frames import column_kinds
from celosia.parts import Method, build, marked_fields, parts
from celosia.parts.columns import SuitedMark
from celosia.parts.part import has_mark

SCHEMA = celosia.Schema.of(identifiers=["number"], quasi=["age", "height", "town"], sensitive=["pay"])
FURTHER = {
    "round": {"base": 10},
    "top-code": {"quantile": 0.9},
    "bottom-code": {"quantile": 0.1},
    "fcrm": {"c": 2},
    "pram": {"diagonal": 0.7},
    "rank-swap": {"window": 0.2},
    "shift-dates": {"days": 5},
    "fuzzy-recode": {"cells": 3},
}
SUITED = [
    name
    for name, cls in parts("method").items()
    if any(has_mark(info, SuitedMark) for info in cls.model_fields.values())
]


def people() -> celosia.Table:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "number": np.arange(60),
            "age": rng.integers(18, 90, 60).astype(np.float64),
            "height": rng.normal(170, 10, 60).round(1),
            "town": rng.choice(["Vic", "Olot", "Reus"], 60),
            "pay": rng.normal(2000, 300, 60).round(0),
        }
    )
    return celosia.read(frame, SCHEMA)


def expected(method: Method) -> dict[str, list[str]]:
    numbers = ["age", "height"]
    named = {"town": ["town"], "mixed": [*numbers, "town"], "numbers": numbers}
    kind = (
        "town"
        if method.name == "pram"
        else "mixed"
        if method.name in ("mixed-microaggregate", "fuzzy-table")
        else "numbers"
    )
    if marked_fields(method, SuitedMark) == ("dependent", "independent"):
        return {"dependent": numbers, "independent": ["pay"]}
    return {"columns": named[kind]}


@pytest.mark.parametrize("name", [name for name in SUITED if name != "shift-dates"])
def test_they_are_the_quasi_identifiers_that_suit_it(name: str) -> None:
    """The same as if they were named: the same cells, the same entry in the history."""
    method = build("method", {"use": name, **FURTHER.get(name, {})})
    named = build("method", {"use": name, **FURTHER.get(name, {}), **expected(method)})
    bare, full = (celosia.protect(people(), each, seed=1) for each in (method, named))
    assert bare.polars().equals(full.polars())
    assert bare.history[-1]["parameters"] == full.history[-1]["parameters"]
    assert set(method.overwrites(SCHEMA.bind(column_kinds(people().rows.frame)))) == set(
        named.overwrites(people().schema)
    )


def test_the_perturbative_methods_are_among_them() -> None:
    for name in ("microaggregate", "noise", "correlated-noise", "rank-swap", "pram", "shuffle", "round", "ipso"):
        assert name in SUITED


def test_where_none_suits_the_message_says_what_to_do() -> None:
    table = celosia.read(pl.DataFrame({"town": ["Vic", "Olot"]}), celosia.Schema.of(quasi=["town"]))
    with pytest.raises(celosia.CelosiaError, match=r"no quasi-identifier suits it.*name its columns"):
        celosia.protect(table, celosia.methods.Microaggregate(k=3))
    undeclared = celosia.read(pl.DataFrame({"age": [1.0, 2.0, 3.0]}))
    with pytest.raises(celosia.CelosiaError, match="declare such columns under `quasi`"):
        celosia.protect(undeclared, celosia.methods.Microaggregate(k=3))


def test_a_nested_method_gets_them_too() -> None:
    nested = "in-blocks(method=microaggregate(k=3), by=[town])"
    named = "in-blocks(method=microaggregate(columns=[age, height], k=3), by=[town])"
    bare, full = (celosia.protect(people(), each, seed=1).polars() for each in (nested, named))
    assert bare.equals(full)


POLICY = """
[input]
path = "people.csv"
[schema]
identifiers = ["number"]
quasi = ["age", "height", "town"]
sensitive = ["pay"]
[[step]]
use = "round"
base = 50
[[step]]
use = "microaggregate"
k = 5
[output]
path = "safe.csv"
[run]
seed = 7
testing = true
[guard]
acknowledge = {pay = "a test", age = "a test", height = "a test"}
"""


def test_a_policy_records_them_so_that_it_can_be_repeated(tmp_path: Path) -> None:
    people().polars().write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    release = celosia.run(tmp_path / "policy.toml")
    assert [step["columns"] for step in release.certificate["steps"]] == [["age", "height"]] * 2
    checks = celosia.verify(
        release.paths["certificate"],
        release.paths["data"],
        record=release.paths["record"],
        original=tmp_path / "people.csv",
    )
    assert checks.holds
