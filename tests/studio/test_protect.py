"""The page that protects, in Chromium: forms, live preview, order, switching off, full runs, refusals."""

from __future__ import annotations

import pytest
from tests.studio.conftest import PATIENCE

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("studio-protect")


@pytest.fixture(autouse=True)
def as_it_was(begun):
    """Each test has the policy of the demonstration, whatever the others did."""
    before = begun.project.text
    yield
    if begun.project.text != before:
        begun.project.change(lambda _: before)


def steps(studio):
    return [step.name for step in studio.project.policy().steps]


def test_a_slider_moves_the_preview_and_saving_changes_the_policy(begun, visit):
    page = visit(begun)
    page.goto(f"{begun.address}/protect")
    page.get_by_role("link", name="Change: generalise").click()
    preview = page.locator("#preview")
    preview.get_by_role("heading", name="Before and after").wait_for(timeout=120_000)  # the kernels may be compiled
    before = preview.inner_text()
    page.get_by_role("slider", name="suppress").fill("0.9")
    expect(preview).not_to_have_text(before, use_inner_text=True, timeout=PATIENCE)
    assert page.get_by_role("spinbutton", name="suppress").input_value() == "0.9"
    assert begun.project.policy().steps[0].method.suppress == 0.02, "nothing is saved by looking"
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert begun.project.policy().steps[0].method.suppress == 0.9
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("The last change was taken back.").wait_for()
    assert begun.project.policy().steps[0].method.suppress == 0.02


def test_a_value_out_of_bounds_is_refused_in_a_sentence_where_one_is(begun, visit):
    page = visit(begun)
    page.goto(f"{begun.address}/protect?change=require.0")
    page.locator("#entry-form").evaluate("form => form.noValidate = true")
    page.get_by_role("spinbutton", name="k").fill("0")
    page.get_by_role("button", name="Save").click()
    problem = page.get_by_role("alert")
    problem.get_by_text("k must be at least 1").first.wait_for()
    assert begun.project.policy().require[0].k == 5


def test_steps_are_added_moved_switched_and_removed_by_keyboard_and_by_dragging(begun, visit):
    page = visit(begun)
    page.goto(f"{begun.address}/protect")
    assert steps(begun) == ["generalise", "incomes", "rounded incomes", "rounded weights"]
    page.get_by_role("button", name="Move up: rounded incomes").press("Enter")
    page.locator("#step-1 strong", has_text="rounded incomes").wait_for()
    assert steps(begun) == ["generalise", "rounded incomes", "incomes", "rounded weights"]
    grip = page.locator("#step-2 .grip")
    grip.drag_to(page.locator("#step-0"))
    page.locator("#step-0 strong", has_text="incomes").wait_for()
    assert steps(begun) == ["incomes", "generalise", "rounded incomes", "rounded weights"]
    page.get_by_role("button", name="Switch off: rounded incomes").click()
    page.get_by_text("Switched.").wait_for()
    assert begun.project.policy().run.without == ("rounded incomes",)
    page.get_by_role("button", name="Switch on: rounded incomes").click()
    page.get_by_role("button", name="Switch off: rounded incomes").wait_for()
    page.get_by_text("Add a step").click()
    page.get_by_role("link", name="rank-swap", exact=True).click()
    page.get_by_role("checkbox", name="income").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert steps(begun)[-1] == "rank-swap"
    page.get_by_role("button", name="Remove: rank-swap").click()
    page.get_by_text("Removed.").wait_for()
    assert steps(begun) == ["incomes", "generalise", "rounded incomes", "rounded weights"]


def test_two_tabs_cannot_undo_each_other_unseen(begun, visit):
    first, second = visit(begun), visit(begun)
    for page in (first, second):
        page.goto(f"{begun.address}/protect?change=require.0")
    first.get_by_role("spinbutton", name="k").fill("4")
    first.get_by_role("button", name="Save").click()
    first.get_by_text("Saved.").wait_for()
    second.get_by_role("spinbutton", name="k").fill("3")
    second.get_by_role("button", name="Save").click()
    second.get_by_text("The policy was changed meanwhile").wait_for()
    assert begun.project.policy().require[0].k == 4
    second.reload()
    second.get_by_role("spinbutton", name="k").fill("3")
    second.get_by_role("button", name="Save").click()
    second.get_by_text("Saved.").wait_for()
    assert begun.project.policy().require[0].k == 3


def test_a_requirement_that_cannot_be_met_is_said_by_the_run(begun, visit):
    page = visit(begun)
    page.goto(f"{begun.address}/protect?change=require.0")
    page.get_by_role("spinbutton", name="k").fill("100000")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    page.get_by_role("button", name="Run on all records").click()
    told = page.locator(".run .box.bad")
    told.wait_for(timeout=2 * PATIENCE)
    assert "100000" in told.inner_text() or "does not hold" in told.inner_text()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("The last change was taken back.").wait_for()
