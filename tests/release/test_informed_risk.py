"""A release tells which attack decided its risk, and of which steps only general attacks are known."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from celosia.cli.main import run as command
from celosia.parts import measured_by, parts
from celosia.release.report import LANGUAGES, render
from celosia.release.report.texts import words
from celosia.release.run import run

POLICY = """
[input]
path = "data.csv"
[schema]
quasi = ["a", "b", "c", "d"]
[[step]]
use = "rank-swap"
columns = ["a", "b", "c", "d"]
window = 0.1
[[step]]
use = "sample"
share = 0.95
[[require]]
use = "k-anonymity"
k = 1
[measure]
risks = ["disclosure-risk"]
losses = ["score"]
[output]
path = "safe.csv"
[guard]
acknowledge = {a = "made up", b = "made up", c = "made up", d = "made up"}
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    place = tmp_path_factory.mktemp("informed")
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(4, 4))
    pl.DataFrame(rng.normal(size=(300, 4)) @ mixing, schema=list("abcd")).write_csv(place / "data.csv")
    (place / "policy.toml").write_text(POLICY)
    return run(place / "policy.toml")


def test_the_record_names_the_attack_that_decided(release):
    (claim,) = release.certificate["attacks"]
    assert claim["value"] is None  # one record can move it by more than its share
    (exact,) = release.record["comparison"]["risks"]  # the whole numbers are for the owner
    assert exact["evidence"]["decided"] == ["rank-intersection"]
    assert exact["value"] == exact["evidence"]["attacks"]["rank-intersection"]["value"]
    assert exact["value"] > exact["evidence"]["attacks"]["distance-linkage"]["value"]
    assert release.record["comparison"]["losses"][0]["evidence"]["decided"] == ["rank-intersection"]


def test_the_report_says_so_in_three_languages_and_names_steps_without_an_attack(release):
    for language in LANGUAGES:
        w = words(language)
        for edition in ("external", "internal"):
            text = render(release, edition=edition, language=language)
            decided = w["decided_by"].format(attacks="rank-intersection") in text
            assert decided == (edition == "internal")  # the attack with the highest value depends on the original
            assert w["read_by"].format(attacks="rank-intersection") in text
            told = w["general_only"] if measured_by("sample") == "general attacks only" else w["read_by"].split(":")[0]
            assert told.replace("'", "&#39;") in text


def test_the_catalogue_tells_what_measures_a_method(capsys):
    assert command(["parts", "method", "rank-swap"]) == 0
    assert "risk measured by rank-intersection" in capsys.readouterr().out
    assert command(["parts", "attack", "rank-intersection"]) == 0
    assert "reads what is published about: rank-swap" in capsys.readouterr().out
    assert command(["parts", "method", "drop"]) == 0
    assert "general attacks only" in capsys.readouterr().out
    assert command(["parts", "--json"]) == 0
    assert "rank-intersection" in json.loads(capsys.readouterr().out)["attack"]
    assert {measured_by(name) for name in parts("method")} > {"general attacks only", "rank-intersection"}
