"""Fuzzy sets in a browser: suggested, dragged, moved by keys, written, refused; each change an edit of the policy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.studio.conftest import running, until

from celosia.studio.pages.fuzzy.view import places, sets_by_column

pytestmark = pytest.mark.xdist_group("studio-fuzzy")
BARE = """[input]
path = "people.csv"

[schema]
quasi = ["age", "sex"]
insensitive = ["pay"]
"""
DRAWN = """
[[require]]
use = "q-anonymity"
q = 3
sets = {age = {Young = "(-inf;30;36)", Adult = "(30;36;54;60)", Old = "(54;60;inf)"}}
"""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzzy") / "people"
    folder.mkdir()
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"age": rng.integers(18, 90, 400), "sex": rng.choice(["F", "M"], 400), "pay": rng.random(400)})
    frame.write_csv(folder / "people.csv")
    yield from running(folder)


@pytest.fixture
def page(people, visit):
    def open_with(text, **look):
        (people.project.folder / "policy.toml").write_text(text)
        opened = visit(people, **look)
        opened.goto(f"{people.address}/fuzzy")
        return opened

    return open_with


def sets(people):
    return sets_by_column(places(people.project.policy()))["age"]


def said(page, text):
    page.locator("#said", has_text=text).wait_for()


def test_sets_are_suggested_and_become_a_requirement_and_a_step(people, page, accessible):
    opened = page(BARE)
    accessible(opened)
    opened.get_by_label("Number of sets").select_option("4")
    opened.get_by_role("button", name="Suggest sets").click()
    said(opened, "The sets are suggested")
    assert list(sets(people)) == ["low", "medium", "high", "very high"]
    assert people.project.policy().require[0].name == "q-anonymity"
    opened.get_by_role("button", name="Publish age as the names of its sets").click()
    said(opened, "A step was added")
    assert people.project.policy().steps[0].method.sets["age"] == sets(people)
    accessible(opened)


def test_a_point_is_dragged_and_the_numbers_follow(people, page):
    opened = page(BARE + DRAWN)
    before = opened.locator("#numbers").inner_text()
    opened.locator("#handle-1").scroll_into_view_if_needed()
    handle = opened.locator("#handle-1").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    opened.mouse.move(x, y)
    opened.mouse.down()
    opened.mouse.move(x + 60, y, steps=5)
    opened.locator("#at", has_text="Young ends").wait_for()
    until(lambda: opened.locator("#numbers").inner_text() != before)
    assert sets(people)["Young"] == "(-inf;30;36)"  # a preview changes nothing
    opened.mouse.up()
    until(lambda: sets(people)["Young"] != "(-inf;30;36)")
    said(opened, "The sets in the policy were changed")
    young, adult = sets(people)["Young"], sets(people)["Adult"]
    end = float(young.strip("()").split(";")[2])
    assert 36 < end < 54
    assert adult.startswith(f"(30;{end:g};")  # the neighbour rises where it falls
    opened.get_by_role("button", name="Undo").click()
    opened.get_by_text("The last change was taken back.").wait_for()
    assert sets(people)["Young"] == "(-inf;30;36)"


def test_a_point_moves_by_keys_and_keeps_the_focus(people, page):
    opened = page(BARE + DRAWN)
    handle = opened.locator("#handle-0")
    handle.focus()
    for _ in range(3):
        opened.keyboard.press("ArrowLeft")
    until(lambda: sets(people)["Young"] == "(-inf;27;36)")
    until(lambda: opened.evaluate("document.activeElement.id") == "handle-0")
    opened.locator("#handle-0[aria-valuenow='27.0']").wait_for()
    opened.keyboard.press("End")  # no further than its neighbour
    until(lambda: sets(people)["Young"] == "(-inf;35;36)")
    opened.locator("#handle-0[aria-valuenow='35.0']").wait_for()


def test_points_as_numbers_names_and_the_requirement(people, page):
    opened = page(BARE + DRAWN)
    opened.get_by_text("Set the points as numbers", exact=True).first.click()
    row = opened.locator("tr", has_text="Adult begins to fall, Old to rise")
    row.locator("input[type=number]").fill("50")
    row.get_by_role("button", name="Set").click()
    said(opened, "changed")
    assert sets(people)["Adult"] == "(30;36;50;60)"
    opened.get_by_label("Name of Old").fill("Senior")
    opened.locator("li", has=opened.get_by_label("Name of Old")).get_by_role("button", name="Rename").click()
    opened.get_by_label("Name of Senior").wait_for()
    opened.get_by_role("button", name="Split Senior in two").click()
    said(opened, "split in two")
    opened.get_by_role("button", name="Remove Adult").click()
    said(opened, "its neighbours meet")
    assert list(sets(people)) == ["Young", "Senior", "Senior 2"]
    opened.get_by_label("over the cells").select_option("min")
    opened.get_by_label("Q", exact=True).fill("500")
    opened.locator("form", has=opened.get_by_label("over the cells")).get_by_role("button", name="Set").click()
    opened.get_by_text("the requirement of 500 does not hold").wait_for()
    assert people.project.policy().require[0].aggregate == "min"
    opened.get_by_label("Name of Young").fill("Senior")
    opened.locator("li", has=opened.get_by_label("Name of Young")).get_by_role("button", name="Rename").click()
    opened.get_by_text("Each fuzzy set needs a name of its own").wait_for()


def test_sets_that_cannot_be_dragged_are_kept_and_written_as_text(people, page):
    gap = '\n[[require]]\nuse = "q-anonymity"\nq = 3\nsets = {age = {Young = "(-inf;30;36)", Old = "(54;60;inf)"}}\n'
    opened = page(BARE + gap)
    opened.get_by_text("They are kept as they are written").wait_for()
    opened.get_by_text("the sets are no partition").wait_for()
    opened.get_by_label("The sets as text").fill("Young = (-inf;40;30)")
    opened.get_by_role("button", name="Set", exact=True).first.click()
    opened.get_by_text("the points must not decrease").wait_for()
    opened.get_by_label("The sets as text").fill("Young = (-inf;30;40)\nOld = (30;40;inf)")
    opened.get_by_role("button", name="Set", exact=True).first.click()
    opened.locator("#handle-0").wait_for()
    assert sets(people) == {"Young": "(-inf;30;40)", "Old": "(30;40;inf)"}


def test_a_change_for_a_policy_that_another_tab_changed_is_refused(people, page):
    opened = page(BARE + DRAWN)
    (people.project.folder / "policy.toml").write_text(BARE + DRAWN.replace("q = 3", "q = 4"))
    opened.locator("#handle-0").focus()
    opened.keyboard.press("ArrowLeft")
    opened.get_by_text("The policy was changed meanwhile").wait_for()
    assert sets(people)["Young"] == "(-inf;30;36)"


def test_without_a_numeric_quasi_identifier_the_page_says_what_to_do(people, page):
    opened = page(BARE.replace('["age", "sex"]', '["sex"]').replace('["pay"]', '["pay", "age"]'))
    opened.get_by_text("No numeric quasi-identifier").wait_for()
    opened.get_by_label("Or take a numeric column").select_option("age")
    opened.get_by_role("button", name="Make it a quasi-identifier").click()
    opened.get_by_role("button", name="Suggest sets").wait_for()
    assert "age" in people.project.policy().schema.quasi


@pytest.mark.parametrize(
    ("theme", "language", "title"), [("dark", "es", "Conjuntos difusos"), ("light", "ca", "Conjunts difusos")]
)
def test_in_both_themes_in_every_language_on_a_phone(page, accessible, theme, language, title):
    opened = page(BARE + DRAWN, color_scheme=theme, locale=language, viewport={"width": 375, "height": 700})
    assert opened.locator("h1").inner_text() == title
    accessible(opened)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
