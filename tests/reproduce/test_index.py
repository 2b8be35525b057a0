"""The index over the reproductions: one row per experiment, from the statements that it checked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from celosia.cli.main import run as command
from celosia_reproduce import declared, experiments, index
from celosia_reproduce.statements import consistent, counted, derived, page, printed, sections_of, summary

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
    checked = [
        printed("Table 1", "k", 2, 3, why="a misprint"),
        derived("Table 1", "l", 1, 1.4, within=0.5),
        printed("Table 2", "t", 100.0, 102.0, relative=0.02),
        consistent("Table 2", "sum of Table 1", 7, 8, why="a slip"),
    ]
    return index.entry(name, summary(name, checked, checked[1:]), 1.0)


def test_an_entry_counts_and_gives_reasons():
    entry = row()
    assert entry["counts"] == {
        "printed": {"checked": 2, "come out": 1, "differ": 1},
        "derived": {"checked": 1, "come out": 1, "differ": 0},
        "consistency": {"checked": 1, "come out": 0, "differ": 1},
    }
    assert entry["match within"] == 2, "the widest of what is printed: 2 % of 100; derived ones do not count"
    assert entry["nearest to print"]["derived"]["come out"] == 1
    assert entry["why not"][0] == {
        "why": "a misprint", "statements": 1, "example": {"where": "Table 1", "what": "k", "stated": 2, "computed": 3}
    }  # fmt: skip
    assert counted([])["consistency"] == {"checked": 0, "come out": 0, "differ": 0}


def test_the_terminal_tells_each_origin():
    said = summary("textbook", [printed("", "", 1, 1), derived("", "", 2, 2), consistent("", "", 3, 4)])
    assert (said["printed statements"], said["come out"]) == (1, 1)
    assert said["derived, not printed"] == "1 of 1"
    assert said["consistency of the print"] == "0 of 1"
    assert "consistency of the print" not in summary("textbook", [printed("", "", 1, 1)])


def test_each_origin_has_a_table_of_its_own():
    checked = [printed("T", "k", 1, 1), derived("T", "l", 2, 2), consistent("T", "t", 3, 3), printed("U", "m", 4, 4)]
    html = page("heading", "intro", checked, sections_of(checked))
    bodies = re.findall(r'<table class="(\w+)"><caption>.*?</table>', html, re.DOTALL)
    assert bodies == ["printed", "derived", "consistency", "printed"]
    own = re.search(r'<table class="derived">.*?</table>', html, re.DOTALL)
    assert own is not None
    assert "<td>l</td>" in own[0]
    assert "<td>k</td>" not in own[0]
    assert "Nothing is run for it" in html


def test_the_index_as_a_page_of_the_documentation():
    synthetic = {**row("synthetic"), "seconds": None, "nearest to print": None, "why not": []}
    text = index.as_markdown([row(), synthetic])
    assert "| `textbook` | 2 | 1 | 2 | 1 | 1 | 1 | 1 | 1 | 0 | 1 s |" in text
    assert "| `synthetic` | 2 | 1 | 2 points | – | 1 | 1 | 1 | 1 | 0 | – |" in text
    assert "| a misprint | 1 | Table 1: k | 2 | 3 |" in text
    assert text.count("## What differs") == 1
    assert index.DASH in text
    assert index.DASH not in index.as_markdown([row()])


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


def test_the_documentation_has_what_is_cheap_to_count(documented):
    """Of the experiments that take minutes: what does not have to be run; their long tests compare all counts."""
    from celosia_reproduce.consent.worked import printed_texts, statements
    from celosia_reproduce.fuzzy_privacy import comparison, study
    from celosia_reproduce.synthetic import conclusions, setups

    annex = {block: study.printed(block) for block in comparison.METHODS}
    numbers = sum(v is not None for rows in annex.values() for row in rows.values() for v in row.values())
    summaries = counted(comparison.of_the_print(annex))["consistency"]
    fuzzy = documented("fuzzy-privacy")["counts"]
    assert fuzzy["consistency"] == summaries
    assert fuzzy["printed"]["checked"] == numbers + summaries["checked"], "the summaries are computed again as well"
    tables = {number: setups.printed(number) for number in (5, 6, 7)}
    source = {**tables, 8: {str(at): row for at, row in setups.printed_s3().items()}}
    synthetic = documented("synthetic")
    assert synthetic["counts"]["consistency"] == counted(conclusions.of_the_text(source))["consistency"]
    assert (synthetic["match within"], synthetic["unit"]) == (4, "points")
    consent = documented("consent")
    differing = {s.why for s in statements(printed_texts()) if not s.agrees}
    assert differing <= {reason["why"] for reason in consent["why not"]}
