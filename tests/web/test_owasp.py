"""The web parts against the list of OWASP (2021): what no other test asks of all of them.

The page ``docs/promises/threats.md`` maps the whole list to tests; here those are checked to be there.
"""

from __future__ import annotations

import ast
import re
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.rules.rules import read_toml
from celosia.consent.site.web import create as consent_site
from celosia.demo import prepare
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.web import create as gateway_site
from celosia.studio.project import Project

testclient = pytest.importorskip("starlette.testclient")
pytest.importorskip("babel")
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "promises" / "threats.md"
PARTS = ("gateway", "consent", "studio")
SECRET = "cell 7731"


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """A stranger's view of each web part, and where its requests end up."""
    from celosia.studio.app import create as studio_site

    place = tmp_path_factory.mktemp("sites")
    (place / "person.csv").write_text("age\n30\n")
    tables = {
        "person": {"source": str(place / "person.csv"), "columns": {"age": {"type": "integer", "bounds": [0, 99]}}}
    }
    with ExitStack() as stack:
        gateway = stack.enter_context(
            closing(
                Gateway(DatasetFacts.of({"name": "d", "epsilon": 1, "tables": tables}), Ledger.create(place / "l.db"))
            )
        )
        store = stack.enter_context(closing(Preferences.create(place / "c.db")))
        prepare(place / "clinic", 60)
        catalogue = read_toml('[[inference]]\nid = "x"\ndescription = "y"')
        apps = {
            "gateway": gateway_site(gateway, Keys.create(place / "keys.json"), per_minute=600),
            "consent": consent_site(catalogue, store),
            "studio": studio_site(Project(place / "clinic"), 8361),
        }
        options = {"raise_server_exceptions": False, "follow_redirects": False, "base_url": apps["studio"].address}
        yield {name: (testclient.TestClient(app, **options), app) for name, app in apps.items()}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("path", ["/", "/nowhere", "/../../etc/passwd", "/%00", "/?lang=<script>"])
def test_every_answer_carries_the_headers(sites, part, path):
    """A05: pages that are refused or not there too."""
    answer = sites[part][0].get(path)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "referrer-policy" in answer.headers
    assert "<script>" not in answer.text.replace("<script src", "")


def _routes(app):
    for route in getattr(app, "routes", None) or getattr(app, "_app", app).routes:
        for method in sorted(getattr(route, "methods", None) or ()):
            if method in {"GET", "POST"}:
                yield method, re.sub(r"\{[^}]+\}", "x", route.path)


OPEN = {
    "gateway": {"/", "/style.css", "/openapi.json", "/in"},
    "consent": {"/", "/style.css", "/in", "/in/x", "/questions", "/out"},
    "studio": set(),
}
"""What a stranger may ask for: pages that hold no data of anybody."""


@pytest.mark.parametrize("part", PARTS)
def test_a_stranger_is_let_in_nowhere(sites, part):
    """A01, A07: every address that the application has, not only those that somebody thought of."""
    client, app = sites[part]
    asked = [(method, path) for method, path in _routes(app) if path not in OPEN[part]]
    assert asked
    let_in = [(m, p) for m, p in asked if client.request(m, p, headers={"content-length": "0"}).status_code < 300]
    assert let_in == []


@pytest.mark.parametrize("part", PARTS)
def test_there_are_no_pages_for_developers(sites, part):
    """A05: no page that loads scripts from elsewhere, no debugger."""
    client, app = sites[part]
    for path in ("/docs", "/redoc", "/debug", "/.env", "/.git/config", "/static/../app.py"):
        assert client.get(path).status_code >= 400, path
    assert not getattr(app, "debug", False)


def test_a_failure_inside_shows_nothing(sites, monkeypatch, caplog):
    """A09, A05: neither the page nor what is sent tells what was in hand."""
    from celosia.consent.site.pages import Pages

    def fails(*_, **__):
        raise RuntimeError(SECRET)

    monkeypatch.setattr(Pages, "questions", fails)
    answer = sites["consent"][0].get("/questions")
    assert answer.status_code == 500
    assert SECRET not in answer.text
    assert "Traceback" not in answer.text


def _modules():
    for room in ("gateway", "consent", "studio", "web"):
        for path in sorted((ROOT / "src" / "celosia" / room).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


CLIENTS = {"httpx", "requests", "urllib.request", "urllib3", "aiohttp", "http.client"}
LOADERS = {"pickle", "marshal", "shelve", "dill", "joblib", "yaml"}


def test_no_web_part_fetches_an_address_or_loads_objects():
    """A10, A08: what is not there cannot be turned against other servers, and nothing that is sent becomes an object."""
    banned = []
    for path, tree in _modules():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            banned += [f"{path.name}: {name}" for name in names if name in CLIENTS | LOADERS]
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"eval", "exec", "compile", "__import__"}:
                banned.append(f"{path.name}: {ast.unparse(node.func)}")
    assert banned == []


def test_secrets_are_compared_in_constant_time_and_drawn_by_the_system():
    """A02: no random module in the web parts; names of visits and keys come from ``secrets``."""
    used = {
        alias.name for _, tree in _modules() for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names
    }
    assert "random" not in used
    assert {"secrets", "hmac"} <= used


def test_the_page_of_threats_names_tests_that_exist():
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 20
    for file, test in named:
        source = (ROOT / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in source, f"{file}::{test}"
    for item in range(1, 11):
        assert f"A{item:02d}" in text
