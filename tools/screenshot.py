"""Take a picture of a page with Debian's Chromium: python tools/screenshot.py PAGE.html OUT.png [--dark]."""

import argparse
from pathlib import Path

from chromium import chromium
from playwright.sync_api import sync_playwright

parser = argparse.ArgumentParser()
parser.add_argument("page", type=Path)
parser.add_argument("out", type=Path)
parser.add_argument("--dark", action="store_true")
parser.add_argument("--width", type=int, default=900)
parser.add_argument("--height", type=int, default=0, help="cut the picture at this height; the whole page when 0")
given = parser.parse_args()

with sync_playwright() as play:
    browser = chromium(play)
    page = browser.new_page(
        viewport={"width": given.width, "height": given.height or 900}, color_scheme="dark" if given.dark else "light"
    )
    page.goto(given.page.resolve().as_uri())
    page.screenshot(path=given.out, full_page=not given.height)
    browser.close()
