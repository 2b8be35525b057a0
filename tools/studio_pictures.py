"""Take the pictures of the studio's workbench for the docs: python tools/studio_pictures.py [PAGE …].

A studio is started on a folder of its own, each page is brought to a state that shows what it does, and pictured in
English by day and in another language by night. Run it when a page looks different, and look at what it made.
"""

from __future__ import annotations

import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import uvicorn
from playwright.sync_api import Page, sync_playwright

from celosia.studio.app import create
from celosia.studio.project import Project

OUT = Path(__file__).resolve().parents[1] / "docs" / "assets" / "studio"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
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
    "fuzzy": (fuzzy, "es"),
    "fcrm": (fcrm, "ca"),
    "query": (query, "es"),
    "consent": (consent, "ca"),
}


def served(folder: Path) -> tuple[str, Any]:
    """A studio on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    begun = project(folder)
    server = uvicorn.Server(uvicorn.Config(create(begun, port), host="127.0.0.1", port=port, log_level="critical"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return f"http://127.0.0.1:{port}", begun.token()


def main(wanted: list[str]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        address, token = served(Path(place) / "hospital")
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for name in wanted or PAGES:
            ready, language = PAGES[name]
            for code, theme in (("en", "light"), (language, "dark")):
                page = browser.new_page(viewport={"width": 1180, "height": 860}, color_scheme=theme, locale=code)
                page.goto(f"{address}/?token={token}")
                page.goto(f"{address}/{name}")
                ready(page)
                page.evaluate("scrollTo(0, 0)")
                page.wait_for_timeout(300)
                page.screenshot(
                    path=OUT / f"{name}-{code}-{theme}.png", clip={"x": 0, "y": 0, "width": 1180, "height": 860}
                )
                page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
