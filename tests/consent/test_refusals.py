"""What the consent pages refuse, in a browser: the reader is told why in her language, and nothing changes."""

from __future__ import annotations

import html
import re
import time
from urllib.parse import quote

import pytest

from celosia.consent.owners.tables import tables
from celosia.consent.site.pages import words
from celosia.consent.site.signin import issue, redeem
from celosia.consent.site.web import create
from celosia.web.sessions import Sessions

pytest.importorskip("fastapi")
pytestmark = pytest.mark.sampled  # of the readers of each refusal one
READERS = [(True, "es"), (False, "ca"), (False, "en")]
MINE, THEIRS = "B00001", "B00002"


@pytest.fixture
def store(store):
    store.add_owners([MINE, THEIRS])
    store.choose(MINE, {"residence": True, "timetable": False}, ["residence", "timetable"])
    store.choose(THEIRS, {"residence": False, "grant": True}, ["residence", "grant"])
    store.set_default(block=False)  # so that the trail is not empty
    return store


@pytest.fixture(
    params=READERS, ids=[f"{language}-{'scripts' if scripts else 'no-scripts'}" for scripts, language in READERS]
)
def reader(request, browser):
    """A browser of somebody who reads a language, with or without JavaScript."""
    scripts, language = request.param
    context = browser.new_context(java_script_enabled=scripts, locale=language, viewport={"width": 375, "height": 700})
    context.language, context.scripts = language, scripts
    yield context
    context.close()


def everything(store):
    """All that is stored: owners, choices, every change, links, answers, and the audit trail."""
    with store.engine.connect() as connection:
        found = {t.name: sorted(map(repr, connection.execute(t.select()))) for t in tables().metadata.sorted_tables}
    assert len(found) >= 8
    assert found["consent_trail"]
    return found


def enter(context, site, store, owner=MINE):
    """Sign in by a link, as owners do."""
    page = context.new_page()
    page.goto(f"{site}/in/{issue(store, owner)}")
    page.get_by_role("button", name=words(context.language)["continue"]).click()
    page.wait_for_url(f"{site}/")
    assert page.locator("header strong").inner_text() == owner
    return page


def press(page, button, status=403):
    """Press a button and wait for the page it leads to."""
    with page.expect_navigation() as leads:
        button.click()
    assert leads.value.status == status


def assert_refused(page, language, why):
    """The page says in the language what did not work and why; nothing of it is in another language."""
    w = words(language)
    assert page.locator("html").get_attribute("lang") == language
    assert page.locator("h1").inner_text() == w["refused_title"]
    assert page.get_by_role("alert").inner_text() == w[why]
    assert page.get_by_role("link", name=w["back"]).get_attribute("href") == "/"
    assert "<pre" not in page.content()


def own_choices(page):
    """What the page shows as chosen."""
    checked = re.findall(r'name="choice:(\w+)" value="(\w+)"[^>]* checked', page.content())
    return {name: value == "block" for name, value in checked}


def save(page, language):
    return page.get_by_role("button", name=words(language)["save"])


def test_another_owners_used_link(reader, browser, serve, catalogue, store):
    site = serve(create(catalogue, store))
    token = issue(store, THEIRS)
    assert redeem(store, token) == THEIRS, "she has used it herself"
    page = enter(reader, site, store)
    before = everything(store)
    page.goto(f"{site}/in/{token}")
    press(page, page.get_by_role("button", name=words(reader.language)["continue"]))
    assert_refused(page, reader.language, "refused_link")
    assert THEIRS not in page.content()
    # the reader is still herself, and sees her own choices alone
    press(page, page.get_by_role("link", name=words(reader.language)["back"]), 200)
    assert own_choices(page) == {"residence": True, "timetable": False}
    assert THEIRS not in page.content()
    assert everything(store) == before


