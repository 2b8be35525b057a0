"""The page of comparisons: an exploration as a job, the map, a candidate that is applied, two tables side by side."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.frontier import explore
from celosia.studio import toml_edit
from celosia.studio.pages.compare import exploration
from celosia.studio.pages.compare.view import MapQuery, rows, sample_of, zoom_window
from celosia.table.frames import table_fingerprint
from celosia.views.comparing.columns import column_pairs
from celosia.views.comparing.dependences import dependences

pytestmark = pytest.mark.xdist_group("studio-compare")


def numbers(n=60):
    x = np.random.default_rng(1).normal(size=(n, 2))
    return celosia.read(pl.DataFrame({"a": x[:, 0], "b": x[:, 0] + 0.1 * x[:, 1]}))


def ages():
    data = pl.DataFrame({"age": [20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75], "sex": ["F", "M"] * 6})
    hierarchies = {"age": "intervals(width=20)", "sex": {"use": "tree", "tree": {"any": ["F", "M"]}}}
    return celosia.read(data, celosia.Schema.of(quasi=["age", "sex"], hierarchies=hierarchies))


@pytest.fixture(scope="module")
def frontier():
    tried = [{"use": "noise", "vary": {"p": [0.1, 1.0]}}, "rank-swap(columns=[a, b], window=0.2)"]
    measured = {"risk": "distance-linkage", "loss": "kolmogorov-smirnov"}
    return explore(numbers(), tried, seeds=2, seed=1, workers=1, **measured)


def test_numbers_are_overlaid_and_ranges_spread_over_what_they_cover():
    table = ages()
    safe = celosia.protect(table, "recode(column=age, level=1)", seed=1)
    age = column_pairs(table, safe)[0]
    assert age.name == "age"
    assert sum(age.before) == pytest.approx(1)
    assert sum(age.after) == pytest.approx(1)
    assert age.hidden == 0
    middles = [(a + b) / 2 for a, b in zip(age.edges, age.edges[1:], strict=False)]
    young = sum(share for share, middle in zip(age.after, middles, strict=True) if middle < 40)
    assert young == pytest.approx(4 / 12, abs=0.02), "20, 25, 30 and 35 are in [20-40)"


def test_a_hidden_column_is_said_to_show_nothing():
    table = ages()
    gone = celosia.protect(table, "recode(column=age, level=2)", seed=1)
    age = column_pairs(table, gone)[0]
    assert age.hidden == 1
    assert age.distance == pytest.approx(1)


def test_categories_are_compared_under_the_labels_of_the_release():
    table = ages()
    safe = celosia.protect(table, "recode(column=sex, level=1)", seed=1)
    sex = column_pairs(table, safe)[1]
    assert (sex.labels, sex.before, sex.after, sex.distance) == (("any",), (1.0,), (1.0,), 0.0)


def test_two_protected_tables_are_compared_by_the_labels_they_have():
    table = ages()
    one_level, two_levels = (celosia.protect(table, f"recode(column=sex, level={level})", seed=1) for level in (1, 2))
    sex = column_pairs(one_level, two_levels)[1]
    assert (sex.labels, sex.before, sex.hidden) == (("any",), (1.0,), 1.0)


def test_many_days_are_shown_by_year_or_decade():
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=300 * i) for i in range(80)]
    table = celosia.read(pl.DataFrame({"born": days}))
    born = column_pairs(table, table)[0]
    assert born.labels == ("1950s", "1960s", "1970s", "1980s", "1990s", "2000s", "2010s")
    assert sum(born.before) == pytest.approx(1)


def test_dependences_before_and_after():
    table = numbers()
    noisy = celosia.protect(table, "noise(columns=[a, b], p=4.0)", seed=1)
    pearson, cramer = dependences(table, noisy)
    assert pearson.measure == "pearson"
    assert pearson.before[0][1] > 0.95 > pearson.after[0][1]
    assert pearson.largest == pytest.approx(pearson.before[0][1] - pearson.after[0][1])
    assert cramer.names == ("a", "b")
    assert dependences(ages(), celosia.protect(ages(), "recode(column=age, level=2)", seed=1))[0].measure == "cramer"


def test_a_column_with_too_many_categories_is_left_out_and_said():
    data = pl.DataFrame({"id": [f"v{i}" for i in range(100)], "x": ["a", "b"] * 50, "y": ["c", "d"] * 50})
    table = celosia.read(data)
    assert dependences(table, table)[0].left_out == ("id",)


def test_a_large_table_is_compared_by_a_sample():
    large = celosia.read(pl.DataFrame({"x": np.arange(20_001)}))
    assert len(sample_of(large)) == 20_000
    assert table_fingerprint(sample_of(large)) == table_fingerprint(sample_of(large))
    assert sample_of(numbers()) is not None


def test_the_map_zooms_and_filters(frontier):
    listed = rows(frontier)
    whole = zoom_window(frontier, MapQuery(zoom="all"))
    inner = zoom_window(frontier, MapQuery(zoom="in"))
    assert inner.risk[1] - inner.risk[0] == pytest.approx((whole.risk[1] - whole.risk[0]) / 2)
    given = {"risk_low": 0.1, "risk_high": 0.2, "loss_low": 0.1, "loss_high": 0.2}
    assert zoom_window(frontier, MapQuery(**given)).risk == pytest.approx((0.1, 0.2))
    assert zoom_window(frontier, MapQuery(**{**given, "risk_low": 9, "risk_high": 1})).risk == whole.risk
    assert [MapQuery(family=["noise"]).shows(row) for row in listed] == [True, True, False]
    assert any(MapQuery(front=True).shows(row) for row in listed)
    assert not any(MapQuery(most_risk="-1").shows(row) for row in listed)
    assert MapQuery(most_risk="", chosen="", front="").chosen is None
    assert "[[step]]" in listed[0].steps


@pytest.fixture(scope="module")
def planned(begun):
    """The demonstration with two quick candidates."""
    tried = [{"use": "generalise", "suppress": 0.05, "vary": {"require": [["k-anonymity(k=2)"], ["k-anonymity(k=5)"]]}}]
    begun.project.change(lambda text: toml_edit.set_value(text, ("explore", "candidate"), tried))
    return begun


@pytest.fixture
def explored(planned):
    """The same, explored with one seed."""
    project = planned.project
    project.change(lambda text: toml_edit.set_value(text, ("explore", "seeds"), 1))
    if exploration.load_frontier(project) is None:
        place = exploration.folder_of(project)
        place.mkdir(parents=True, exist_ok=True)
        (place / "policy.toml").write_text(project.text, "utf-8")
        exploration.explore_policy(project, lambda what, share: None, place.name)
    return planned


def test_an_exploration_survives_a_reload_and_a_candidate_is_applied(planned, visit, accessible):
    page = visit(planned)
    page.goto(f"{planned.address}/compare")
    page.locator("#pictures figure").first.wait_for()
    accessible(page)
    page.get_by_label("Seeds per candidate").fill("1")
    page.get_by_role("button", name="Explore", exact=True).click()
    page.get_by_text("The exploration has begun.").wait_for()
    page.reload()
    page.locator("#map svg.ru[data-window]").wait_for()
    assert planned.project.policy().explore.seeds == 1
    points = exploration.load_frontier(planned.project).points
    assert len(points) == 2
    accessible(page)
    mark = page.locator('#map [data-point="1"]')
    mark.focus()
    page.keyboard.press("Enter")
    page.locator("#candidate").get_by_text("k = 5").wait_for()
    page.get_by_role("button", name="Apply to the policy").click()
    page.get_by_text("The steps of the candidate stand in the policy now.").wait_for()
    assert [step.method.spec() for step in planned.project.policy().steps] == points[1].candidate.spec()
    page.locator("#map svg.ru[data-window]").wait_for()
    assert exploration.load_frontier(planned.project) is not None, "the map stays when the steps change"


def test_zooming_filtering_and_any_two_side_by_side(explored, visit):
    page = visit(explored)
    page.goto(f"{explored.address}/compare")
    page.locator("#map svg.ru[data-window]").wait_for()
    before = page.locator("#map svg.ru[data-window]").get_attribute("data-window")
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function("before => document.querySelector('#map svg.ru').dataset.window !== before", arg=before)
    page.get_by_role("button", name="All", exact=True).click()
    page.wait_for_function("before => document.querySelector('#map svg.ru').dataset.window === before", arg=before)
    page.locator("#map svg.ru[data-window]").scroll_into_view_if_needed()
    box = page.locator("#map svg.ru[data-window]").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.6, steps=3)
    page.mouse.up()
    page.wait_for_function("before => document.querySelector('#map svg.ru').dataset.window !== before", arg=before)
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_label("risk up to").fill("0")
    page.get_by_label("risk up to").press("Tab")
    page.get_by_text("0 of 2 candidates are shown.").wait_for()
    page.get_by_label("Left", exact=True).select_option("0")
    page.get_by_label("Right", exact=True).select_option("1")
    page.locator("#pictures th", has_text="k=5").first.wait_for()
    assert page.locator("#pictures th", has_text="k=2").count() == 1


def test_what_cannot_be_measured_is_said(explored, visit):
    page = visit(explored)
    page.goto(f"{explored.address}/compare")
    page.get_by_text("Explore again").click()
    page.get_by_label("Seeds per candidate").evaluate("e => e.removeAttribute('min')")
    page.get_by_label("Seeds per candidate").fill("0")
    page.get_by_role("button", name="Explore", exact=True).click()
    page.locator("#problem").get_by_text("at least 1").wait_for()
    assert explored.project.policy().explore.seeds == 1


def test_a_cancelled_exploration_goes_on_where_it_stopped(explored, visit):
    page = visit(explored)
    page.goto(f"{explored.address}/compare")
    page.get_by_text("Explore again").click()
    page.get_by_label("Seeds per candidate").fill("2000")
    page.get_by_role("button", name="Explore", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled.").wait_for()
    page.get_by_text("goes on where it was").wait_for()


def test_an_empty_project_teaches(studio, visit, accessible):
    page = visit(studio, color_scheme="dark", viewport={"width": 390, "height": 800})
    page.goto(f"{studio.address}/compare")
    page.get_by_text("many ways to protect your table").wait_for()
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "fits a phone"
