"""The playground in a browser: points by pointer and keyboard, Run, Stop, Step, files, a reload in the middle of a run."""

from __future__ import annotations

import re

import pytest
from tests.studio.conftest import until

from celosia.studio.pages.fcrm.board import example, points_csv
from celosia.studio.pages.fcrm.pictures import plane
from celosia.studio.pages.fcrm.routes import Playground
from celosia.studio.pages.fcrm.view import view

pytestmark = pytest.mark.xdist_group("studio-fcrm")


@pytest.fixture
def page(studio, visit):
    Playground(studio.project).change(lambda board: board.clear().change(c=3, m=1.5, constraints=(), max_iterations=30))
    opened = visit(studio)
    opened.goto(f"{studio.address}/fcrm")
    return opened


def board(studio):
    return Playground(studio.project).board()


def points(page, count):
    page.get_by_text(f"{count} point", exact=False).first.wait_for()


def reading(page, name):
    return page.locator("dl.readout div", has=page.locator("dt", has_text=name)).locator("dd").inner_text()


def test_points_are_clicked_fitted_saved_and_cleared(studio, page):
    assert "The board is empty" in page.locator("#state").inner_text()
    assert page.get_by_role("button", name="Run", exact=True).is_disabled()
    svg = page.locator("#board svg")
    box = svg.bounding_box()
    places = [(0.2, 0.2), (0.3, 0.3), (0.5, 0.6), (0.7, 0.4), (0.8, 0.7), (0.4, 0.5), (0.6, 0.3), (0.9, 0.5)]
    for i, (x, y) in enumerate(places, 1):
        page.locator("#board svg").click(position={"x": x * box["width"], "y": y * box["height"]})
        points(page, i)
    clicked = until(lambda: len(board(studio).points) == 8 and board(studio).points)  # stored after it is drawn
    place = plane(view(board(studio)).drawing)  # it shows 0 … 10 both ways
    assert place.x(clicked[0][0]) == pytest.approx(0.2 * place.width, abs=3)
    assert place.y(clicked[0][1]) == pytest.approx(0.2 * place.height, abs=3)
    page.get_by_role("button", name="Step", exact=True).click()
    page.locator("#state", has_text="Stopped").or_(page.locator("#state", has_text="Converged")).wait_for()
    assert reading(page, "iteration") == "1"
    assert page.locator("#board .line").count() >= 1
    assert {e.get_attribute("class") for e in page.locator("#board .dot").all()} <= {"dot s1", "dot s2", "dot s3"}
    page.get_by_role("button", name="Save points").click()
    page.get_by_text("Saved in the project").wait_for()
    saved = studio.project.folder / "playground" / "points.csv"
    assert saved.read_text() == points_csv(board(studio))
    assert saved.stat().st_mode & 0o777 == 0o600
    page.get_by_role("button", name="Remove the last").click()
    points(page, 7)
    page.get_by_role("button", name="Clear").click()
    page.locator("#state", has_text="The board is empty").wait_for()
    assert board(studio).points == ()


def most_iterations(page, number):
    """Fill the field in, which is among the settings that are folded at first."""
    field = page.get_by_label("Most iterations")
    if not field.is_visible():
        page.locator("details.more summary").click()
    field.fill(str(number))


def test_a_run_is_stopped_goes_on_after_a_reload_and_ends(studio, page):
    page.get_by_role("button", name="Example").click()
    points(page, 150)
    page.get_by_label("Number of lines (c)").select_option("5")
    most_iterations(page, 200)  # it does not end by itself meanwhile
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("#state", has_text="Running").wait_for()
    page.reload()  # in the middle of the run
    page.locator("dl.readout div:first-child dd", has_text=re.compile(r"^\s*([4-9]|\d\d)\s*$")).wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator("#state", has_text="Stopped").wait_for()
    at = len(board(studio).readings)
    assert not board(studio).running
    page.reload()
    page.locator("#state", has_text="Stopped").wait_for()
    assert len(board(studio).readings) == at  # stopped is stopped
    page.get_by_role("button", name="Step", exact=True).click()
    page.locator("dl.readout div:first-child dd", has_text=re.compile(rf"^\s*{at + 1}\s*$")).wait_for()
    objectives = [r.objective for r in board(studio).readings]
    assert objectives == sorted(objectives, reverse=True)
    most_iterations(page, at + 4)
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("#state", has_text="Converged").or_(page.locator("#state", has_text="Ended")).wait_for()
    done = board(studio)
    assert done.finished
    assert len(page.locator("#board .line").all()) == len(set(page.locator(".tip").all_text_contents()))
    page.get_by_text("All iterations", exact=True).first.click()
    assert page.locator("#trail tbody tr").count() == len(done.readings)
    with page.expect_download() as download:
        page.get_by_role("link", name="Points with their new values").click()
    assert download.value.path().read_text().splitlines()[0] == "x,y,synthetic y,cluster"


