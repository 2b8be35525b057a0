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

ROOT = Path(__file__).parents[2]
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
    assert {"stepped", "reworked", "arranged", "fresh"} <= internal, "the test looks at what there is"
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
        ("GDPR", "how-to/gdpr.html"),
        ("k-anonymity example", "tutorials/teacher.html"),
    ],
)
def test_what_people_search_for_is_found(browser, address, words, wanted):
    page = browser.new_page()
    page.goto(f"{address}/search.html?q={words.replace(' ', '+')}")
    page.locator("#search-results ul.search li").first.wait_for()
    page.locator(f"#search-results a[href^='{wanted}']").first.wait_for(timeout=20_000)
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
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
TOLERANCE = 12.0
"""Mean difference of a colour of 255 that is allowed, over both pictures made small: words may change, the look not."""
COMPARED = """async ([one, other]) => {
  const small = async (data) => {
    const image = new Image(); image.src = 'data:image/png;base64,' + data; await image.decode();
    const canvas = document.createElement('canvas'); canvas.width = canvas.height = 40;
    const brush = canvas.getContext('2d'); brush.imageSmoothingQuality = 'high'; brush.drawImage(image, 0, 0, 40, 40);
    return brush.getImageData(0, 0, 40, 40).data;
  };
  const [a, b] = [await small(one), await small(other)];
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length;
}"""


@pytest.mark.parametrize(
    ("name", "width", "theme"), [("desktop", 1280, "light"), ("dark", 1280, "dark"), ("phone", 375, "light")]
)
def test_the_look_stays(browser, address, name, width, theme):
    """Changed on purpose? `make pictures` takes them anew; look at them."""
    import base64

    page = browser.new_page(color_scheme=theme, viewport={"width": width, "height": 800})
    page.goto(f"{address}/choose.html", wait_until="load")
    now = base64.b64encode(page.screenshot()).decode()
    kept = base64.b64encode((SEEN / f"{name}.png").read_bytes()).decode()
    difference = page.evaluate(COMPARED, [kept, now])
    page.close()
    assert difference < TOLERANCE
