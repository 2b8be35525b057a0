"""What a terminal and a notebook are shown: numbers for people, no control characters, no markup of the data, no cell."""

from __future__ import annotations

import io
import re
import shutil
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

import celosia
from celosia.errors import OutputError
from celosia.show.blocks import (
    Block,
    assessment_blocks,
    comparison_blocks,
    number,
    search_blocks,
    to_html,
    to_rich,
)
from celosia.show.browser import BROWSERS
from celosia.show.charts import bars, overlay
from celosia.show.controls import visible
from celosia.show.pictures import Picture
from celosia.table.suppression import suppress_records


def printed(blocks):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(to_rich(blocks))
    return console.export_text()


@given(st.text())
@example("\x1b[2J\x85\u2028\u202e\u2066\u200f")
def test_nothing_moves_the_cursor_or_turns_the_text(text):
    shown = visible(text, lines=False)
    assert len(shown) == len(text), "one sign for one sign"
    assert not re.search("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u2028\u202a-\u202e\u2066-\u2069]", shown)
    plain = re.sub(r"[^\w .,:;!?-]", "", text, flags=re.ASCII)
    assert visible(plain) == plain, "what is harmless stays"


@given(st.one_of(st.integers(-(10**14), 10**14), st.floats(-1e12, 1e12, allow_nan=False)))
def test_a_number_can_be_read_back(value):
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=1e-5, abs=1e-12)


def test_what_is_no_number():
    assert [number(value) for value in (None, "5", float("nan"), float("-inf"), float("inf"))] == [
        "—",
        "—",
        "—",
        "—",
        "∞",
    ]
    assert number(True) == "1"


def test_a_block_is_never_markup():
    blocks = [Block("[bold]<b>x</b>"), Block("t", ("<th>", "value"), [("[red]a[/red]", "<script>")])]
    page = to_html(blocks)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>x" not in page
    text = printed(blocks)
    assert "[bold]<b>x</b>" in text
    assert "[red]a[/red]" in text


def small():
    data = pl.DataFrame({"age": [31, 31, 77, 77], "zip": ["a", "a", "b", "c"], "ill": ["flu", "cold", "flu", "flu"]})
    return celosia.read(data, celosia.Schema.of(quasi=["age", "zip"], sensitive=["ill"]))


def test_an_assessment_says_what_holds_and_shows_no_cell():
    table = small()
    assessment = celosia.assess(table, ["k-anonymity(k=2)", "l-diversity(l=1)"], ["prosecutor"])
    head, wanted, risks, *_ = assessment_blocks(assessment)
    assert head.title.startswith("4 rows, 0 suppressed; classes count records")
    assert [(row[0], row[2], row[3]) for row in wanted.rows] == [
        ("k-anonymity", "1", "NO"),
        ("l-diversity", "1", "yes"),
    ]
    assert risks.rows[0][:2] == ("prosecutor", "100 %")
    text = printed(assessment_blocks(assessment))
    assert not {"31", "77", "flu", "cold"} & set(re.findall(r"\w+", text))


def test_persons_are_said_to_be_counted():
    data = pl.DataFrame({"who": [1, 1, 2], "age": [3, 3, 3]})
    table = celosia.read(data, celosia.Schema.of(quasi=["age"], person="who"))
    assert "classes count persons" in assessment_blocks(celosia.assess(table, [], ["prosecutor"]))[0].title


def test_a_loss_stands_beside_that_of_an_unchanged_table():
    table = small()
    protected = suppress_records(table, np.array([False, False, True, True]))
    comparison = celosia.compare(table, protected, ["suppression", "average-class-size", "squared-error"], [])
    lost, silent = comparison_blocks(comparison)
    rows = {row[0]: row[1:4] for row in lost.rows}
    assert rows["suppression"] == ("50 %", "0 %", "↑")
    assert silent.title == "Not measured"
    assert silent.rows[0][0] == "squared-error"
    same = comparison_blocks(celosia.compare(table, table, ["suppression"], []))[0]
    assert same.rows[0][1:4] == ("0 %", "0 %", "=")


def test_a_search_that_stopped_says_how_far_it_may_be_from_the_best():
    found = {
        "complete": False,
        "score": 0.25,
        "bound": 0.2,
        "gap": 0.05,
        "judged": 10,
        "nodes": 4000,
        "advice": ["time"],
    }
    (block,) = search_blocks([{"step": "generalise", "search": found}, {"step": "noise"}])
    assert block.title == (
        "generalise stopped before the search was complete: 10 of 4,000 combinations of levels were judged. The loss found "
        "is 0.25; nothing loses less than 0.2, so it is at most 0.05 above the best. What would help: more time "
        "(budget_seconds)."
    )
    assert not search_blocks([{"step": "generalise", "search": {**found, "complete": True}}])
    (unknown,) = search_blocks([{"step": "generalise", "search": {**found, "gap": None, "score": (1, 2)}}])
    assert "A result was found; how far it is from the best is unknown" in unknown.title


def picture() -> Picture:
    bars_ = bars("Ages & more", ["young", "old"], [("before", [0.2, 0.8]), ("after", [0.5, 0.5])])
    return Picture([bars_, overlay("pay", [0.0, 1.0, 2.0], [("before", [0.5, 0.5]), ("after", [0.1, 0.9])])], "A < B")


@pytest.mark.parametrize(
    ("ending", "start"), [("html", b"<!doctype html>"), ("svg", b"<svg xmlns="), ("png", b"\x89PNG"), ("pdf", b"%PDF-")]
)
def test_a_picture_is_saved_in_the_format_of_its_ending(tmp_path, ending, start):
    if ending == "pdf" and not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser is installed")
    assert picture().save(tmp_path / f"p.{ending}").read_bytes().startswith(start)


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"written as \.svg, \.png, \.pdf or \.html"):
        picture().save(tmp_path / "p.jpeg")
    assert not list(tmp_path.iterdir())


def test_a_drawing_needs_no_style_sheet(tmp_path):
    root = ET.fromstring(picture().save(tmp_path / "p.svg").read_text())
    text = " ".join("".join(each.itertext()) for each in root.iter() if each.tag.endswith("text"))
    for label in ("Ages & more", "young", "old", "before", "after", "pay", "50 %"):
        assert label in text
    assert "var(" not in ET.tostring(root, encoding="unicode")
    drawings = [each for each in root if each.tag.endswith("svg")]
    assert [float(each.get("y")) for each in drawings] == sorted(float(each.get("y")) for each in drawings)
    assert len(drawings) == 2


def test_a_map_with_a_clip_path_is_drawn(tmp_path):
    """Names of elements keep their capitals, which a parser of pages lowers."""
    clipped = '<svg viewBox="0 0 9 9"><clipPath id="c"><path d="M0 0H9V9"/></clipPath><path clip-path="url(#c)" d="M0 0"/></svg>'
    figure = Picture([f"<figure>{clipped}<figcaption>map</figcaption></figure>"], "map")
    assert figure.save(tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
