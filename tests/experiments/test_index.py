"""The index over the reproductions: one row per experiment, from the statements that it checked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from celosia.cli.main import run as command
from celosia.experiments import declared, experiments, index
from celosia.experiments.statements import counted, derived, printed, printed_tables, summary

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    place = tmp_path_factory.mktemp("reproduced")
    assert command(["reproduce", "--all", "--data", str(place), "--out", str(place)]) == 0
    return place


def test_all_that_can_run_is_entered_and_the_rest_named(out):
    (row,) = index.entries(out)  # no reference file is in the directory
    html = (out / "index.html").read_text()
    assert row["experiment"] == "textbook"
    assert row["seconds"] > 0
    report = json.loads((out / "textbook.json").read_text())
    assert row["counts"] == report["counts"]
    assert sum(why["statements"] for why in row["why not"]) == sum(not s["agrees"] for s in report["statements"])
    for name in experiments():
        assert declared(name).document in html
    assert html.count("not run here") == len(experiments()) - 1
    assert set(re.findall('href="(.*?)"', html)) == {"textbook.html"}


def test_a_row_is_replaced_and_the_others_stay(tmp_path):
    index.write(tmp_path, [{**row(), "experiment": "lecture"}, {**row(), "experiment": "textbook", "seconds": -1}])
    tables = printed_tables("textbook")
    cell = tables["table03"].columns[-1]
    tables["table03"] = tables["table03"].with_columns(pl.col(cell).reverse())
    index.run("textbook", tmp_path, tables=tables)
    first, second = index.entries(tmp_path)
    assert (first["experiment"], first["seconds"]) == ("lecture", 1.0)
    assert second["seconds"] > 0


def row():
    checked = [printed("Table 1", "k", 2, 3, why="a misprint"), derived("Table 1", "l", 1, 1)]
    return index.entry("textbook", summary("textbook", checked, checked[1:]), 1.0)


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
    assert own["counts"] == index.entries(out)[0]["counts"], "the experiment changed: run `make reproduce`"
