"""The map between risk and utility."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

import celosia
from celosia.frontier import Estimate, Frontier, Point
from celosia.frontier.candidates import Candidate
from celosia.release.report.ru_map import HEIGHT, TOP, WIDTH, Window, _round_up, exploration_page, ru_map

METHODS = [
    celosia.methods.Noise(columns=["a<b"], p=0.1),
    celosia.methods.RankSwap(columns=["a<b"]),
    celosia.methods.Microaggregate(columns=["a<b"]),
    celosia.methods.Shuffle(columns=["a<b"]),
    celosia.methods.CorrelatedNoise(columns=["a<b"]),
    celosia.methods.OrthogonalMask(columns=["a<b"]),
    celosia.methods.IndividualRanking(columns=["a<b"]),
]


def found(loss=None, **limits):
    points = tuple(
        Point(Candidate((m,)), Estimate(0.1 * i, 0.1 * i, 0.1 * i + 0.02), Estimate(0.8 - 0.1 * i, None, None), 3)
        for i, m in enumerate(METHODS)
    )
    return Frontier(
        points, (1.0, 0.0), celosia.risk.DistanceLinkage(), loss or celosia.loss.KolmogorovSmirnov(), **limits
    )


def tree(text):
    return ET.fromstring(f"<div>{text}</div>")


def test_the_map_is_well_formed_and_names_every_candidate():
    page = tree(ru_map(found(max_risk=0.3, max_loss=0.5)))
    titles = [t.text for t in page.iter("title")]
    for method in METHODS:
        assert any(t.startswith(method.name) and "risk" in t and "score" in t for t in titles)
    assert sum("at most" in t for t in titles) == 2
    dashed = [p for p in page.iter("path") if p.get("class") == "limit"]
    assert len(dashed) == 2


def test_the_original_is_top_right_and_all_marks_are_inside():
    text = ru_map(found())
    page = tree(text)
    original = next(g for g in page.iter("g") if g.get("class") == "original")
    x, y = map(float, original.find("path").get("d")[1:].split("h")[0].split())
    assert x > 0.9 * WIDTH - 10
    assert y < TOP + 10
    line = next(p for p in page.iter("polyline"))
    for place in line.get("points").split():
        px, py = map(float, place.split(","))
        assert 0 < px < WIDTH
        assert 0 < py < HEIGHT
    places = [tuple(map(float, p.split(","))) for p in line.get("points").split()]
    assert places == sorted(places), "more risk goes with more utility along the frontier"


def test_a_page_with_unbounded_loss_and_nothing_measured(tmp_path):
    exploration_page(found(celosia.loss.Wasserstein(), max_risk=0.0001), tmp_path / "map.html")
    assert "Best: noise" in (tmp_path / "map.html").read_text()
    empty = Frontier((), (1.0, 0.0), celosia.risk.DistanceLinkage(), celosia.loss.Wasserstein(), {"x": "<why>"})
    exploration_page(empty, tmp_path / "empty.html")
    assert "&lt;why&gt;" in (tmp_path / "empty.html").read_text()


@pytest.mark.parametrize(("value", "end"), [(0.83, 0.9), (1.0, 1.0), (37, 40), (0.0102, 0.02), (1e-9, 1e-9)])
def test_axes_end_at_plain_numbers(value, end):
    assert _round_up(value) == pytest.approx(end)


def test_a_window_draws_what_lies_in_it_and_spreads_it():
    everything, part = ru_map(found()), ru_map(found(), window=Window((0.0, 0.25), (0.55, 0.85)))
    assert tree(everything).find("figure") is not None
    marks = [[g for g in tree(text).iter("g") if (g.get("class") or "").startswith("f")] for text in (everything, part)]
    legend = len(METHODS)
    assert len(marks[0]) == 2 * legend
    assert len(marks[1]) == legend + 3, "risks 0, 0.1 and 0.2"
    assert "original</text>" not in part, "it lies outside"
    ends = [line.get("points").split() for line in tree(part).iter("polyline")]
    assert len(ends[0]) == len(METHODS), "the line goes on behind the frame, and is clipped"


def test_marks_that_can_be_chosen_are_buttons_with_their_number():
    page = tree(ru_map(found(), choosable=True, shown={1, 4}, chosen=4))
    buttons = {g.get("data-point"): g for g in page.iter("g") if g.get("role") == "button"}
    assert sorted(buttons) == ["1", "4"]
    assert buttons["4"].get("aria-pressed") == "true"
    assert buttons["1"].get("aria-label").startswith(METHODS[1].name)
    assert page.find(".//style") is None, "the page brings the style"
    svg = page.find(".//svg")
    assert [float(end) for end in svg.get("data-window").split()] == [0.0, 1.0, 0.0, 0.8]


def test_a_map_speaks_the_language_of_its_reader():
    page = ru_map(found(max_risk=0.3), language="es")
    assert "riesgo de 30 % como mucho" in page
    assert "Arriba hay más riesgo" in page
