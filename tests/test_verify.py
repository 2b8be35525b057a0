"""Verification of a directory, of claims that were changed, and of files that are not there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from celosia.errors import DataError
from celosia.run import run
from celosia.verify import Check, verify

POLICY = """
[input]
path = "people.csv"
[schema]
quasi = ["age", "city"]
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=3)"]
[output]
path = "out/safe.csv"
report = false
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(1, 9, 100), "city": rng.choice(["Ur", "Uruk"], 100)})
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "out").mkdir()
    return tmp_path


def test_a_directory_is_verified_with_all_that_is_in_it(place):
    run(place / "policy.toml")
    checks = verify(place / "out", original=place / "people.csv")
    assert all(check.passed for check in checks)
    assert checks[-1].claim == "repetition gives the same bytes"
    (place / "out" / "safe.private.json").unlink()
    assert [c.claim for c in verify(place / "out") if c.passed is None] == ["commitments"]


def test_a_requirement_that_is_not_met_is_noticed_even_when_its_number_is_right(place):
    path = run(place / "policy.toml").paths["certificate"]
    stated = json.loads(path.read_text())
    stated["requirements"][0] |= {"part": "k-anonymity(k=90)", "wish": "k ≥ 90"}
    path.write_text(json.dumps(stated))
    assert [c.claim for c in verify(path) if c.passed is False] == ["k-anonymity(k=90)"]


def test_a_release_can_be_repeated_in_another_way(place):
    run(place / "policy.toml")
    seen = []

    def repeat(stated, private):
        seen.append((stated["format"], private["format"]))
        return [Check("made again", 1, 2, False)]

    checks = verify(place / "out", repeat=repeat)
    assert checks[-1].claim == "made again"
    assert seen == [("celosia certificate 1", "celosia private record 1")]


def test_what_is_not_there_is_named(place):
    with pytest.raises(DataError, match="holds 0 certificates"):
        verify(place)
    paths = run(place / "policy.toml").paths
    with pytest.raises(DataError, match=r"no file .*other.csv"):
        verify(paths["certificate"], place / "other.csv")
    with pytest.raises(DataError, match="no original"):
        verify(place / "out", original=place / "other.csv")
