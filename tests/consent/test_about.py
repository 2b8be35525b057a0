"""Who keeps the choices, and how to reach them: on every page, in every form, in what an owner downloads."""

from __future__ import annotations

import re

import pytest

from celosia.cli.main import run
from celosia.consent import commands
from celosia.consent.rules.rules import LANGUAGES
from celosia.consent.site.pages import About, words
from celosia.consent.site.signin import ADMIN, issue
from celosia.consent.site.web import create
from celosia.errors import InputError

testclient = pytest.importorskip("starlette.testclient")
ABOUT = About("Registry of <Students>", "privacy@example.org")
SHOWN = "Registry of &lt;Students&gt;"


@pytest.fixture
def client(catalogue, store):
    store.add_owners(["B00001"])
    return testclient.TestClient(create(catalogue, store, about=ABOUT), base_url="http://testserver")


def pages(client, store):
    yield from (client.get(place).text for place in ("/", "/questions", "/nowhere", f"/in/{issue(store, 'B00001')}"))
    yield client.post("/in", data={"token": issue(store, "B00001")}).text
    yield client.post("/in", data={"token": issue(store, ADMIN)}).text
    console = ("/admin/answers", "/admin/requests", "/admin/request/new", "/admin/inference/new")
    yield from (client.get(place).text for place in console)


def test_every_page_names_the_organisation_and_its_contact(client, store):
    seen = list(pages(client, store))
    assert len(seen) == 10
    for page in seen:
        assert f'<p class="host">{SHOWN}</p>' in page
        assert page.count('<a href="mailto:privacy@example.org">privacy@example.org</a>') >= 1
        assert "<Students>" not in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_forms_of_owners_say_who_keeps_what_is_sent(client, store, language):
    sentence = words(language)["keeper_text"].format(keeper=SHOWN)
    for place in ("/", "/questions", f"/in/{issue(store, 'B00001')}"):
        form = re.search(r"<main.*<form.*?</form>", client.get(f"{place}?lang={language}").text, re.DOTALL).group(0)
        assert sentence in form
    page = client.post("/in", data={"token": issue(store, "B00001")}).text
    assert sentence in page
    assert words(language)["intro"].format(keeper=SHOWN) in page.replace("&#39;", "'")


def test_the_record_of_an_owner_names_them(client, store):
    client.post("/in", data={"token": issue(store, "B00001")})
    record = client.get("/mine.json").json()
    assert (record["organisation"], record["contact"]) == (ABOUT.organisation, ABOUT.contact)


def test_without_them_nothing_is_said(catalogue, store):
    store.add_owners(["B00001"])
    client = testclient.TestClient(create(catalogue, store))
    page = client.post("/in", data={"token": issue(store, "B00001")}).text
    assert "<footer" not in page
    assert 'class="host"' not in page
    assert "The organisation sometimes publishes data." in page
    assert "organisation" not in client.get("/mine.json").json()


@pytest.mark.parametrize(
    ("contact", "address"),
    [
        ("privacy@example.org", "mailto:privacy@example.org"),
        ("https://example.org/privacy", "https://example.org/privacy"),
        ("+34 93 000 00 00", ""),
        ("javascript:alert(1)", ""),
        ("a@b?cc=c@d", ""),
    ],
)
def test_a_contact_is_a_link_where_it_is_an_address(contact, address):
    assert About("x", contact).address == address


def test_what_cannot_be_shown_is_refused():
    for text in ("x" * 201, "two\nlines", "\x00"):
        with pytest.raises(InputError, match="a line of at most 200 printable characters"):
            About(organisation=text)
        with pytest.raises(InputError, match="the contact is a line"):
            About(contact=text)


def test_the_command_hands_them_on(monkeypatch):
    handed = {}
    monkeypatch.setattr(commands, "serve", lambda *given, **settings: handed.update(settings))
    arguments = ["consent", "serve", "--catalogue", "c.toml", "--organisation", "Registry", "--contact", "tel 1"]
    assert run(arguments) == 0
    assert (handed["organisation"], handed["contact"]) == ("Registry", "tel 1")


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("en", ["Sentence in English", "Sentence in Spanish", "Example in Catalan"]),
        ("es", ["Frase en inglés", "Frase en español", "Ejemplo en catalán"]),
        ("ca", ["Frase en anglès", "Frase en espanyol", "Exemple en català"]),
    ],
)
def test_languages_are_named_in_the_language_of_the_page(client, store, language, names):
    client.post("/in", data={"token": issue(store, ADMIN)})
    page = client.get(f"/admin/inference/new?lang={language}").text
    assert [name for name in names if f">{name}</label>" not in page] == []
