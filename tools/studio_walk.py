"""Walk the five tasks of the studio as a new user would, and take the pictures of the tutorial.

    python tools/studio_walk.py [TASK …]

Each task starts ``celosia studio`` on a folder of its own and uses the pages by clicks alone. Run it when a page looks
different, and look at every picture that it made (docs/assets/studio/walk-*.png).
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from chromium import chromium
from playwright.sync_api import Page, sync_playwright
from studio_pictures import OUT

LONG = 180_000
"""Milliseconds that a full run may take on a slow machine."""


class Walk:
    """A visitor on a studio of their own."""

    def __init__(self, page: Page, link: str, task: str) -> None:
        self.page, self.base, self.task = page, link.split("/?")[0], task
        page.goto(link)

    def to(self, address: str) -> None:
        self.page.goto(self.base + address)
        self.page.locator("main").wait_for()

    def picture(self, name: str, at: str = "", height: int = 760) -> None:
        """Take a picture of the window, or of it scrolled to an element."""
        self.page.set_viewport_size({"width": 1100, "height": height})
        self.page.locator("[aria-busy]").first.wait_for(state="detached", timeout=LONG)
        if at:
            self.page.locator(at).first.evaluate("(it) => scrollTo(0, it.getBoundingClientRect().top + scrollY - 70)")
        self.page.wait_for_timeout(400)
        self.page.screenshot(path=OUT / f"walk-{self.task}-{name}.png")

    def run(self) -> None:
        self.page.locator("#run").click()
        self.page.locator("#job").wait_for()
        self.page.locator("#job").wait_for(state="detached", timeout=LONG)

    def said(self) -> None:
        """Check that the outcome of an action is shown."""
        self.page.locator("#said:not(:empty)").wait_for()

    def verify(self) -> None:
        self.page.locator("form[action='/release/verify'] button").click()
        self.page.locator(".checks").wait_for(state="attached", timeout=LONG)
        if self.page.locator(".box.bad").count():
            raise SystemExit(f"{self.task}: the release does not verify")

    def begin_with(self, file: Path) -> None:
        self.page.locator("#file").set_input_files(file)
        self.page.locator("form[action='/begin/upload'] button").click()
        self.page.wait_for_url("**/data?said=begun")

    def role(self, column: str, role: str) -> None:
        card = self.page.locator("li.column", has=self.page.get_by_role("heading", name=column, exact=True))
        card.locator(f"button.role[value='{role}']").click()
        card.locator(f"button.role[value='{role}'][aria-pressed=true]").wait_for()


def hospital(walk: Walk, _: Path) -> None:
    """Walk: a file of last year's visits for a researcher, in which no patient is unique."""
    walk.picture("1-start")
    walk.page.get_by_role("button", name="Use the demonstration data").click()
    walk.page.wait_for_url("**/data?said=begun")
    walk.picture("2-data", height=900)
    walk.to("/risk")
    walk.picture("3-risk", height=900)
    walk.to("/protect?change=step.0")
    walk.page.locator("#preview h3").wait_for(timeout=LONG)
    walk.page.get_by_role("slider", name="suppress").fill("0.05")
    walk.page.wait_for_timeout(800)
    walk.picture("4-preview", "#list-step", height=900)
    walk.page.get_by_role("button", name="Save").click()
    walk.page.get_by_text("Saved.").wait_for()
    walk.run()
    walk.picture("5-run")
    walk.page.get_by_role("link", name="Look at the release").click()
    walk.verify()
    walk.picture("6-release", height=900)


def statistics(walk: Walk, folder: Path) -> None:
    """Walk: from a household survey to a public-use file: weights, incomes, and a certificate that others can check."""
    rng = np.random.default_rng(3)
    n = 3000
    household = np.sort(rng.integers(1, 1200, n))
    frame = pl.DataFrame(
        {
            "household_id": [f"H{i:05d}" for i in household],
            "region": rng.choice(["Nord", "Sud", "Est", "Oest", "Centre"], n, p=[0.3, 0.25, 0.2, 0.15, 0.1]),
            "age": np.clip(rng.normal(45, 20, n), 0, 95).round().astype(int),
            "sex": rng.choice(["female", "male"], n),
            "education": rng.choice(["primary", "secondary", "university"], n, p=[0.3, 0.5, 0.2]),
            "income": (rng.lognormal(10, 0.5, n) / 10).round() * 10,
            "weight": rng.uniform(20, 90, n).round(1),
        }
    )
    frame.write_csv(folder / "survey.csv")
    walk.begin_with(folder / "survey.csv")
    walk.picture("1-data", height=900)
    walk.to("/protect")
    walk.run()
    walk.to("/release")
    walk.verify()
    walk.picture("2-release", height=900)


