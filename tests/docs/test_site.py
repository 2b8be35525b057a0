"""The built site: no broken link, found by what people search for, readable for everybody."""

from __future__ import annotations

import http.server
import json
import re
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from tests.pixels import TOLERANCE, Looks

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site as `make docs` builds it: a warning, such as a link that leads nowhere, is an error."""
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(ROOT / "docs"), str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return place


def test_everything_is_served_by_the_site_itself(site):
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.search(r'<(?:script|img|iframe)[^>]+(?:src)="(?:https?:)?//', text), page.name
        assert not re.search(r'<link[^>]+rel="stylesheet"[^>]+href="(?:https?:)?//', text), page.name
    for name in ("policy-1.json", "certificate-1.json", "record-1.json"):
        assert json.loads((site / name).read_text("utf-8"))["title"].startswith("celosia ")


def test_the_reference_of_a_table_has_what_people_call_and_no_more(site):
    from celosia import Table
    from celosia.table.verbs import PEOPLE

    page = (site / "reference" / "python.html").read_text("utf-8")
    listed = set(re.findall(r'id="celosia\.Table\.(\w+)"', page))
    assert listed == set(PEOPLE)
    internal = {name for cls in Table.__mro__ for name in vars(cls) if not name.startswith("_")} - set(PEOPLE)
    assert {"counts", "compute_once", "numeric", "take"} <= internal, "the test looks at what there is"
    assert not any(f'id="celosia.Table.{name}"' in page for name in internal)


@pytest.fixture(scope="module")
def address(site):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("pandas", "how-to/python.html"),
        ("anonymise pandas dataframe", "how-to/python.html"),
        ("GDPR", "how-to/gdpr.html"),
        ("k-anonymity example", "tutorials/teacher.html"),
    ],
)
def test_what_people_search_for_is_among_the_first_five(browser, address, words, wanted):
    page = browser.new_page()
    page.goto(f"{address}/search.html?q={words.replace(' ', '+')}")
    finished = page.locator("#search-results .search-summary", has_text="Search finished, found")
    finished.wait_for(timeout=20_000)  # said when the last result is listed
    listed = [link.get_attribute("href") for link in page.locator("#search-results ul.search li > a").all()[:5]]
    page.close()
    assert wanted in [place.split("#")[0].split("?")[0] for place in listed if place]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.sampled
def test_main_pages_are_accessible_and_fit_a_phone(browser, address, theme):
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=theme, viewport={"width": 375, "height": 800})
    for place in (
        "index",
        "install",
        "tutorials/steward",
        "choose",
        "reference/python",
        "reference/methods/generalise",
    ):
        page.goto(f"{address}/{place}.html", wait_until="load")
        violations = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
        assert {v["id"]: v["nodes"][0]["html"][:200] for v in violations} == {}, place
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{place} scrolls sideways"
    page.close()


SEEN = Path(__file__).parent / "seen"


@pytest.fixture(scope="module")
def looks(browser, site):
    """How the documentation looks now, as `make pictures` takes it, and how pictures are compared."""
    from pictures import site_looks

    return site_looks(browser, site), Looks(browser)


@pytest.mark.parametrize("name", ["desktop", "dark", "phone", "print"])
def test_the_look_stays(looks, name):
    """Changed on purpose? `python tools/pictures.py site` takes them anew; look at them."""
    now, pixels = looks
    assert pixels.differing((SEEN / f"{name}.png").read_bytes(), now[name]) <= TOLERANCE


def test_a_change_of_the_look_would_be_seen(looks):
    """A blank page, another theme, another page: more pixels differ than the tolerance allows."""
    now, pixels = looks
    for name, picture in now.items():
        assert pixels.differing(picture, pixels.blank(picture)) > 2 * TOLERANCE, name
    assert pixels.differing(now["desktop"], now["dark"]) > 10 * TOLERANCE
    assert pixels.differing(now["desktop"], now["print"]) > TOLERANCE
    assert sorted(now) == sorted(path.stem for path in SEEN.glob("*.png")), "and no picture is left over"
