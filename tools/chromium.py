"""Debian's Chromium, without network requests of its own."""

from playwright.sync_api import Browser, Playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium(play: Playwright) -> Browser:
    """Launch a headless browser."""
    return play.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=FLAGS)