def test_the_keyboard_puts_points_where_the_cross_is(studio, page, accessible):
    page.locator("#board").focus()
    page.keyboard.press("Enter")
    points(page, 1)
    assert board(studio).points == ((5.0, 5.0),)
    assert page.evaluate("document.activeElement.id") == "board"
    for key in ("ArrowRight", "Shift+ArrowUp", "Enter"):
        page.keyboard.press(key)
    points(page, 2)
    assert board(studio).points[-1] == (5.1, 6.0)
    page.get_by_label("x", exact=True).fill("2.5")
    page.get_by_label("y", exact=True).fill("7")
    page.get_by_role("button", name="Add point").click()
    points(page, 3)
    assert board(studio).points[-1] == (2.5, 7.0)
    accessible(page)


def test_files_are_loaded_or_refused_by_their_line(studio, page, tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("age,pay,tax\n" + "\n".join(f"{20 + i},{i * i},{i % 7}" for i in range(20)))
    bad.write_text("1,2\n3,zz-secret\n")
    page.get_by_label("Load a file").set_input_files(bad)
    page.get_by_role("button", name="Load", exact=True).click()
    page.get_by_text("Line 2 has a value that is missing or no number").wait_for()
    assert "zz-secret" not in page.content()
    page.get_by_label("Load a file").set_input_files(good)
    page.get_by_role("button", name="Load", exact=True).click()
    points(page, 20)
    page.get_by_text("more than two coordinates").wait_for()
    page.get_by_label("Dependent coordinate", exact=True).select_option(label="3 · tax")
    page.get_by_role("button", name="Apply").click()
    page.locator("#board svg text", has_text="tax").wait_for()
    assert board(studio).axes == ("age", "tax")
    page.get_by_label("Constraints").fill("wage >= 0")
    page.get_by_role("button", name="Step", exact=True).click()
    page.get_by_text("No column named 'wage'").wait_for()
    page.get_by_label("Constraints").fill("tax <= 4")
    page.get_by_role("button", name="Step", exact=True).click()
    page.get_by_text("The constraints moved").wait_for()
    page.get_by_label("Dependent coordinate", exact=True).select_option(label="1 · age")
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("Coordinate 1 is dependent and independent").wait_for()


def test_a_run_that_cannot_go_on_stops(studio, page):
    impossible = {"points": example(), "c": 3, "constraints": ("y >= 5", "y <= 4"), "running": True}
    Playground(studio.project).change(lambda now: now.change(**impossible))
    page.reload()
    page.get_by_text("The constraints cannot be met").wait_for()
    assert not board(studio).running


def test_columns_of_the_project_become_a_step_of_the_policy(begun, visit):
    page = visit(begun)
    page.goto(f"{begun.address}/fcrm")
    page.locator("#across").select_option("sampling_weight")
    page.locator("#up").select_option("income")
    page.get_by_role("button", name="Take them").click()
    page.get_by_text("from the project's data", exact=False).first.wait_for()
    page.get_by_role("button", name="Add to the policy").click()
    page.get_by_text("The policy has a further step: fcrm.").wait_for()
    step = begun.project.policy().steps[-1].method
    assert (step.name, step.dependent, step.independent) == ("fcrm", ("income",), ("sampling_weight",))
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("The last change was taken back.").wait_for()
    assert begun.project.policy().steps[-1].method.name != "fcrm"


@pytest.mark.parametrize(
    ("theme", "language", "title"), [("light", "es", "Taller FCRM"), ("dark", "ca", "Taller FCRM")]
)
def test_in_both_themes_in_every_language_on_a_phone(studio, visit, accessible, theme, language, title):
    Playground(studio.project).change(lambda now: now.clear().change(points=example()[:40], c=3, constraints=()))
    page = visit(studio, color_scheme=theme, locale=language, viewport={"width": 375, "height": 700})
    page.goto(f"{studio.address}/fcrm")
    assert page.locator("h1").inner_text() == title
    page.locator("#step").click()
    page.locator("#board .line").first.wait_for()
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
