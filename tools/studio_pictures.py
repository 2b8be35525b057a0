"""Take the pictures of the studio for the docs: python tools/studio_pictures.py [PAGE …].

A studio is started on a folder of its own, each page is brought to a state that shows what it does, and pictured in
English by day and in another language by night; one of them in every language by day and by night. Run it when a page
looks different, and look at what it made.
"""

from __future__ import annotations

import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import uvicorn
from chromium import chromium
from playwright.sync_api import Page, sync_playwright

from celosia.demo import prepare
from celosia.show.look import LANGUAGES
from celosia.studio import toml_edit
from celosia.studio.app import create
from celosia.studio.pages.start.create import add_seed
from celosia.studio.project import Project
from celosia.studio.security import Gate

OUT = Path(__file__).resolve().parents[1] / "docs" / "assets" / "studio"
POLICY = """[input]
path = "patients.csv"

[schema]
quasi = ["age", "sex"]
sensitive = ["disease"]
insensitive = ["stay", "cost"]

[[require]]
use = "q-anonymity"
q = 30
sets = {age = {Young = "(-inf;30;40)", Adult = "(30;40;58;68)", Old = "(58;68;inf)"}}
"""


def project(folder: Path) -> Project:
    """Patients whose costs follow their stay along three lines."""
    rng = np.random.default_rng(7)
    n = 600
    age = np.clip(rng.normal(52, 19, n), 18, 95).round().astype(int)
    stay = rng.uniform(1, 20, n).round(1)
    slope = rng.choice([60, 210, 400], n)
    frame = pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], n),
            "stay": stay,
            "cost": (300 + slope * stay + rng.normal(0, 120, n)).round(),
            "disease": rng.choice(["asthma", "diabetes", "fracture", "influenza"], n),
        }
    )
    folder.mkdir()
    frame.write_csv(folder / "patients.csv")
    (folder / "policy.toml").write_text(POLICY)
    return Project(folder)


def demonstration(folder: Path) -> Project:
    """Prepare the demonstration with 2 000 persons, incomes in ranges and a few candidates to explore."""
    place = prepare(folder, 2000)
    place.write_text(add_seed(place.read_text("utf-8")), "utf-8")
    begun = Project(folder)
    ranges = {"use": "intervals", "breaks": [15000, 25000, 40000, 65000], "count": 2, "fallback": "*"}
    levels = [
        {
            "use": "generalise",
            "vary": {"require": [[f"k-anonymity(k={k})"] for k in (2, 3, 5, 10)], "suppress": [0.0, 0.05]},
        }
    ]
    begun.change(lambda text: toml_edit.set_value(text, ("schema", "hierarchies", "income"), ranges))
    begun.change(
        lambda text: toml_edit.set_value(text, ("explore",), {"candidate": levels, "seeds": 1, "max_risk": 0.01})
    )
    return begun


def hierarchies(page: Page) -> None:
    page.locator(".tabs a", has_text="income").click()
    page.locator("#grip-1").focus()


def risk(page: Page) -> None:
    page.locator("#thresholds").wait_for()
    page.locator("#columns table").first.wait_for(timeout=90_000)


def lattice(page: Page) -> None:
    page.locator("#alternatives").wait_for(timeout=60_000)
    if page.locator("#judge").count():
        page.locator("#judge").click()
        page.locator(".node.unknown").first.wait_for(state="detached")


def compare(page: Page) -> None:
    if not page.locator("#sight").count():
        page.locator("#start").click()
    page.locator("#map svg.ru[data-window]").wait_for(timeout=300_000)
    page.locator("#pictures figure").first.wait_for(timeout=90_000)


def fuzzy(page: Page) -> None:
    page.locator("#handle-1").focus()


def fcrm(page: Page) -> None:
    if page.locator("#board .line").count():
        return
    page.locator("#across").select_option("stay")
    page.locator("#up").select_option("cost")
    page.locator("form[action='/fcrm/columns'] button").click()
    page.locator("#board .dot").first.wait_for()
    page.locator("#run").click()
    page.locator("#trail").wait_for()
    page.locator("#run:not([disabled])").wait_for()


def query(page: Page) -> None:
    if page.locator("#epsilon").count():
        page.locator("[name=epsilon]").fill("2")
        page.locator("[name=low-0]").fill("0")
        page.locator("[name=high-0]").fill("110")
        page.locator("[name=categories-4]").fill("asthma, diabetes, fracture, influenza")
        page.locator("form[action='/query/declare'] button").click()
        page.locator("#question").wait_for()
    page.locator("#sql").fill(
        'SELECT "disease", COUNT(*) AS patients, AVG(age) AS mean_age FROM data GROUP BY "disease"'
    )
    page.locator("#cost").fill("0.5")
    page.locator("#question button:not([formaction]):not([type=button])").click()
    page.locator("#answer").wait_for()


def consent(page: Page) -> None:
    if page.locator("form[action='/consent/begin']").count():
        page.locator("form[action='/consent/begin'] button").click()
    page.locator("form[action='/consent/open'] button").wait_for()


PAGES: dict[str, tuple[Callable[[Page], None], str]] = {
    "hierarchies": (hierarchies, "es"),
    "risk": (risk, "ca"),
    "lattice": (lattice, "es"),
    "compare": (compare, "ca"),
    "fuzzy": (fuzzy, "es"),
    "fcrm": (fcrm, "ca"),
    "query": (query, "es"),
    "consent": (consent, "ca"),
}


EVERY = "risk"
"""The page that is pictured in every language by day and by night."""
DEMONSTRATED = ("hierarchies", "risk", "lattice", "compare")
"""Pages that are pictured with the demonstration."""


def serve(begun: Project) -> Gate:
    """Serve a studio on a free port in a thread."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    gate = create(begun, port)
    server = uvicorn.Server(uvicorn.Config(gate, host="127.0.0.1", port=port, log_level="critical"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return gate


def main(wanted: list[str]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        studios = {
            name: serve(make(Path(place) / name)) for name, make in (("hospital", project), ("register", demonstration))
        }
        browser = chromium(play)
        for name in wanted or PAGES:
            ready, language = PAGES[name]
            gate = studios["register" if name in DEMONSTRATED else "hospital"]
            address = gate.address
            looks = [(code, theme) for code in LANGUAGES for theme in ("light", "dark")]
            for code, theme in looks if name == EVERY else (("en", "light"), (language, "dark")):
                page = browser.new_page(
                    viewport={"width": 1180, "height": 1240 if name == "compare" else 860},
                    color_scheme=theme,
                    locale=code,
                )
                page.goto(gate.link())
                page.wait_for_url(f"{address}/")
                page.goto(f"{address}/{name}")
                ready(page)
                page.evaluate("scrollTo(0, 0)")
                page.wait_for_timeout(300)
                page.screenshot(path=OUT / f"{name}-{code}-{theme}.png")
                if (name, code) == ("compare", "en"):
                    page.set_viewport_size({"width": 1500, "height": 900})
                    page.wait_for_timeout(300)
                    clip = page.locator("section[aria-labelledby=two]").bounding_box()
                    page.screenshot(path=OUT / f"compare-pair-{code}-{theme}.png", full_page=True, clip=clip)
                page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
