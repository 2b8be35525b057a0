"""The index over the reproductions: one row per experiment, from the statements that it checked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from celosia.cli.main import run as command
from celosia.experiments import declared, experiments, index
from celosia.experiments.statements import counted, derived, printed, summary

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    place = tmp_path_factory.mktemp("reproduced")
    index.write(place, [row("lecture"), {**row(), "seconds": -1}])
    assert command(["reproduce", "--all", "--data", str(place), "--out", str(place)]) == 0
    return place


def test_all_that_can_run_is_entered_and_the_rest_named(out):
    kept, fresh = index.entries(out)  # no reference file is in the directory, so that the textbook alone was run
    html = (out / "index.html").read_text()
    assert (kept["experiment"], kept["seconds"]) == ("lecture", 1.0)
    assert fresh["experiment"] == "textbook"
    assert fresh["seconds"] > 0
    report = json.loads((out / "textbook.json").read_text())
    assert fresh["counts"] == report["counts"]
    assert sum(why["statements"] for why in fresh["why not"]) == sum(not s["agrees"] for s in report["statements"])
    for name in experiments():
        assert declared(name).document in html
    assert html.count("not run here") == len(experiments()) - 2
    assert set(re.findall('href="(.*?)"', html)) == {"lecture.html", "textbook.html"}


def row(name="textbook"):
    checked = [printed("Table 1", "k", 2, 3, why="a misprint"), derived("Table 1", "l", 1, 1)]
    return index.entry(name, summary(name, checked, checked[1:]), 1.0)


def test_an_entry_counts_and_gives_reasons():
    found = row()
    assert found["counts"] == counted([printed("", "", 2, 3), derived("", "", 1, 1)])
    assert found["counts"]["printed"] == {"checked": 1, "come out": 0, "differ": 1}
    assert found["nearest to print"]["derived"]["come out"] == 1
    assert found["why not"] == [
        {"why": "a misprint", "statements": 1, "example": {"where": "Table 1", "what": "k", "stated": 2, "computed": 3}}
    ]


def test_the_index_as_a_page_of_the_documentation():
    text = index.as_markdown([row(), {**row(), "seconds": None, "nearest to print": None, "why not": []}])
    counts = "| `textbook` | 1 | 0 | {} | 1 | 1 | 1 | {} |"
    assert counts.format(0, "1 s") in text
    assert counts.format("–", "–") in text
    assert "| a misprint | 1 | Table 1: k | 2 | 3 |" in text
    assert text.count("## What differs") == 1


def test_the_documentation_has_the_numbers_of_the_index(out):
    written = json.loads((DOCS / "assets" / "reproduced.json").read_text())["experiments"]
    assert [entry["experiment"] for entry in written] == experiments()
    assert [entry["document"] for entry in written] == [declared(name).document for name in experiments()]
    for entry in written:
        assert entry["counts"]["printed"]["checked"] > 0
        assert all(reason["why"] for reason in entry["why not"])
        differing = sum(origin["differ"] for origin in entry["counts"].values())
        assert sum(reason["statements"] for reason in entry["why not"]) == differing
    own = next(entry for entry in written if entry["experiment"] == "textbook")
    assert own["counts"] == index.entries(out)[1]["counts"], "the experiment changed: run `make reproduce`"
