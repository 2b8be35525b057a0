"""Debian's Chromium, which asks nobody for anything."""

from playwright.sync_api import Browser, Playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium(play: Playwright) -> Browser:
    """A browser without a window."""
    return play.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=FLAGS)
