"""The studio: from its start to the first page, from a slider to the preview, and every page at a million rows.

    python bench/studio.py [persons of the preview] [persons of the pages]

Wall-clock times are those of a request on this machine, CPU times those of the server meanwhile: on a machine that does
other work too, the second say more. With Playwright and a Chromium the slider is also moved in a browser.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from _calibration import calibration

from celosia.demo import prepare

TICKS = os.sysconf("SC_CLK_TCK")
MOVES = 30
PAGES = (
    "/", "/data", "/data/guard", "/hierarchies", "/risk", "/risk/overview", "/risk/columns", "/protect",
    "/lattice/look", "/compare", "/compare/pair", "/release", "/fuzzy", "/fcrm", "/query", "/consent", "/show",
)  # fmt: skip


class Server:
    """A studio as people start it."""

    def __init__(self, folder: Path) -> None:
        begun = time.monotonic()
        command = [sys.executable, "-m", "celosia", "studio", str(folder), "--port", "0", "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        line = ""
        while "http://" not in line:
            line = self.process.stdout.readline()
        self.link = re.findall(r"http://\S+", line)[0]
        self.address = self.link.partition("/?")[0]
        self.client = httpx.Client(base_url=self.address, timeout=600, follow_redirects=True, trust_env=False)
        self.client.get(self.link).raise_for_status()
        self.started = time.monotonic() - begun, self.cpu()

    def cpu(self) -> float:
        """CPU seconds of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def timed(self, address: str, **sent: str) -> tuple[float, float]:
        """Seconds of a request, and CPU seconds of the server meanwhile."""
        before, spent = time.monotonic(), self.cpu()
        if sent:
            answer = self.client.post(address, data=sent, headers={"origin": self.address})
        else:
            answer = self.client.get(address)
        answer.raise_for_status()
        return time.monotonic() - before, self.cpu() - spent


@contextlib.contextmanager
def studio(persons: int) -> Iterator[tuple[Server, int]]:
    """A studio on the demonstration of so many persons, and the records that they have."""
    with tempfile.TemporaryDirectory() as place:
        folder = prepare(Path(place) / "clinic", persons).parent
        with (folder / "original.csv").open("rb") as file:
            rows = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) - 1
        server = Server(folder)
        try:
            yield server, rows
        finally:
            server.process.terminate()
            server.process.wait()


def moved(server: Server, position: int, name: str, values: list[str]) -> list[tuple[float, float]]:
    """What a form asks for while a slider of a requirement or the first step moves."""
    kind = {"list": "require", "use": "k-anonymity"} if name == "k" else {"list": "step", "use": "generalise"}
    return [server.timed("/protect/preview", position=str(position), **kind, **{name: value}) for value in values]


def in_browser(server: Server) -> str:
    """Milliseconds from the move of a slider to the new preview on the screen."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "no Playwright"
    watch = """([slider, value]) => new Promise(done => {
      const input = document.querySelector(slider), begun = performance.now();
      new MutationObserver((_, watcher) => { watcher.disconnect(); done(performance.now() - begun); })
        .observe(document.getElementById("preview"), {childList: true, subtree: true});
      input.value = value; input.dispatchEvent(new Event("input", {bubbles: true}));
    })"""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(server.link)
        page.goto(f"{server.address}/protect?change=step.0")
        page.locator("#preview h3").wait_for(timeout=120_000)
        slider = 'input[data-slides="f-suppress"]'
        times = [page.evaluate(watch, [slider, f"{0.02 + i / 100:g}"]) for i in range(1, MOVES + 1)]
        browser.close()
    return f"median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms"


def main() -> None:
    some, many = (int(given) for given in (*sys.argv[1:], *("54600", "546000")[len(sys.argv) - 1 :]))
    print(f"calibration job: {calibration():.3f} s CPU; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with studio(some) as (server, rows):
        wall, cpu = server.started
        print(f"start to the first page, {rows} records: {wall:.2f} s, {cpu:.2f} s CPU")
        wall, cpu = server.timed("/protect/preview", list="step", position="0", use="generalise", suppress="0.01")
        print(f"first preview (reads the data, compiles what is not kept): {wall:.2f} s, {cpu:.2f} s CPU")
        for name, values in (
            ("suppress", [f"{0.02 + i / 100:g}" for i in range(MOVES)]),
            ("k", [str(3 + i) for i in range(MOVES)]),
        ):
            times = moved(server, 0, name, values)
            walls, cpus = ([1000 * each[i] for each in times] for i in (0, 1))
            print(
                f"slider {name} to the preview, {rows} records: median {statistics.median(walls):.0f} ms, "
                f"longest {max(walls):.0f} ms; CPU median {statistics.median(cpus):.0f} ms"
            )
        print(f"slider in Chromium: {in_browser(server)}")
    with studio(many) as (server, rows):
        print(f"pages at {rows} records: first time, then again")
        for address in PAGES:
            (first, cpu), (again, more) = server.timed(address), server.timed(address)
            print(f"{address:16} {first:6.2f} s ({cpu:6.2f} s CPU), {again:6.2f} s ({more:5.2f} s CPU)")


if __name__ == "__main__":
    main()
