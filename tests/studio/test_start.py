"""The first page and the data page: how a project begins, what the columns are."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xdist_group("studio-start")


def test_from_the_demonstration_to_a_changed_role(studio, visit, accessible):
    page = visit(studio)
    accessible(page)
    page.get_by_role("button", name="Use the demonstration data").click()
    page.get_by_role("heading", name="Data", level=1).wait_for()
    assert page.locator("#said").inner_text().startswith("The data were read")
    accessible(page)
    before = studio.project.text
    card = page.locator("li.column", has=page.get_by_role("heading", name="occupation"))
    card.get_by_label("Role").select_option("sensitive")
    card.get_by_role("button", name="Take the suggestion").wait_for()
    assert "occupation" in studio.project.policy().schema.sensitive
    assert "occupation" not in studio.project.policy().schema.quasi
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("The last change was taken back.").wait_for()
    assert studio.project.text == before
    page.get_by_role("button", name="Redo").click()
    page.get_by_text("The change was made again.").wait_for()
    assert "occupation" in studio.project.policy().schema.sensitive
