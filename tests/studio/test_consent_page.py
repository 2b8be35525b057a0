"""The way to the publisher's console: a first catalogue, a one-time link, the console itself."""

from __future__ import annotations

from contextlib import closing

import pytest

from celosia.consent.commands import init, link, load
from celosia.consent.owners.store import Preferences
from celosia.consent.site.signin import ADMIN, redeem
from celosia.errors import InputError
from celosia.release.policy.policy import Policy
from celosia.studio.pages.consent.routes import Console, first_catalogue

pytestmark = pytest.mark.xdist_group("studio-consent")


def test_from_the_first_catalogue_to_the_console(begun, visit, accessible):
    page = visit(begun)
    page.goto(f"{begun.address}/consent")
    accessible(page)
    page.get_by_role("button", name="One inference for each sensitive column").click()
    page.locator("#said", has_text="The catalogue is made").wait_for()
    page.get_by_text("Find out my diagnosis").wait_for()
    assert load(begun.project.folder / "inferences.toml").ids() == ["find-diagnosis"]
    page.get_by_role("button", name="Start the console").click()
    link = page.locator("#console")
    link.wait_for()
    address = link.get_attribute("href")
    host = address.removeprefix("http://").partition(":")[0]
    assert host.endswith(".localhost"), "its cookie is not sent to other servers of the machine"
    assert host not in begun.address
    assert address not in page.url
    accessible(page)
    # a page of its own, since it lives at an address of its own
    console = page.context.browser.new_context().new_page()
    console.goto(address)
    if console.locator("form[method=post] button").count():
        console.locator("form[method=post] button").first.click()
    console.goto(f"{address.rsplit('/in/', 1)[0]}/admin")
    assert "find-diagnosis" in console.content() or "Find out my diagnosis" in console.content()
    again = page.context.browser.new_context().new_page()
    again.goto(address)
    again.goto(f"{address.rsplit('/in/', 1)[0]}/admin")
    assert "find-diagnosis" not in again.content()  # the link works once
    for each in (console, again):
        each.context.close()


def test_a_catalogue_that_cannot_be_read_is_told(begun, visit):
    place = begun.project.folder / "inferences.toml"
    before = place.read_text() if place.exists() else ""
    place.write_text("[[inference]]\nid = 5\n")
    page = visit(begun)
    page.goto(f"{begun.address}/consent")
    page.get_by_text("inferences.toml cannot be read").wait_for()
    assert page.get_by_role("button", name="Start the console").is_disabled()
    place.write_text(before) if before else place.unlink()


def test_in_every_language(begun, visit, accessible):
    for language, title, theme in (("es", "Consentimiento", "dark"), ("ca", "Consentiment", "light")):
        page = visit(begun, locale=language, color_scheme=theme, viewport={"width": 375, "height": 700})
        page.goto(f"{begun.address}/consent")
        assert page.locator("h1").inner_text() == title
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_sensitive_no_inference(tmp_path, begun):
    with pytest.raises(InputError, match="no column is sensitive"):
        first_catalogue(Policy.parse('[input]\npath = "a.csv"\n', tmp_path))
    made = first_catalogue(Policy.parse('[input]\npath = "a.csv"\n[schema]\nsensitive = ["pay in €"]\n', tmp_path))
    assert made.ids() == ["find-pay-in--"]
    with pytest.raises(InputError, match="no catalogue of inferences yet"):
        Console(type("Folder", (), {"folder": tmp_path})()).open(None)


def test_links_that_a_store_brings_along_are_revoked(tmp_path):
    catalogue = '[[inference]]\nid = "home"\ndescription = "Find out where I live"\n'
    (tmp_path / "inferences.toml").write_text(catalogue)
    store = tmp_path / "consent.db"
    init(store)
    planted = link(None, store, hours=1440)
    console = Console(type("Folder", (), {"folder": tmp_path})())
    own, again = console.open(None), console.open(None)
    with closing(Preferences(store)) as choices:
        redeemed = [redeem(choices, address.rpartition("/")[2]) for address in (planted, own, again)]
    assert redeemed == [None, ADMIN, ADMIN]
