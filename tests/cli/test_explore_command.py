"""``celosia explore`` and the page with the map."""

from __future__ import annotations

import json
import re
import tomllib
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.cli.main import run
from celosia.data.toml_text import steps_text
from celosia.frontier.candidates import Candidate
from celosia.release.policy.policy import Policy

POLICY = """
[input]
path = "data.csv"

[schema]
quasi = ["a", "b"]

[explore]
risk = "distance-linkage"
loss = "kolmogorov-smirnov"
seeds = 2
max_risk = 0.9
store = "tried.jsonl"

[[explore.candidate]]
use = "noise"
vary = {p = [0.1, 1.0]}

[[explore.candidate]]
steps = [{use = "microaggregate", vary = {k = [3, 5]}}, {use = "rank-swap", window = 0.1}]

[run]
seed = 5
testing = true
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 2))
    pl.DataFrame(x, schema=["a", "b"]).write_csv(tmp_path / "data.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_policy_is_explored(place, capsys):
    assert run(["explore", "policy.toml", "--json", "--html", "map.html", "--workers", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [p["label"].split("(")[0] for p in found["points"]] == ["noise", "noise", "microaggregate", "microaggregate"]
    assert found["best"]["risk"]["mean"] <= 0.9
    assert found["evaluated"] == 8
    assert run(["explore", "policy.toml", "--json", "--workers", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["evaluated"] == 0, "the store of the policy was used"
    page = (place / "map.html").read_text()
    assert page.count("<title>") >= 6
    assert "original" in page
    assert 'class="limit"' in page
    assert 'class="front"' in page
    assert not re.search(r"(src|href)=[\"']http", page), "it opens offline"


def test_a_limit_that_cannot_be_kept_ends_with_3(place, capsys):
    code = run(["explore", "policy.toml", "--max-risk", "0.0", "--max-loss", "0.0", "--workers", "1"])
    assert code == 3
    assert "the nearest is" in capsys.readouterr().out


def test_a_file_is_explored_with_what_is_given(place, capsys):
    words = ["explore", "data.csv", "--quasi", "a,b", "--candidate", "noise(columns=[a, b], p=0.2)", "--seeds", "1"]
    assert run([*words, "--seed", "3", "--loss", "wasserstein", "--risk", "distance-linkage"]) == 0
    out = capsys.readouterr().out
    assert "The frontier" in out
    assert "[[step]]" in out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds = 2", "seeds = 0", "explore.seeds must be a whole number"),
        ("seeds = 2", "colour = 1", "no key 'colour'"),
        ("max_risk = 0.9", "max_risk = -1", "explore.max_risk must be a number"),
        ('risk = "distance-linkage"', 'risk = "noise"', "explore.risk"),
        ("{p = [0.1, 1.0]}", "{p = 0.1}", "vary of 'noise' must map"),
    ],
)
def test_bad_input_is_told(place, capsys, old, new, message):
    (place / "bad.toml").write_text(POLICY.replace(old, new))
    assert run(["explore", "bad.toml"]) == 2
    assert message in capsys.readouterr().err


def test_points_and_map_are_written(place, capsys):
    policy = (place / "policy.toml").read_text().replace("[explore]", "[explore]\nworkers = 1")
    (place / "policy.toml").write_text(policy)
    names = ["points.csv", "points.tex", "map.svg", "map.png"]
    assert run(["explore", "policy.toml", "--json", *(word for name in names for word in ("--out", name))]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    table = pl.read_csv("points.csv")
    assert table["risk"].to_list() == pytest.approx([p["risk"]["mean"] for p in points])
    assert table["frontier"].to_list() == [p["frontier"] for p in points]
    assert table["candidate"][0] == "noise(columns=[a, b])", "in full, with its columns"
    latex = (place / "points.tex").read_text()
    assert latex.count(r"\\") == 1 + len(points)
    assert r"risk\_low" in latex
    drawing = " ".join(ET.fromstring((place / "map.svg").read_text()).itertext())
    best = table.filter("frontier").sort("risk")
    assert f"1  {best['candidate'][0]}: risk" in drawing
    assert (place / "map.png").read_bytes().startswith(b"\x89PNG")
    assert run(["explore", "policy.toml", "--out", "map.jpeg"]) == 2
    assert "written as .csv, .tex, .svg, .png, .pdf" in capsys.readouterr().err


def test_long_lists_of_columns_are_counted_in_labels():
    candidate = Candidate((celosia.methods.Noise(columns=list("abcdef"), p=0.2),))
    assert candidate.label == "noise(columns=[6 columns], p=0.2)"
    assert candidate.published == "noise(columns=[a, b, c, d, e, f], p=0.2)"


def test_the_best_can_be_pasted_into_a_policy(place):
    table = celosia.read(pl.read_csv("data.csv"), celosia.Schema.of(quasi=["a", "b"]))
    found = celosia.explore(
        table,
        [["microaggregate(columns=[a, b])", "rank-swap(columns=[a], window=0.2)"]],
        risk="distance-linkage",
        loss="kolmogorov-smirnov",
        seeds=1,
        seed=1,
    )
    text = steps_text(found.best().candidate.spec())
    assert [step["use"] for step in tomllib.loads(text)["step"]] == ["microaggregate", "rank-swap"]
    policy = Policy.parse('[input]\npath = "data.csv"\n[schema]\nquasi = ["a", "b"]\n' + text, place)
    assert tuple(step.method for step in policy.steps) == found.best().candidate.methods
