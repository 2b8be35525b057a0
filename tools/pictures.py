"""Make the pictures of the README and the documentation: python tools/pictures.py [GROUP …].

Each group makes its own: the report of the demonstration, the map of an exploration, the pages of the publisher, those
of the studio, and the walks through the studio. What was made stands in docs/assets/pictures.json with its hash, and
with that of the templates, words and styles that it shows: a picture that a page shows and this command did not make,
or made before one of those changed, fails a test. Drawings (.svg) are their own source. Look at every picture that was
made.
"""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "docs" / "assets"
KEPT = ASSETS / "pictures.json"
SEEN = ROOT / "tests" / "docs" / "seen"
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]


@contextmanager
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    from chromium import chromium
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = chromium(play)
        yield opened
        opened.close()


def _celosia(*words: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "celosia", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _page(place: Path, out: str, last: str, first: str = "main", width: int = 900) -> None:
    """Take a picture of a page from the start of one element to the end of the last of others."""
    with browser() as opened:
        page = opened.new_page(viewport={"width": width, "height": 900})
        page.goto(place.resolve().as_uri())
        begin = max(0, page.locator(first).first.bounding_box()["y"] - 8)
        end = max(box["y"] + box["height"] for box in (each.bounding_box() for each in page.locator(last).all()))
        clip = {"x": 0, "y": begin, "width": width, "height": end + 16 - begin}
        page.screenshot(path=ASSETS / out, full_page=True, clip=clip)


def report(folder: Path) -> None:
    """Take pictures of the report of the demonstration: its first page, and what happened to the first columns."""
    _celosia("demo", folder=folder)
    _page(folder / "demo" / "release.report.html", "report.png", ".facts")
    _page(
        folder / "demo" / "release.internal.html",
        "columns.png",
        "#columns .pictures > div:nth-child(n+3):nth-child(-n+6)",
        "#columns .pictures > div:nth-child(3)",
    )


def risk_map(folder: Path) -> None:
    """Take a picture of the map of risk and utility that the commands of the researcher's tutorial write."""
    from console import run_page

    run_page(ROOT / "docs" / "tutorials" / "researcher.md", folder)
    _page(folder / "map.html", "map.png", "main > p.soft")


def publisher(folder: Path) -> None:
    """Take pictures of an edited inference, and of a request with its preview."""
    import polars as pl
    import uvicorn
    from tests.consent import students

    from celosia.consent.owners.store import Preferences
    from celosia.consent.rules.exchange import load
    from celosia.consent.site.signin import ADMIN, issue
    from celosia.consent.site.web import create

    catalogue = folder / "inferences.toml"
    catalogue.write_text(students.CATALOGUE, "utf-8")
    database = students.fill(f"duckdb:///{folder / 'registry.duckdb'}", 300)
    store = Preferences.create(folder / "choices.db")
    owners = [f"B{i:05d}" for i in range(300)]
    store.add_owners(owners)
    blocks = pl.DataFrame({"owner": owners[:80], "inference": "residence", "block": True})
    store.load(blocks, load(catalogue).ids())
    app = create(load(catalogue), store, path=catalogue, database=database, out=folder / "out")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    site = f"http://127.0.0.1:{port}"
    asked = {
        "requester": "A newspaper",
        "purpose": "Scores of 2015",
        "sql": students.SQL,
        "owner": "student.card",
        "quasi": "province, canton, district",
        "tree": "province, canton, district",
        "identifiers": "name",
        "sensitive": "score",
        "k": "15",
    }
    with browser() as opened:
        page = opened.new_page(viewport={"width": 900, "height": 1100}, locale="en")
        page.goto(f"{site}/in/{issue(store, ADMIN)}")
        page.locator("main button").first.click()
        page.goto(f"{site}/admin/inference/residence")
        page.screenshot(path=ASSETS / "consent-inference.png")
        page.goto(f"{site}/admin/request/new")
        for name, value in asked.items():
            page.locator(f"[name={name}]").fill(value)
        page.locator("button[name=action][value=save]").click()
        page.locator("button[name=action][value=look]").click()
        page.locator("main table").first.wait_for(timeout=120_000)
        page.screenshot(path=ASSETS / "consent-request.png")
    server.should_exit = True


def studio(_: Path) -> None:
    """Take pictures of the pages of the studio."""
    import studio_pictures

    studio_pictures.main([])


def walks(_: Path) -> None:
    """Take pictures of the walks through the studio."""
    import studio_walk

    studio_walk.main([])


def site(folder: Path) -> None:
    """How the documentation looks, for the test that it stays so."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(ROOT / "docs"), str(folder)]
    subprocess.run(command, check=True)
    with browser() as opened:
        for name, picture in site_looks(opened, folder).items():
            (SEEN / f"{name}.png").write_bytes(picture)


def site_looks(opened: Browser, folder: Path) -> dict[str, bytes]:
    """Take pictures of a page of the documentation on a desktop, in the dark, on a phone and printed."""
    taken = {}
    for name, width, theme, medium in (
        ("desktop", 1280, "light", "screen"),
        ("dark", 1280, "dark", "screen"),
        ("phone", 375, "light", "screen"),
        ("print", 794, "light", "print"),
    ):
        page = opened.new_page(color_scheme=theme, viewport={"width": width, "height": 800})
        page.emulate_media(media=medium, color_scheme=theme)
        page.goto((folder / "choose.html").as_uri(), wait_until="load")
        taken[name] = page.screenshot()
        page.close()
    return taken


GROUPS: dict[str, Callable[[Path], None]] = {
    "report": report,
    "map": risk_map,
    "publisher": publisher,
    "studio": studio,
    "walks": walks,
    "site": site,
}


MADE = {
    "report": ("report.png", "columns.png"),
    "map": ("map.png",),
    "publisher": ("consent-*.png",),
    "studio": ("studio/*.png",),
    "walks": ("studio/walk-*.png",),
}
"""The pictures of each group; those of the documentation itself are kept with its test."""
LOOK = ("src/celosia/show/look/tokens.toml",)
REPORT = (*LOOK, "src/celosia/release/report/templates/*.j2", "src/celosia/release/report/words/*en.toml")
DRAWN = ("src/celosia/show/charts.py", "src/celosia/show/formats.py")
STUDIO = (*LOOK, *(f"src/celosia/studio/**/*.{kind}" for kind in ("j2", "css", "js", "toml")))
SOURCES: dict[str, tuple[str, ...]] = {
    "report": (*REPORT, *DRAWN, "src/celosia/release/report/board.py", "src/celosia/demo/prepare.py"),
    "map": (*REPORT, "src/celosia/release/report/ru_map.py", "docs/tutorials/researcher.md"),
    "publisher": (*LOOK, "src/celosia/consent/templates/*", "src/celosia/consent/words/*"),
    "studio": STUDIO,
    "walks": STUDIO,
}
"""Templates, texts and styles that the pictures of a group show. If one changes, the pictures must be made again."""


def sources(group: str) -> str:
    """Return a hash of the files that a group of pictures shows."""
    content = hashlib.sha256()
    for path in sorted({path for glob in SOURCES.get(group, ()) for path in ROOT.glob(glob) if path.is_file()}):
        content.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return content.hexdigest()


def stale() -> list[str]:
    """Return the groups with pictures of files that have changed since."""
    kept = json.loads(KEPT.read_text("utf-8"))
    now = {group: sources(group) for group in SOURCES}
    return sorted({entry["group"] for entry in kept.values() if entry.get("sources") != now[entry["group"]]})


def digest(path: Path) -> str:
    """Return the hash of a picture."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record_pictures(group: str, start: int, drawn_from: str) -> int:
    """Record the pictures that a group has made since ``start``; return their number."""
    own = {path for glob in MADE.get(group, ()) for path in ASSETS.glob(glob)}
    if group == "studio":
        own -= {path for glob in MADE["walks"] for path in ASSETS.glob(glob)}
    made = [path for path in own if path.stat().st_mtime_ns >= start]
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    kept |= {
        path.relative_to(ASSETS).as_posix(): {"group": group, "sha256": digest(path), "sources": drawn_from}
        for path in made
    }
    there = {name: kept[name] for name in sorted(kept) if (ASSETS / name).exists()}
    KEPT.write_text(json.dumps(there, indent=1) + "\n", "utf-8")
    return len(made)


def main(wanted: list[str]) -> None:
    for group in wanted or GROUPS:
        start, drawn_from = time.time_ns(), sources(group)
        with tempfile.TemporaryDirectory() as folder:
            GROUPS[group](Path(folder))
        print(f"{group}: {record_pictures(group, start, drawn_from)} pictures")


if __name__ == "__main__":
    main(sys.argv[1:])
