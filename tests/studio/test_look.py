"""Every page, with a project and without: axe finds nothing in either theme, on a phone nothing is cut off."""

from __future__ import annotations

import pytest

from celosia.studio.pages import pages

pytestmark = pytest.mark.xdist_group("studio-look")


def addresses():
    return ["/show", *(page.address for page in pages().values())]


def calm(page):
    """A page that waits for what has to be compiled first."""
    page.set_default_navigation_timeout(120_000)
    return page


def at_rest(page):
    """Pieces that are fetched after the page are there."""
    page.locator("main").wait_for()
    page.locator("[aria-busy]").first.wait_for(state="detached", timeout=120_000)


def test_every_page_is_accessible_in_both_themes_and_fits_a_phone(begun, visit, accessible):
    page = calm(visit(begun, viewport={"width": 390, "height": 800}, color_scheme="light"))
    for address in addresses():
        page.goto(begun.address + address)
        at_rest(page)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 391, f"{address} is {wide} wide"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            accessible(page)


def test_every_page_teaches_while_there_is_nothing(studio, visit, accessible):
    page = calm(visit(studio))
    for address in addresses():
        page.goto(studio.address + address)
        at_rest(page)
        assert len(page.locator("main").inner_text()) > 80, address
        accessible(page)


def test_every_page_is_there_in_three_languages(begun, visit):
    page = calm(visit(begun))
    for language in ("es", "ca"):
        page.context.add_cookies([{"name": "lang", "value": language, "url": begun.address}])
        for address in addresses():
            page.goto(begun.address + address)
            assert page.locator("html").get_attribute("lang") == language
