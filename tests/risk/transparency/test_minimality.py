"""What a minimal generalisation tells: something where values decided, nothing where class sizes did."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable
from celosia.risk import Minimality

TREE = {"use": "tree", "tree": {"*": ["a", "b"]}}


def table(zips: str, ills: str) -> celosia.Table:
    schema = celosia.Schema.of(quasi=["zip"], sensitive=["ill"], hierarchies={"zip": TREE})
    return celosia.read(pl.DataFrame({"zip": list(zips), "ill": list(ills)}), schema)


def test_two_kinds_of_worlds_by_hand():
    # published: one class with H twice, and f, n, r. Minimal: a (two records) or b (three) has one value only.
    # b would need a value three times, so a is H H: certain; b has f, n, r in some order.
    people = table("aabbb", "HHfnr")
    release = celosia.protect(people, "generalise(require=[l-diversity(l=2)])")
    found = Minimality(draws=400).records(people, release)["risk"].to_list()
    assert found[:2] == [1.0, 1.0]
    evidence = Minimality(draws=400).evidence(people, release)
    assert evidence["control"] == pytest.approx(2 / 5), "the most frequent value of the class is H"
    assert evidence["accepted"] == pytest.approx(400 / 10, rel=0.5), "one world in ten puts both H into a"


def test_sizes_tell_nothing():
    people = table("aabbbb", "HHfnrg")
    release = celosia.protect(people, "generalise(require=[k-anonymity(k=3), l-diversity(l=2)])")
    found = Minimality().evidence(people, release)
    assert (found["finer"], found["accepted"]) == (0, 0)
    assert found["value"] == found["control"]


def test_more_records_and_an_allowance():
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"zip": rng.choice(["a", "b"], 60, p=[0.1, 0.9]), "ill": rng.choice(list("HHfnrg"), 60)})
    data = data.with_columns(ill=pl.when(pl.col("zip") == "a").then(pl.lit("H")).otherwise("ill"))
    schema = celosia.Schema.of(quasi=["zip"], sensitive=["ill"], hierarchies={"zip": TREE})
    people = celosia.read(data, schema)
    release = celosia.protect(people, "generalise(require=[l-diversity(l=2)], suppress=0.01)")
    found = Minimality(draws=300).evidence(people, release)
    assert found["finer"] == 1
    assert found["value"] >= found["control"]


def test_it_needs_a_generalisation():
    with pytest.raises(NotApplicable, match="generalise"):
        Minimality().value(table("ab", "Hf"), table("ab", "Hf"))
