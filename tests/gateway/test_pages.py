"""The gateway's pages in a browser: the main path, refusals, three languages, both themes, a phone, the administrator."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import pytest
from tests.web.watching import width

from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.translations import words

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.xdist_group("gateway-pages")
PHONE = {"viewport": {"width": 390, "height": 800}}
LOCALES = {"en": "en-GB", "es": "es-ES", "ca": "ca-ES"}
QUESTION = "SELECT sex, COUNT(*) AS people, AVG(age) AS mean, MEDIAN(age) AS middle FROM person GROUP BY sex"


@dataclass
class Served:
    """A gateway that is served, and its keys."""

    address: str
    gateway: Gateway
    keys: Keys
    analyst: str
    admin: str


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve_long):
    from celosia.gateway.site.web import create

    place = tmp_path_factory.mktemp("gateway")
    rows = "\n".join(f"{20 + i % 50},{'FM'[i % 2]},T{i % 3}" for i in range(600))
    (place / "person.csv").write_text(f"age,sex,town\n{rows}")
    columns = {
        "age": {"type": "integer", "bounds": [0, 100]},
        "sex": {"type": "text", "categories": ["F", "M"]},
        "town": {"type": "text"},
    }
    tables = {"person": {"source": str(place / "person.csv"), "columns": columns}}
    shares = [{"analyst": "*", "period": "month", "epsilon": 50}]
    facts = DatasetFacts.of({"name": "clinic", "epsilon": 100.0, "shares": shares, "tables": tables})
    keys = Keys.create(place / "keys.json")
    analyst, admin = keys.add("ana"), keys.add_administrator()
    with closing(Gateway(facts, Ledger.create(place / "ledger.db"), grid=0)) as gateway:
        yield Served(serve_long(create(gateway, keys, per_minute=6000)), gateway, keys, analyst, admin)


def sign_in(page, key):
    page.locator("#key").fill(key)
    page.locator("main button").click()
    page.locator("form.visitor").wait_for()
    return page


def ask(page, sql, cost, do="ask"):
    page.locator("#sql").fill(sql)
    page.locator("#cost").fill(cost)
    page.locator(f"button[value={do}]").click()


def test_from_the_key_to_the_file_without_javascript(served, watch):
    page = watch(served.address, java_script_enabled=False, locale="en-GB", accept_downloads=True)
    sign_in(page, served.analyst)
    page.get_by_role("link", name="SELECT AVG").click()
    assert "MEDIAN" in page.get_by_label("One SELECT").input_value()
    ask(page, QUESTION, "0,5", "explain")
    page.get_by_role("heading", name="How far the answer may be off").wait_for()
    told = page.get_by_role("row", name="mean").inner_text()
    assert told.count("±") == 4, "the error of the mean, by the number of records"
    before = served.gateway.balance("ana").lifetime.spent.loss
    ask(page, QUESTION, "0,5")
    page.get_by_role("status", name="").filter(has_text="Answered and charged.").wait_for()
    assert served.gateway.balance("ana").lifetime.spent.loss == pytest.approx(before + 0.5)
    assert page.locator("figure .error circle").count() == 4, "two columns of two groups have error bars"
    shown = page.locator("tbody strong").all_inner_texts()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == [shown[0], shown[3]]
    page.reload()
    assert page.locator("tbody strong").all_inner_texts() == shown
    assert served.gateway.balance("ana").lifetime.spent.loss == pytest.approx(before + 0.5), "nothing was charged again"
    ask(page, QUESTION, "0.5")
    page.get_by_text("The same was answered before: this cost nothing.").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Your key").wait_for()


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.sampled
def test_refusals_are_in_the_language_and_keep_what_was_typed(served, watch, language):
    page = sign_in(watch(served.address, refusals=True, locale=LOCALES[language]), served.analyst)
    w = words(language)
    for sql, cost, said in (
        (
            "SELECT agee FROM person",
            "0.1",
            {"en": "Did you mean 'age'?", "es": "¿Quiso decir 'age'?", "ca": "Volíeu dir"},
        ),
        ("SELECT COUNT(*) FROM person", "1,000", {"en": "two ways", "es": "dos maneras", "ca": "dues maneres"}),
        ("SELECT COUNT(*) FROM person", "99", {"en": "share of", "es": "cuota de", "ca": "quota de"}),
        ("SELECT town, COUNT(*) FROM person GROUP BY town", "1", {"en": "a delta", "es": "un delta", "ca": "un delta"}),
    ):
        ask(page, sql, cost)
        alert = page.get_by_role("alert")
        alert.filter(has_text=said[language]).wait_for()
        assert alert.locator("[lang]").count() == 0, "nothing is left in English"
        assert (page.locator("#sql").input_value(), page.locator("#cost").input_value()) == (sql, cost)
    page.locator("form.visitor button").click()
    page.locator("#key").fill("wrong")
    page.locator("main button").click()
    page.get_by_text(w["key_refused"]).wait_for()


def pages_of(page, served):
    """Every page with everything that it can show."""
    yield "sign in"
    sign_in(page, served.analyst)
    yield "desk"
    ask(page, QUESTION, "0.25", "explain")
    page.locator("#before-title").wait_for()
    for summary in page.locator("summary").all():
        summary.click()
    yield "explanation"
    ask(page, QUESTION, "0.25")
    page.locator("#answer-title").wait_for()
    yield "answer"
    ask(page, "SELECT *", "1")
    page.get_by_role("alert").wait_for()
    yield "refusal"
    page.locator("form.visitor button").click()
    page.locator("#key").wait_for()
    sign_in(page, served.admin)
    page.locator("summary").first.click()
    yield "administration"


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.sampled
def test_every_page_is_accessible_in_both_themes_and_fits_a_phone(served, watch, accessible, language):
    page = watch(served.address, refusals=True, locale=LOCALES[language], **PHONE)
    for name in pages_of(page, served):
        assert page.locator("html").get_attribute("lang") == language, name
        assert width(page) <= 390, name
        for scheme in ("light", "dark") if language == "en" else ():  # the colours are the same in all languages
            page.emulate_media(color_scheme=scheme)
            accessible(page)


def test_the_language_is_changed_on_the_page(served, watch):
    page = sign_in(watch(served.address, locale="en-GB"), served.analyst)
    page.get_by_role("link", name="SELECT COUNT").click()
    sql = page.locator("#sql").input_value()
    page.get_by_role("link", name="Català").click()
    page.get_by_role("heading", name="Pressupost").wait_for()
    assert page.locator("#sql").input_value() == sql, "the example stays"
    page.get_by_role("link", name="Español").click()
    page.get_by_role("heading", name="Presupuesto").wait_for()


def test_the_administrator_takes_a_key_away(served, watch):
    served.keys.add("berta")
    page = sign_in(watch(served.address, locale="en-GB"), served.admin)
    page.get_by_role("heading", name="berta").wait_for()
    page.get_by_label("Take the key of berta away").first.click()
    page.get_by_role("button", name="Take the key of berta away").click()
    assert "berta" in served.keys.names(), "not without a yes"
    page.locator("li", has_text="berta").get_by_role("checkbox").check()
    page.get_by_role("button", name="Take the key of berta away").click()
    page.get_by_role("status").filter(has_text="The key was taken away.").wait_for()
    assert served.keys.names() == ["ana"]
