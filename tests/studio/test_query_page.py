"""Questions in a browser: declare, explain, ask, error bars, CSV, refusals; a budget spent here is spent."""

from __future__ import annotations

import re

import pytest

from celosia.gateway import commands
from celosia.studio.pages.query.declaration import FILE, declaration_text, declare

pytestmark = pytest.mark.xdist_group("studio-query")


@pytest.fixture
def page(begun, visit):
    opened = visit(begun)
    opened.goto(f"{begun.address}/query")
    return opened


def ask(page, sql, cost, button="Ask and pay"):
    page.get_by_label("One SELECT").fill(sql)
    page.get_by_label("Cost (ε)").fill(cost)
    page.get_by_role("button", name=button).click()


def test_declare_explain_ask_and_take_the_answer_away(begun, page, accessible):
    accessible(page)
    page.get_by_label("Lifetime budget ε").fill("much")
    page.get_by_role("button", name="Declare and make the ledger").click()
    page.get_by_text("Epsilon must be a number").wait_for()
    page.get_by_label("Lifetime budget ε").fill("2")
    page.get_by_label("smallest: income").fill("0")
    page.get_by_label("largest: income").fill("100000")
    page.get_by_label("values, separated by commas: sex").fill("female, male")
    page.get_by_role("button", name="Declare and make the ledger").click()
    page.locator("#said", has_text="Declared").wait_for()
    page.get_by_role("button", name=re.compile("GROUP BY")).click()
    sql = page.get_by_label("One SELECT").input_value()
    page.get_by_role("button", name="Explain first").click()
    page.get_by_text("Before you spend").wait_for()
    page.get_by_text("It answers 2 cells.").wait_for()
    page.get_by_text("2 of 2 left").wait_for()  # an explanation is free
    ask(page, sql, "0.5")
    page.locator("#said", has_text="Answered and charged").wait_for()
    page.get_by_text("1.5 of 2 left").wait_for()
    assert page.locator("#answer tbody tr").count() == 2
    assert page.locator("#answer .error circle").count() == 2
    with page.expect_download() as download:
        page.locator("#answer").get_by_role("link", name="CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "sex,records,records error,records low,records high"
    shown = page.locator("#answer tbody strong").all_inner_texts()
    assert [line.split(",")[1] for line in lines[1:]] == shown
    accessible(page)
    ask(page, sql, "0.5")
    page.locator("#said", has_text="this cost nothing").wait_for()
    assert page.locator("#answer tbody strong").all_inner_texts() == shown
    place = begun.project.folder / FILE
    commands.query("SELECT COUNT(*) FROM data", place, epsilon=1.0)  # elsewhere
    page.reload()
    page.get_by_text("0.5 of 2 left").wait_for()
    page.get_by_role("button", name="Check the ledger").click()
    page.locator("#said", has_text="The ledger holds").wait_for()


def test_what_is_not_answered_is_a_sentence_and_the_question_stays(begun, page):
    if not (begun.project.folder / FILE).exists():
        form = {"name": "clinic", "epsilon": "1", "column-0": "sex", "use-0": "yes", "type-0": "text"}
        declare(begun.project, declaration_text(form, begun.project.policy(), begun.project.folder))
        page.reload()
    for sql, cost, sentence in (
        ("SELECT COUNT(*) AS all_people FROM data", "1.5", "does not allow this request"),
        ("SELECT name FROM data", "0.1", "name"),
        ("DROP TABLE data", "0.1", "SELECT"),
        ("SELECT COUNT(*) FROM data", "lots", "must be a number above 0"),
    ):
        ask(page, sql, cost)
        page.locator("#refusal", has_text=sentence).wait_for()
        assert page.get_by_label("One SELECT").input_value() == sql
        assert "SELECT" not in page.url
        page.reload()


@pytest.mark.parametrize(("theme", "language", "title"), [("dark", "ca", "Consultes"), ("light", "es", "Consultas")])
def test_in_both_themes_in_every_language_on_a_phone(begun, visit, accessible, theme, language, title):
    page = visit(begun, color_scheme=theme, locale=language, viewport={"width": 375, "height": 700})
    page.goto(f"{begun.address}/query")
    assert page.locator("h1").inner_text() == title
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_data_the_page_says_what_it_is_for(studio, visit, accessible):
    page = visit(studio)
    page.goto(f"{studio.address}/query")
    assert "Here you will declare what may be asked" in page.locator("main").inner_text()
    accessible(page)
