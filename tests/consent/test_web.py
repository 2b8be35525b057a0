"""The consent pages: over HTTP, and as a browser shows them, with and without JavaScript."""

from __future__ import annotations

import asyncio
import html
import re
import threading
import time

import polars as pl
import pytest

from celosia.consent.owners.questionnaire import answer, questions, tabulate
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import OWNER, Request, publish
from celosia.consent.rules.rules import read_toml
from celosia.consent.site.pages import words
from celosia.consent.site.signin import ADMIN, issue, redeem
from celosia.consent.site.web import create
from celosia.errors import ParameterError
from celosia.show.look import choose_language
from celosia.web.sessions import Sessions

testclient = pytest.importorskip("starlette.testclient")
TREE = ("province", "canton", "district")


@pytest.fixture
def store(store):
    store.add_owners(["B00001", "B00002"])
    return store


@pytest.fixture
def client(catalogue, store):
    return testclient.TestClient(create(catalogue, store), follow_redirects=False, base_url="http://testserver")


def sign_in(client, store, owner="B00001"):
    answer = client.post("/in", data={"token": issue(store, owner)})
    assert answer.status_code == 303
    return re.search(r'name="form" value="([^"]+)"', client.get("/", follow_redirects=True).text).group(1)


def test_a_link_works_once(client, store):
    token = issue(store, "B00001")
    shown = client.get(f"/in/{token}")
    assert shown.status_code == 200
    assert client.get(f"/in/{token}").status_code == 200, "looking at a link does not use it up"
    assert client.post("/in", data={"token": token}).status_code == 303
    client.cookies.clear()
    again = client.post("/in", data={"token": token})
    assert again.status_code == 403
    assert "was used before" in again.text
    assert not client.cookies


def test_an_expired_or_unknown_link_is_refused(client, store):
    token = issue(store, "B00001", hours=1e-9)
    time.sleep(0.01)
    assert client.post("/in", data={"token": token}).status_code == 403
    assert client.post("/in", data={"token": "x" * 43}).status_code == 403
    assert redeem(store, "\udcff") is None
    for hours in (0, -1, 1e6):
        with pytest.raises(ParameterError):
            issue(store, "B00001", hours=hours)