def registrar(walk: Walk, folder: Path) -> None:
    """Walk: marks of students from a spreadsheet with names, blanks and codes for missing values."""
    rng = np.random.default_rng(5)
    n = 800
    first, last = ["Anna", "Pau", "Ona", "Jan", "Laia", "Marc"], ["Ferrer", "Puig", "Soler", "Vidal", "Serra"]
    ages = rng.integers(18, 35, n)
    frame = pl.DataFrame(
        {
            "name": [f"{rng.choice(first)} {rng.choice(last)}" for _ in range(n)],
            "age": np.where(rng.random(n) < 0.04, 999, ages),
            "sex": rng.choice(["female", "male", "Female", "male "], n, p=[0.45, 0.45, 0.05, 0.05]),
            "degree": rng.choice(["law", "physics", "history", "medicine"], n),
            "mark": rng.integers(0, 11, n),
        }
    )
    frame.write_csv(folder / "students.csv")
    walk.begin_with(folder / "students.csv")
    walk.picture("1-data", height=900)
    while walk.page.locator("form[action='/data/clean'] button").count():
        before = walk.page.locator("form[action='/data/clean'] button").count()
        walk.page.locator("form[action='/data/clean'] button").first.click()
        walk.page.wait_for_function(
            "left => document.querySelectorAll(\"form[action='/data/clean']\").length < left", arg=before
        )
    walk.role("mark", "sensitive")
    walk.picture("2-cleaned", height=900)
    walk.to("/protect")
    walk.run()
    walk.picture("3-run")
    walk.page.get_by_role("link", name="Look at the release").click()
    walk.verify()
    with walk.page.expect_download() as download:
        walk.page.locator("a[href='/release/file/data']").click()
    released = pl.read_csv(download.value.path())
    if "name" in released.columns or len(released) != n:
        raise SystemExit("registrar: the release is not what was promised")
    walk.picture("4-release", height=900)


POLICY = """\
# my study, run on the cluster every night
[about]
title = "Visits of the region"

[input]
path = "visits.csv"
separator = ";"

[schema]
quasi = ["age", "sex", "region"]
sensitive = ["diagnosis"]

[[require]]
use = "k-anonymity"
k = 10 # as the ethics committee wants

[[step]]
use = "mondrian"

[explore]
seeds = 3

[output]
path = "visits.safe.csv"

[run]
seed = "5f1e0c7a93b24d6e8a107c95e2d4b6f8"
"""


def researcher(walk: Walk, place: Path) -> None:
    """Walk: a hand-written policy, opened, changed, and used on the command line again."""
    walk.picture("1-project", ".way", height=900)
    walk.to("/protect?change=require.0")
    walk.page.locator("#preview h3").wait_for(timeout=LONG)
    walk.page.get_by_role("slider", name="k").fill("15")
    walk.page.wait_for_timeout(1500)
    walk.picture("2-change", "#list-require", height=900)
    walk.page.locator("#entry-form button").last.click()
    walk.page.locator("#said:not(:empty)").wait_for()
    walk.to("/show")
    walk.picture("3-show", height=900)
    command = shlex.split(walk.page.locator("pre code").first.inner_text())
    done = subprocess.run([sys.executable, "-m", *command], cwd=place, capture_output=True, text=True, check=False)
    if done.returncode or not (place / "researcher" / "visits.safe.csv").exists():
        raise SystemExit(f"researcher: the command does not run: {done.stderr}")
    walk.to("/protect")
    walk.run()
    # by the browser, which resolves names below localhost
    released = walk.page.evaluate("() => fetch('/release/file/data').then((answer) => answer.text())").encode()
    if released != (place / "researcher" / "visits.safe.csv").read_bytes():
        raise SystemExit("researcher: the command and the studio give different bytes")


def teacher(walk: Walk, _: Path) -> None:
    """Walk: a step switched off and on again, for a class to see its effect."""
    walk.page.locator("form[action='/begin/demonstration'] button").click()
    walk.page.wait_for_url("**/data?said=begun")
    walk.to("/protect")
    walk.run()
    walk.page.locator("#step-0 form[action='/protect/switch'] button").click()
    walk.page.locator("#step-0.off").wait_for()
    walk.picture("1-switched", "#list-step")
    walk.run()
    walk.picture("2-without", "#run-title")
    walk.page.locator("#step-0 form[action='/protect/switch'] button").click()
    walk.page.locator("#step-0:not(.off)").wait_for()
    walk.run()
    walk.picture("3-again", "#run-title")


TASKS: dict[str, tuple[Callable[[Walk, Path], None], str, str]] = {
    "hospital": (hospital, "en", "light"),
    "statistics": (statistics, "es", "light"),
    "registrar": (registrar, "en", "dark"),
    "researcher": (researcher, "en", "light"),
    "teacher": (teacher, "ca", "dark"),
}


def prepare(task: str, folder: Path) -> Path:
    """Prepare the folder of a task."""
    if task == "researcher":
        rng = np.random.default_rng(9)
        ages = rng.integers(18, 90, 900)
        rows = [
            f"{age};{rng.choice(['F', 'M'])};{rng.choice(['north', 'south', 'coast'])};"
            f"{rng.choice(['asthma', 'influenza', 'fracture'])}"
            for age in ages
        ]
        folder.mkdir()
        (folder / "visits.csv").write_text("age;sex;region;diagnosis\n" + "\n".join(rows) + "\n")
        (folder / "policy.toml").write_text(POLICY)
    return folder


def main(wanted: list[str]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="studies-", dir=Path.home()) as place, sync_playwright() as play:
        browser = chromium(play)
        for task in wanted or TASKS:
            steps, language, theme = TASKS[task]
            folder = prepare(task, Path(place) / task)
            command = [sys.executable, "-m", "celosia", "studio", str(folder), "--port", "0", "--no-browser"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
                try:
                    link = re.search(r"http://\S+", server.stdout.readline()).group()  # type: ignore[union-attr]
                    shape = {"width": 1100, "height": 760}
                    page = browser.new_page(viewport=shape, color_scheme=theme, locale=language)
                    page.set_default_timeout(60_000)
                    steps(Walk(page, link, task), Path(place))
                    print(f"{task}: {steps.__doc__}", flush=True)
                    page.close()
                finally:
                    server.terminate()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
