"""The gateway's pages look as they did: pictures of them, small, with a tolerance, on a desktop and a phone.

``CELOSIA_LOOKS=write`` keeps new pictures after a change that was meant; look at them before they are committed.
"""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from tests.gateway.test_pages import QUESTION, ask, sign_in
from tests.pixels import TOLERANCE, Looks
from tests.web.looks import DESKTOP, PHONE, keep, look, picture

from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger, books, ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.noise import NumberNoise

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.xdist_group("gateway-pages")
KEPT = Path(__file__).parent / "looks"
LOOKS = [
    ("sign-in", PHONE, "light", "en"),
    ("explanation", DESKTOP, "light", "en"),
    ("answer", DESKTOP, "dark", "es"),
    ("answer", PHONE, "light", "ca"),
    ("refusal", PHONE, "dark", "es"),
    ("admin", DESKTOP, "light", "ca"),
    ("admin", PHONE, "dark", "en"),
]
NAMES = [f"{page}-{'desktop' if width == DESKTOP else 'phone'}-{scheme}-{code}" for page, width, scheme, code in LOOKS]


class Clock(datetime):
    """A day that never changes."""

    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 2, 3, 4, 5, tzinfo=tz)


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve_long):
    """A gateway whose clock stands still and whose noise is none: what it shows is the same every time."""
    from celosia.gateway.site.web import create

    place = tmp_path_factory.mktemp("looks")
    (place / "p.csv").write_text("age,sex\n" + "\n".join(f"{20 + i % 50},{'FM'[i % 3 > 0]}" for i in range(900)))
    columns = {"age": {"type": "integer", "bounds": [0, 100]}, "sex": {"type": "text", "categories": ["F", "M"]}}
    tables = {"person": {"source": str(place / "p.csv"), "columns": columns}}
    shares = [{"analyst": "*", "period": "month", "epsilon": 2}]
    facts = DatasetFacts.of({"name": "clinic", "epsilon": 5.0, "shares": shares, "tables": tables})
    keys = Keys.create(place / "keys.json")
    held = {"analyst": keys.add("ana"), "admin": keys.add_administrator()}
    keys.add("berta")
    with pytest.MonkeyPatch.context() as patch:
        for module in (books, ledger):
            patch.setattr(module, "datetime", Clock)
        patch.setattr(NumberNoise, "add", lambda _, values: [float(value) for value in values])
        patch.setattr(NumberNoise, "choose", lambda *_: 45.0)
        with closing(Gateway(facts, Ledger.create(place / "ledger.db"), grid=0)) as gateway:
            gateway.ask(QUESTION, epsilon=0.5, analyst="ana")
            yield serve_long(create(gateway, keys)), held


def shown(page, name, held):
    """Bring a page to what the picture is of."""
    if name == "sign-in":
        return page
    sign_in(page, held["admin" if name == "admin" else "analyst"])
    if name == "explanation":
        ask(page, QUESTION, "0.5", "explain")
        page.locator("#before-title").wait_for()
    elif name == "answer":
        page.locator(".past a").first.click()
        page.locator("#answer-title").wait_for()
    elif name == "refusal":
        ask(page, "SELECT agee FROM person", "0.5")
        page.get_by_role("alert").wait_for()
    return page


@pytest.fixture(scope="module")
def pictures(served, browser):
    address, held = served
    taken = {}
    for name, (what, width, scheme, code) in zip(NAMES, LOOKS, strict=True):
        context = browser.new_context(**look(width, scheme, code))
        page = context.new_page()
        page.goto(address)
        taken[name] = picture(shown(page, what, held))
        if what == "answer" and width == DESKTOP:
            page.evaluate("document.querySelectorAll('figure').forEach(each => each.remove())")
            taken["without its error bars"] = picture(page)
        context.close()
    keep(KEPT, {name: taken[name] for name in NAMES})
    return taken


@pytest.fixture(scope="module")
def looks(browser):
    return Looks(browser)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(4)
def test_it_looks_as_it_did(pictures, looks, name):
    assert looks.differing((KEPT / f"{name}.png").read_bytes(), pictures[name]) <= TOLERANCE


def test_a_change_would_be_seen(pictures, looks):
    """Without its error bars, in another language, empty: more pixels differ than the tolerance allows."""
    answer = pictures["answer-desktop-dark-es"]
    assert looks.differing(answer, pictures["without its error bars"]) > TOLERANCE
    assert looks.differing(answer, pictures["answer-phone-light-ca"]) > TOLERANCE
    seen = {name: looks.differing(pictures[name], looks.blank(pictures[name])) for name in NAMES}
    assert {name for name, share in seen.items() if share <= TOLERANCE} == set()


def test_every_picture_that_is_kept_is_compared():
    assert sorted(path.stem for path in KEPT.glob("*.png")) == sorted(NAMES)
