"""Printing of pages to PDF by an installed browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from celosia.errors import OutputError

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "msedge",
    "chromium-headless-shell",
)
SECONDS = 120
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pdf-header-footer",
)


def find_browser() -> str:
    """Return the first installed browser; files in the working directory are data and are never run."""
    places = [place for place in os.get_exec_path() if os.path.isabs(place)]  # noqa: PTH117
    browser = next((path for name in BROWSERS if (path := shutil.which(name, path=os.pathsep.join(places)))), None)
    if browser is None:
        raise OutputError(f"a PDF is printed by a browser, and none is here: install one of {', '.join(BROWSERS[:3])}.")
    return browser


def print_page(page: Path, target: Path) -> None:
    """Print a page to a file; the browser works in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        flags = [*FLAGS, f"--user-data-dir={folder}", f"--print-to-pdf={target.absolute()}"]
        if os.geteuid() == 0:  # a browser refuses to run as root inside its sandbox
            flags.append("--no-sandbox")
        command = [find_browser(), *flags, page.absolute().as_uri()]
        try:
            subprocess.run(
                command, check=True, stdin=subprocess.DEVNULL, capture_output=True, cwd=folder, timeout=SECONDS
            )
        except (subprocess.SubprocessError, OSError):
            raise OutputError("the browser could not print the report.") from None
    if not target.is_file() or not target.stat().st_size:
        raise OutputError("the browser printed nothing.")