def test_two_at_the_same_time_and_one_wins(store):
    token, won = issue(store, "B00001"), []
    threads = [threading.Thread(target=lambda: won.append(redeem(store, token))) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(w or "" for w in won) == [""] * 7 + ["B00001"]


def test_choices_are_saved_and_confirmed(client, store):
    form = sign_in(client, store)
    answer = client.post("/choices", data={"form": form, "choice:residence": "block", "choice:grant": "allow"})
    assert answer.headers["location"] == "/?saved=1#saved"
    page = client.get("/?saved=1").text
    assert 'role="status"' in page
    assert [c.block for c in store.choices("B00001", ["residence", "grant", "timetable"])] == [True, False, False]
    assert store.choices("B00001", ["timetable"])[0].at == "", "what was not answered stays open"
    assert store.history("B00002") == []
    assert client.get("/mine.json").json()["choices"]["residence"]["block"] is True


@pytest.mark.parametrize(
    "change",
    [
        {"form": "forged"},
        {"form": ""},
        {"choice:nonsense": "block"},
        {"choice:residence": "perhaps"},
        {"headers": {"origin": "http://evil.example"}},
        {"headers": {"sec-fetch-site": "cross-site"}},
    ],
)
def test_a_forged_form_changes_nothing(client, store, change):
    form = sign_in(client, store)
    headers = change.pop("headers", {}) if "headers" in change else {}
    answer = client.post("/choices", data={"form": form, "choice:grant": "block", **change}, headers=headers)
    assert answer.status_code == 403
    assert store.history("B00001") == []


def test_the_form_of_another_owner_is_refused(client, store, catalogue):
    theirs = sign_in(client, store, "B00002")
    client.cookies.clear()
    sign_in(client, store, "B00001")
    assert client.post("/choices", data={"form": theirs, "choice:residence": "block"}).status_code == 403
    assert store.history("B00001") == store.history("B00002") == []


def test_without_a_session_nothing_is_shown_or_changed(client, store):
    for path in ("/mine.json", "/admin"):
        assert client.get(path).status_code == 403
    for path in ("/choices", "/forget", "/out"):
        assert client.post(path, data={"form": "x", "sure": "yes"}).status_code == 403
    assert store.has("B00001")


def test_a_session_ends(catalogue, store):
    now = [0.0]
    sessions = Sessions(60, clock=lambda: now[0])
    client = testclient.TestClient(create(catalogue, store, sessions=sessions), follow_redirects=False)
    form = sign_in(client, store)
    now[0] += 60
    assert client.post("/choices", data={"form": form, "choice:residence": "block"}).status_code == 403
    assert "B00001" not in client.get("/").text
    assert store.history("B00001") == []


def test_deletion_needs_a_yes(client, store):
    form = sign_in(client, store)
    client.post("/choices", data={"form": form, "choice:residence": "block"})
    assert client.post("/forget", data={"form": form}).status_code == 403
    assert store.has("B00001")
    assert client.post("/forget", data={"form": form, "sure": "yes"}).status_code == 303
    assert not store.has("B00001")
    assert client.get("/mine.json").status_code == 403
    assert words("en")["forgotten"] in client.get("/?forgotten=1").text


def test_an_owner_is_told_apart_from_the_administrator(client, store):
    sign_in(client, store)
    for place in ("/admin", "/admin/answers"):
        refused = client.get(place)
        assert (refused.status_code, words("en")["refused_admin"] in refused.text) == (403, True)


def test_headers_and_sizes(client):
    answer = client.get("/")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert client.post("/in", data={"token": "x" * 70_000}).status_code == 413


def test_the_cookie_is_for_https_when_asked(catalogue, store):
    client = testclient.TestClient(
        create(catalogue, store, secure=True), follow_redirects=False, base_url="https://testserver"
    )
    cookie = client.post("/in", data={"token": issue(store, "B00001")}).headers["set-cookie"]
    assert cookie.startswith("__Host-")
    assert "Secure" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_the_language_is_the_one_asked_for(client):
    assert '<html lang="ca">' in client.get("/", headers={"accept-language": "ca"}).text
    assert '<html lang="es">' in client.get("/?lang=es").text
    assert choose_language("xx", None, "") == "en"


def test_a_sentence_in_another_language_is_marked_as_such(client, store):
    sign_in(client, store)
    page = client.get("/", headers={"accept-language": "es"}).text
    assert "Deducir dónde vivo" in page
    assert '<span lang="en">Somebody sees your school' in page


def test_the_questionnaire_is_answered_without_a_name(client, store):
    page = client.get("/questions?group=A").text
    assert page.count('type="radio"') == 44 * 5 + 5 * 4
    sent = {"item:grades:3": "4", "trust:0": "2", "group": "A", "text": "a study"}
    assert client.post("/questions", data=sent).headers["location"] == "/questions?done=1"
    assert 'role="status"' in client.get("/questions?done=1").text
    assert tabulate(store).respondents == {"A": 1}
    for bad in ({"item:grades:3": "9"}, {"item:no:0": "1"}, {"trust:0": "x"}, {}, {"text": "x" * 2001}):
        assert client.post("/questions", data=bad).status_code == 403
    assert words("en")["refused_empty"] in client.post("/questions", data={"group": "A", "text": " "}).text
    assert client.post("/questions", data=sent, headers={"origin": "http://evil.example"}).status_code == 403
    assert tabulate(store).respondents == {"A": 1}
    lines = "line\r\n" * 400  # 2000 characters in the page, which counts a line end once
    assert client.post("/questions", data={"text": lines}).status_code == 303


def test_answers_are_counted_together_whatever_the_language(client, store):
    for language, number in (("en", 3), ("es", 2), ("ca", 4)):
        page = client.get(f"/questions?lang={language}&group=A").text
        asked = dict(re.findall(r'role="radiogroup" aria-labelledby="([^"]+)"><p id="[^"]+">([^<]+)</p>', page))
        assert list(asked) == [*(k for k in questions() if "trust" in k), *(k for k in questions() if "item" in k)]
        key = next(k for k, text in asked.items() if text == questions()["item:grades:3"].sentence(language))
        assert f'href="?group=A&amp;lang={"en" if language != "en" else "es"}"' in page, "the group is kept"
        client.post("/questions", data={key: str(number), "group": "A"})
    assert tabulate(store).frame.select("question", "n", "mean").rows() == [("item:grades:3", 3, 3.0)]


def test_what_is_not_there_is_said_in_the_language(client):
    spanish = {"accept-language": "es"}
    assert words("es")["refused_page"] in client.get("/nowhere", headers=spanish).text
    assert client.put("/choices", headers=spanish).status_code == 405
    assert words("es")["refused_size"] in client.post("/in", data={"token": "x" * 70_000}, headers=spanish).text
    assert words("es")["refused_link"] in client.post("/in", data={}, headers=spanish).text
    upload = client.post("/in", files={"token": b"x"}, headers=spanish)
    assert (upload.status_code, words("es")["refused_choice"] in upload.text) == (422, True)
    assert client.get("/choices").headers["location"] == "/", "where a refusal leaves the address bar"
    assert words("ca")["refused_link"] in html.unescape(client.get("/refused?why=refused_link&lang=ca").text)
    assert words("en")["refused_page"] in client.get("/refused?why=intro&lang=en").text


def test_text_of_the_catalogue_is_escaped(store):
    evil = read_toml('[[inference]]\nid = "x"\ndescription = "<script>alert(1)</script>"')
    client = testclient.TestClient(create(evil, store), follow_redirects=False)
    sign_in(client, store)
    assert "<script>" not in client.get("/").text


# In a browser.


@pytest.fixture
def site(catalogue, store, serve):
    return serve(create(catalogue, store))


def _styles_late(app):
    """The pages with a style sheet that comes late: a check of colours that does not wait for it fails every time."""

    async def late(scope, receive, send):
        if scope.get("path") == "/style.css":
            await asyncio.sleep(0.3)
        await app(scope, receive, send)

    return late


def _published(students, catalogue, store, measure=False):
    frame = students.frames(400)
    result = frame["student"].join(frame["personal"], on="card").join(frame["enrolment"], on="card")
    result = result.select("name", *TREE, "school", "score", OWNER_="card").rename({"OWNER_": OWNER})
    wanted = Request(
        sql=students.SQL,
        owner="student.card",
        design=Design(k=10, tree=TREE),
        quasi=TREE,
        identifiers=("name",),
        measure=measure,
    )
    return publish(wanted, result, catalogue, store, seed=1)


@pytest.mark.parametrize("scripts", [True, False])
def test_an_owner_blocks_and_the_next_publication_honours_it(browser, site, store, students, catalogue, scripts):
    assert not _published(students, catalogue, store).marks.blocked.any()
    context = browser.new_context(java_script_enabled=scripts, viewport={"width": 375, "height": 700}, locale="es-ES")
    page = context.new_page()
    page.goto(f"{site}/in/{issue(store, 'B00001')}")
    page.get_by_role("button", name="Continuar").click()
    assert page.locator("h1").inner_text() == "Lo que otros pueden deducir de mí"
    group = page.get_by_role("group", name="Deducir dónde vivo")
    if scripts:  # by keyboard alone
        group.get_by_role("radio", name="Bloquear").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
    else:
        group.get_by_role("radio", name="Bloquear").check()
        page.get_by_role("button", name="Guardar mis elecciones").click()
    page.wait_for_url("**/?saved=1#saved")
    assert "Deducir dónde vivo" in page.get_by_role("status").inner_text()
    found = _published(students, catalogue, store)
    assert found.marks.blocked.sum() == 1
    assert found.report["blocks"][0]["owners"] == 1
    # she changes her mind
    page.get_by_role("group", name="Deducir dónde vivo").get_by_role("radio", name="Permitir").check()
    page.get_by_role("button", name="Guardar mis elecciones").click()
    page.wait_for_url("**/?saved=1#saved")
    assert not _published(students, catalogue, store).marks.blocked.any()
    assert [h["block"] for h in store.history("B00001")] == [True, False]
    context.close()


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "es"), ("dark", "ca")])
@pytest.mark.sampled
def test_accessible_on_a_phone(browser, serve, catalogue, store, accessible, scheme, language):
    site = serve(_styles_late(create(catalogue, store)))
    store.choose("B00001", {"residence": True, "timetable": False}, ["residence", "timetable"])
    context = browser.new_context(color_scheme=scheme, viewport={"width": 360, "height": 700})
    page = context.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    for place in ("/", "/questions", f"/in/{issue(store, 'B00001')}"):
        page.goto(f"{site}{place}?lang={language}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        accessible(page)
    page.locator("main button").first.click()
    page.wait_for_url(f"{site}/")
    for place in ("/", "/?saved=1", "/refused?why=refused_link"):
        page.goto(site + place)
        assert page.locator("html").get_attribute("lang") == language
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        accessible(page)
    page.goto(f"{site}/in/{issue(store, ADMIN)}")
    page.locator("main button").first.click()
    page.wait_for_url(f"{site}/admin")  # a click does not wait until the next page is there
    page.locator("summary").first.click()
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for group in ("A", "B"):
        for i in range(6):
            answer(store, {"item:geographic:0": 3, "item:personal:1": 1, "trust:2": 1}, group, owner=f"{group}{i}")
    page.goto(f"{site}/admin/answers")
    assert page.locator("svg rect").count() == 20
    accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert {url.split("/")[2] for url in requests} == {site.split("/")[2]}
    context.close()


def test_the_report_of_a_publication_is_accessible(browser, students, catalogue, store, accessible, tmp_path):
    from celosia.consent.publication.request import write

    store.load(
        pl.DataFrame({"owner": [f"B{i:05d}" for i in range(90)], "inference": "residence", "block": True}),
        ["residence"],
    )
    made = _published(students, catalogue, store, measure=True)
    paths = write(made, tmp_path / "out")
    page = browser.new_page(viewport={"width": 375, "height": 700}, color_scheme="dark")
    page.goto(paths["page"].as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    accessible(page)
    page.close()