def test_the_form_of_another_owner(reader, browser, serve, catalogue, store):
    site = serve(create(catalogue, store))
    other = browser.new_context(locale=reader.language)
    other.language = reader.language
    theirs = enter(other, site, store, THEIRS).locator("main input[name=form]").first.get_attribute("value")
    page = enter(reader, site, store)
    before = everything(store)

    def with_their_token(route):
        mine = re.search(r"form=([^&]+)", route.request.post_data).group(1)
        assert mine != quote(theirs)
        route.continue_(post_data=route.request.post_data.replace(mine, quote(theirs)))

    page.route("**/choices", with_their_token)
    page.locator("input[name='choice:grant'][value=block]").check()
    press(page, save(page, reader.language))
    assert_refused(page, reader.language, "refused_form")
    assert everything(store) == before
    # she may not look at the other's record or at the administrator's page either
    for place in ("/admin", "/admin/answers"):
        assert page.goto(site + place).status == 403
        assert_refused(page, reader.language, "refused_admin")
    mine = reader.request.get(f"{site}/mine.json?owner={THEIRS}").json()
    assert (mine["owner"], mine["choices"]["residence"]["block"]) == (MINE, True)
    assert everything(store) == before
    other.close()


def test_an_expired_link(reader, serve, catalogue, store):
    site = serve(create(catalogue, store))
    token = issue(store, MINE, hours=1e-9)
    time.sleep(0.01)
    before = everything(store)
    w = words(reader.language)
    page = reader.new_page()
    page.goto(f"{site}/in/{token}")
    press(page, page.get_by_role("button", name=w["continue"]))
    assert_refused(page, reader.language, "refused_link")
    # the same code typed by hand, and one that never was
    for code in (token, "nonsense"):
        page.goto(site)
        page.get_by_label(w["code"]).fill(code)
        press(page, page.get_by_role("button", name=w["continue"]))
        assert_refused(page, reader.language, "refused_link")
    assert not any("consent" in cookie["name"] for cookie in reader.cookies())
    assert page.goto(f"{site}/mine.json").status == 403
    assert_refused(page, reader.language, "refused_session")
    assert everything(store) == before
    # the refusal can be read in another language
    language = "en" if reader.language != "en" else "ca"
    press(page, page.get_by_role("link", name=words(language)["language"]))
    assert_refused(page, language, "refused_session")


def test_an_expired_session(reader, serve, catalogue, store):
    now = [0.0]
    site = serve(create(catalogue, store, sessions=Sessions(60, clock=lambda: now[0])))
    w = words(reader.language)
    page = enter(reader, site, store)
    page.locator("input[name='choice:grant'][value=block]").check()
    second = reader.new_page()
    second.goto(site)
    before = everything(store)
    now[0] += 60
    press(page, save(page, reader.language))
    assert_refused(page, reader.language, "refused_session")
    second.get_by_label(w["forget_confirm"]).check()
    press(second, second.get_by_role("button", name=w["forget"]))
    assert_refused(second, reader.language, "refused_session")
    # her page asks her to sign in again, and says why
    press(page, page.get_by_role("link", name=w["back"]), 200)
    assert page.get_by_role("status").inner_text() == w["ended"]
    assert MINE not in page.content()
    assert everything(store) == before


def other_site(target, action, fields, policy):
    """Another site with a form that posts to ours; scripts send it at once, without scripts a button does."""
    from fastapi import FastAPI
    from fastapi.responses import HTMLResponse

    app = FastAPI()
    inputs = "".join(f'<input type="hidden" name="{k}" value="{html.escape(v)}">' for k, v in fields.items())
    meta = f'<meta name="referrer" content="{policy}">'
    form = f'<form method="post" action="{target}{action}">{inputs}<button>Win a prize</button></form>'

    @app.get("/")
    def lure() -> HTMLResponse:
        return HTMLResponse(f"<!doctype html>{meta}<title>x</title>{form}<script>document.forms[0].submit()</script>")

    @app.get("/frame")
    def frame() -> HTMLResponse:
        return HTMLResponse(f'<!doctype html><title>x</title><iframe src="{target}/"></iframe>')

    return app


