"""The consent pages look as they did: pictures of them, small, with a tolerance, on a desktop and a phone.

``CELOSIA_LOOKS=write`` keeps new pictures after a change that was meant; look at them before they are committed.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.pixels import TOLERANCE, Looks
from tests.web.looks import DESKTOP, PHONE, keep, look, picture

from celosia.consent.owners import store
from celosia.consent.owners.store import Preferences
from celosia.consent.rules.rules import read_toml
from celosia.consent.site.pages import About
from celosia.consent.site.signin import ADMIN, issue
from celosia.consent.site.web import create

pytest.importorskip("uvicorn")
KEPT = Path(__file__).parent / "looks"
LOOKS = [
    ("sign-in", "/", PHONE, "light", "en"),
    ("choices", "/", DESKTOP, "light", "en"),
    ("saved", "/?saved=1", PHONE, "dark", "ca"),
    ("refused", "/refused?why=refused_link", PHONE, "light", "es"),
    ("admin", "/admin", DESKTOP, "dark", "es"),
    ("inference", "/admin/inference/residence", PHONE, "light", "ca"),
]
NAMES = [f"{look[0]}-{'desktop' if look[2] == DESKTOP else 'phone'}-{look[3]}-{look[4]}" for look in LOOKS]
MOMENT = "2026-01-02T03:04:05.000000Z"


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve_long, students):
    """Pages whose clock stands still."""
    catalogue = read_toml(students.CATALOGUE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "now", lambda: MOMENT)
        with closing(Preferences.create(tmp_path_factory.mktemp("looks") / "c.db")) as choices:
            choices.add_owners([f"B{i}" for i in range(12)])
            choices.choose("B1", {"residence": True, "timetable": False}, ["residence", "timetable"])
            about = About("Registry of students", "privacy@example.org")
            yield serve_long(create(catalogue, choices, about=about)), choices


@pytest.fixture(scope="module")
def pictures(served, browser):
    address, choices = served
    taken = {}
    for name, (what, place, width, scheme, code) in zip(NAMES, LOOKS, strict=True):
        context = browser.new_context(**look(width, scheme, code))
        page = context.new_page()
        if what not in ("sign-in", "refused"):
            page.goto(f"{address}/in/{issue(choices, 'B1' if what in ('choices', 'saved') else ADMIN)}")
            page.locator("main button").click()
            page.locator("form.visitor").wait_for()
        page.goto(f"{address}{place}")
        taken[name] = picture(page)
        if what == "choices":
            page.evaluate("document.querySelectorAll('fieldset')[0].remove()")
            taken["without a choice"] = picture(page)
        context.close()
    keep(KEPT, {name: taken[name] for name in NAMES})
    return taken


@pytest.fixture(scope="module")
def looks(browser):
    return Looks(browser)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(3)
def test_it_looks_as_it_did(pictures, looks, name):
    assert looks.differing((KEPT / f"{name}.png").read_bytes(), pictures[name]) <= TOLERANCE


def test_a_change_would_be_seen(pictures, looks):
    """Without one of the choices, in another language, empty: more pixels differ than the tolerance allows."""
    assert looks.differing(pictures["choices-desktop-light-en"], pictures["without a choice"]) > TOLERANCE
    assert looks.differing(pictures["sign-in-phone-light-en"], pictures["refused-phone-light-es"]) > TOLERANCE
    seen = {name: looks.differing(pictures[name], looks.blank(pictures[name])) for name in NAMES}
    assert {name for name, share in seen.items() if share <= TOLERANCE} == set()


def test_every_picture_that_is_kept_is_compared():
    assert sorted(path.stem for path in KEPT.glob("*.png")) == sorted(NAMES)
