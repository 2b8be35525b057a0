"""The page of hierarchies in a browser: breaks and values are dragged, or moved by keys; files are imported."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xdist_group("studio-hierarchies")


@pytest.fixture(autouse=True)
def as_it_was(begun):
    """Each test has the policy of the demonstration, whatever the others did."""
    before = begun.project.text
    yield
    if begun.project.text != before:
        begun.project.change(lambda _: before)


def hierarchy(studio, column):
    return studio.project.policy().schema.hierarchy(column)


def open_column(page, studio, column):
    page.goto(f"{studio.address}/hierarchies?column={column}")
    page.get_by_role("heading", name=column, level=2).wait_for()


@pytest.fixture
def incomes(begun):
    """The demonstration with incomes in ranges."""
    from celosia.studio import toml_edit

    spec = {"use": "intervals", "breaks": [20000, 40000], "count": 1, "fallback": "*"}
    begun.project.change(lambda text: toml_edit.set_value(text, ("schema", "hierarchies", "income"), spec))
    return begun


def test_breaks_are_dragged_and_the_counts_follow(incomes, visit, accessible):
    page = visit(incomes)
    open_column(page, incomes, "income")
    accessible(page)
    assert page.locator(".grip").count() == 2
    grip = page.locator("#grip-0")
    box = page.locator("svg.cuts").bounding_box()
    start = grip.bounding_box()
    before = page.locator("#levels").inner_text()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, start["y"] + 10, steps=4)
    page.wait_for_function("before => document.querySelector('#levels').innerText !== before", arg=before)
    assert hierarchy(incomes, "income").breaks == (20000, 40000), "the policy changes when the break is let go"
    page.mouse.up()
    page.get_by_text("The hierarchy was changed.").wait_for()
    moved = hierarchy(incomes, "income").breaks
    assert len(moved) == 2
    assert 20000 not in moved
    assert 40000 in moved
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("taken back").wait_for()
    assert hierarchy(incomes, "income").breaks == (20000, 40000)


def test_breaks_move_by_keys_and_numbers(incomes, visit):
    page = visit(incomes)
    open_column(page, incomes, "income")
    page.locator("#grip-1").focus()
    page.keyboard.press("ArrowRight")
    value = float(page.locator("#break-1").input_value())
    assert value > 40000
    assert page.locator("#grip-1").get_attribute("aria-valuenow") == f"{value:g}"
    page.keyboard.press("Enter")
    page.get_by_text("The hierarchy was changed.").wait_for()
    assert hierarchy(incomes, "income").breaks == (20000, value)
    page.get_by_role("button", name="Add a break").click()
    page.locator("#grip-2").wait_for()
    page.locator("#break-2").fill("90000")
    page.get_by_role("button", name="Save").click()
    page.locator("#break-2[value='90000']").wait_for()
    page.get_by_role("button", name="Remove break 1").click()
    page.locator("#grip-2").wait_for(state="detached")
    assert hierarchy(incomes, "income").breaks[-1] == 90000
    assert 20000 not in hierarchy(incomes, "income").breaks


def test_a_tree_by_drag_and_drop_and_by_keys(begun, visit, accessible):
    page = visit(begun, viewport={"width": 1280, "height": 1600})
    open_column(page, begun, "occupation")
    accessible(page)
    nurse = page.locator("li.leaf", has_text="nurse").first
    target = page.locator("li.group", has=page.get_by_label("manual", exact=True)).first
    nurse.locator(".hold").drag_to(target.locator(":scope > .node"))
    page.get_by_text("The hierarchy was changed.").wait_for()
    tree = hierarchy(begun, "occupation").tree
    assert "nurse" in tree["manual"]
    assert "nurse" not in tree["health and education"]
    # the same without a mouse: tick, choose, press
    page.get_by_label("nurse", exact=True).check()
    page.get_by_label("Into").select_option(label="health and education")
    page.get_by_role("button", name="Move", exact=True).press("Enter")
    page.wait_for_function("() => !document.querySelector('li.group:nth-child(2)').innerText.includes('nurse')")
    assert "nurse" in hierarchy(begun, "occupation").tree["health and education"]
    page.get_by_label("cook", exact=True).check()
    page.get_by_label("cleaner", exact=True).check()
    page.get_by_label("Name").fill("house work")
    page.get_by_role("button", name="Put together").click()
    page.get_by_label("house work", exact=True).wait_for()
    assert set(hierarchy(begun, "occupation").tree["services"]["house work"]) == {"cook", "cleaner"}
    page.get_by_label("cook", exact=True).check()
    page.get_by_role("button", name="Dissolve the group").click()
    page.get_by_text("cannot be dissolved").wait_for()


def test_dates_and_codes_by_ticks_and_numbers(begun, visit, accessible):
    page = visit(begun)
    open_column(page, begun, "birth_date")
    page.get_by_label("quarter").check()
    page.locator(".levels li").nth(5).wait_for()
    assert hierarchy(begun, "birth_date").units == ("month", "year", "decade"), "not before it is saved"
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The hierarchy was changed.").wait_for()
    assert hierarchy(begun, "birth_date").units == ("month", "quarter", "year", "decade")
    open_column(page, begun, "municipality")
    page.get_by_label("Built by").select_option("prefixes")
    page.get_by_role("button", name="Use").click()
    page.get_by_text("The hierarchy was set").wait_for()
    page.get_by_label("Level 1", exact=True).fill("4")
    page.locator("#levels").get_by_text("****").first.wait_for()
    accessible(page)


def test_a_file_of_levels_is_imported_or_refused(begun, visit, tmp_path):
    page = visit(begun)
    open_column(page, begun, "sex")
    levels = tmp_path / "sex.csv"
    levels.write_text("female;person;*\nmale;person;*\n", "utf-8")
    page.get_by_label("File of levels").set_input_files(levels)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("The file was imported.").wait_for()
    assert hierarchy(begun, "sex").levels(["male"]).labels(1) == ["person"]
    assert hierarchy(begun, "sex").path.is_relative_to(begun.project.folder)
    short = tmp_path / "short.csv"
    short.write_text("female;person;*\n", "utf-8")
    page.get_by_label("File of levels").set_input_files(short)
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("#problem").get_by_text("1 of 2 distinct values are not covered").wait_for()
    page.get_by_label("File of levels").set_input_files(short)
    page.get_by_label("Values that the file lacks become *").check()
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator(".levels").get_by_text("person").wait_for()
    page.locator("#problem").get_by_text("not covered").wait_for(state="detached")
    assert hierarchy(begun, "sex").fallback == "*"


def test_a_column_without_a_hierarchy_teaches_and_begins(begun, visit, accessible):
    page = visit(begun, color_scheme="dark", viewport={"width": 390, "height": 800})
    open_column(page, begun, "sex")
    page.get_by_role("button", name="Remove the hierarchy").click()
    page.get_by_text("can only stay as it is or be hidden altogether").wait_for()
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "fits a phone"
    page.get_by_role("button", name="Take the suggestion").click()
    page.get_by_text("The hierarchy was set").wait_for()
    assert hierarchy(begun, "sex") is not None


def test_an_empty_project_teaches(studio, visit, accessible):
    page = visit(studio, locale="ca")
    page.goto(f"{studio.address}/hierarchies")
    page.get_by_text("Aquí dibuixareu com les edats").wait_for()
    accessible(page)
