"""Small charts: what they show is in the picture and in the text for screen readers."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from celosia.show.charts import bars, heatmap, overlay, stacked_bars


def picture(text):
    return ET.fromstring(text)


def test_an_overlay_draws_each_series_to_the_same_scale():
    page = picture(overlay("a < b", [0, 5, 10], [("before", [0.2, 0.8]), ("after", [0.4, 0.4])]))
    first, second = (path for path in page.iter("path") if path.get("class"))
    assert first.get("class") == "area s0"
    assert second.get("class") == "outline s1"
    heights = [[122 - float(step.split("H")[0]) for step in p.get("d").split("V")[1:-1]] for p in (first, second)]
    assert heights[0][1] == 114, "the greatest share fills the picture"
    assert abs(heights[1][0] - 57) < 0.1, "half of it is half as high"
    assert "before: 80 % 5" in page.find("svg").get("aria-label")


def test_an_overlay_of_one_value_and_of_nothing():
    assert picture(overlay("x", [3, 3], [("before", [0.0])])) is not None
    assert picture(overlay("x", [0, 1], [])) is not None


def test_a_heatmap_has_a_cell_per_pair_with_its_strength_and_sign():
    page = picture(heatmap("r", ["age", "<b>"], [[1.0, -0.57], [-0.57, 1.0]]))
    assert [rect.get("class") for rect in page.iter("rect")] == ["h9", "h5 minus", "h5 minus", "h9"]
    assert "age <b> -0.57" in page.find("svg").get("aria-label")


def test_a_heatmap_of_many_columns_leaves_the_numbers_to_the_titles():
    names = [f"c{i}" for i in range(12)]
    page = picture(heatmap("r", names, [[0.0] * 12] * 12))
    assert len(list(page.iter("text"))) == 24, "a name per row, a number per column"


def test_a_long_label_is_wrapped_and_nothing_of_it_is_cut_off():
    label = "health, education and other services of the public sector"
    page = picture(bars("x", [label, "b"], [("after", [0.5, 0.5])]))
    lines = [span.text for span in page.iter("tspan")]
    assert " ".join(lines[:-1]) == label
    assert max(map(len, lines)) <= 21
    assert "…" not in "".join(lines)


def test_numbers_inside_a_chart_are_written_as_the_reader_does():
    assert "12,5 %" in bars("x", ["a"], [("después", [0.125])], language="es")
    assert "-0,57" in heatmap("r", ["a", "b"], [[1.0, -0.57], [-0.57, 1.0]], language="ca")
    assert "20.000" in overlay("x", [0, 10000, 20000], [("abans", [0.5, 0.5])], language="ca")


def test_a_stacked_bar_fills_the_row_and_says_what_is_withheld():
    page = picture(stacked_bars("risk", ["high", "low"], [("before", [0.75, 0.25]), ("after", [None, 1.0])]))
    widths = [float(rect.get("width")) for rect in page.iter("rect")]
    assert widths[0] == 3 * widths[1]
    assert widths[2] == widths[0] + widths[1]
    assert "after: high …, low 100 %" in page.find("svg").get("aria-label")