FORGED = {
    "choices without a token": ("/choices", {"choice:grant": "block"}),
    "choices with a wrong token": ("/choices", {"form": "x" * 22, "choice:grant": "block"}),
    "choices with the stolen token": ("/choices", {"form": "STOLEN", "choice:grant": "block"}),
    "deletion with the stolen token": ("/forget", {"form": "STOLEN", "sure": "yes"}),
    "signing out with the stolen token": ("/out", {"form": "STOLEN"}),
    "signing in as somebody else": ("/in", {"token": "LINK"}),
}


@pytest.mark.parametrize("policy", ["unsafe-url", "no-referrer"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"], ids=["another-site", "another-port"])
@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.sampled(5)
def test_a_form_of_another_site(browser, serve, catalogue, store, forged, host, policy, request):
    scripts = host == "localhost"  # both ways for every form
    language = {"unsafe-url": "es", "no-referrer": "ca"}[policy]
    context = browser.new_context(java_script_enabled=scripts, locale=language)
    context.language = language
    request.addfinalizer(context.close)
    site = serve(create(catalogue, store))
    page = enter(context, site, store)
    token = issue(store, THEIRS)
    stolen = page.locator("main input[name=form]").first.get_attribute("value")
    action, fields = FORGED[forged]
    fields = {k: v.replace("STOLEN", stolen).replace("LINK", token) for k, v in fields.items()}
    evil = serve(other_site(site, action, fields, policy)).replace("127.0.0.1", host)
    before = everything(store)
    if scripts:
        page.goto(evil, wait_until="commit")
        page.wait_for_url(f"{site}{action}")
    else:
        page.goto(evil)
        press(page, page.get_by_role("button", name="Win a prize"))
    assert_refused(page, language, "refused_form")
    assert everything(store) == before
    # she is still signed in as herself
    press(page, page.get_by_role("link", name=words(language)["back"]), 200)
    assert page.locator("header strong").inner_text() == MINE
    assert own_choices(page) == {"residence": True, "timetable": False}
    assert redeem(store, token) == THEIRS, "the link of the forged form is not used up"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"], ids=["another-site", "another-port"])
def test_a_questionnaire_sent_by_another_site(reader, serve, catalogue, store, host):
    site = serve(create(catalogue, store))
    evil = serve(other_site(site, "/questions", {"item:grades:3": "4"}, "no-referrer")).replace("127.0.0.1", host)
    before = everything(store)
    page = reader.new_page()
    page.goto(evil, wait_until="commit")
    if not reader.scripts:
        page.get_by_role("button", name="Win a prize").click()
    page.wait_for_url(f"{site}/questions")
    w = words(reader.language)
    assert page.get_by_role("alert").inner_text() == w["refused_form"]
    assert page.get_by_role("link", name=w["back_questions"]).get_attribute("href") == "/questions"
    assert everything(store) == before


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"], ids=["another-site", "another-port"])
def test_a_script_of_another_site(browser, serve, catalogue, store, host):
    context = browser.new_context(locale="ca")
    context.language = "ca"
    site = serve(create(catalogue, store))
    page = enter(context, site, store)
    stolen = page.locator("main input[name=form]").first.get_attribute("value")
    evil = serve(other_site("about:blank", "", {}, "unsafe-url")).replace("127.0.0.1", host)
    before = everything(store)
    page.goto(f"{evil}/frame")
    sent = []
    page.on("response", lambda response: sent.append((response.url, response.status)))
    read = """async ([site, form]) => {
        const body = new URLSearchParams({form, 'choice:grant': 'block'});
        await fetch(site + '/choices', {method: 'POST', credentials: 'include', mode: 'no-cors', body});
        return fetch(site + '/mine.json', {credentials: 'include'}).then(r => r.text(), () => 'refused');
    }"""
    assert page.evaluate(read, [site, stolen]) == "refused", "it cannot read her record"
    assert (f"{site}/choices", 403) in sent
    assert everything(store) == before
    context.close()


def test_the_pages_cannot_be_framed(reader, serve, catalogue, store):
    site = serve(create(catalogue, store))
    enter(reader, site, store)
    page = reader.new_page()
    page.goto(f"{serve(other_site(site, '/', {}, 'unsafe-url'))}/frame")
    inside = page.frames[1]
    assert MINE not in inside.content()
    assert inside.locator("main").count() == 0
